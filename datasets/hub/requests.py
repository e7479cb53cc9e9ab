"""What all views of the Hub's API share: authentication, repositories, revisions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from datasets.models import Repository, RepositoryKind, Version
from datasets.selectors import (
    find_repository,
    find_version,
    renamed_repository,
    version_or_none,
)
from portal.core.errors import InvalidInput, NotAuthenticated, NotFound, PortalError
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.api.base import RateLimitedFor, count_request

KINDS = {"datasets": RepositoryKind.DATASET, "models": RepositoryKind.CHECKPOINT}
TYPES: dict[str, str] = {RepositoryKind.DATASET: "dataset", RepositoryKind.CHECKPOINT: "model"}
EMPTY = "0" * 40  # the id of what a branch without versions has
_CODES = {
    "no_repository": "RepoNotFound",
    "not_found": "RepoNotFound",  # the organization of an address
    "not_authenticated": "RepoNotFound",  # as the Hub says it to anonymous clients
    "no_version": "RevisionNotFound",
    "empty": "EntryNotFound",
    "no_file": "EntryNotFound",
}
_INVALID_TOKEN = "Invalid credentials in Authorization header"  # noqa: S105 - clients compare it
_INSTEAD = {
    "create_pr": Message(
        "There are no pull requests here. Commit to a separate branch: create_branch, then "
        "revision=NAME"
    ),
    "gated": Message("No access is granted on request here. Share it with a team instead."),
    "resourceGroupId": Message(
        "There are no resource groups here. Use an access token of the team that it belongs to."
    ),
}
_NOTHING: tuple[Any, ...] = (None, False, "", "0", "false", "False", [], {})
View = Callable[..., HttpResponseBase]


def error_headers(error: PortalError) -> Mapping[str, str]:
    """Return the headers by which clients choose an exception."""
    code = _CODES.get(error.kind, "")
    text = _INVALID_TOKEN if error.kind == "invalid_token" else str(error.message)
    text = text.encode("ascii", "replace").decode().replace("\n", " ")
    return {"X-Error-Message": text[:500], **({"X-Error-Code": code} if code else {})}


def error_body(error: PortalError) -> Mapping[str, Any]:
    """Return the body of an error response."""
    return {"error": error.message}


def hub_view(*methods: str) -> Callable[[View], View]:
    """Serve these methods to access tokens only, within their rate limit."""

    def decorate(view: View) -> View:
        @csrf_exempt  # tokens only
        @require_http_methods(list(methods))
        @functools.wraps(view)
        def checked(request: HttpRequest, **parts: str) -> HttpResponseBase:
            if request.entry is None:  # type: ignore[attr-defined]
                raise NotAuthenticated(Message("Send an access token: set HF_TOKEN."))
            limit = count_request(actor_of(request))
            if limit["remaining"] < 0:
                raise RateLimitedFor(limit["reset"])
            try:
                return view(request, **parts)
            except Renamed as renamed:
                return _redirect(request, renamed.row, parts["name"])

        return checked

    return decorate


def actor_of(request: HttpRequest) -> Actor:
    """Return the actor of a request."""
    return request.actor  # type: ignore[attr-defined,no-any-return]


@hub_view("GET", "HEAD", "POST")
def no_repository(request: HttpRequest, name: str) -> HttpResponse:
    """Say that all repositories belong to an organization."""
    raise NotFound(
        Message(
            "There is no repository {name} here. Its name begins with the organization: "
            "organization/name.",
            name=repr(name[:100]),
        ),
        code="no_repository",
    )


@csrf_exempt
def no_route(request: HttpRequest) -> HttpResponse:
    """Say that nothing is at an address; it isn't the repository that is missing."""
    raise NotFound(
        Message(
            "There is no {method} {path} here. This Hub has datasets and models: their files, "
            "commits, branches, tags and settings.",
            method=request.method or "",
            path=request.path[:200],
        ),
        code="no_route",
    )


def repository_of(request: HttpRequest, plural: str, name: str) -> Repository:
    """Return the repository of a URL, also by a name that it had. Raises NotFound, Renamed.

    Clients that read are sent to its name of today.
    """
    kind = KINDS.get(plural)
    if kind is None:
        raise InvalidInput(Message("The type must be dataset or model."))
    try:
        return find_repository(actor_of(request), kind, name)
    except NotFound:
        row = renamed_repository(actor_of(request), kind, name)
        if row is None:
            raise
        if request.method in {"GET", "HEAD"}:
            raise Renamed(row) from None
        return row


class Renamed(Exception):
    """A repository is asked for by a name that it had."""

    def __init__(self, row: Repository):
        self.row = row


def _redirect(request: HttpRequest, row: Repository, old: str) -> HttpResponse:
    """Return a redirect to the same address with the name of today.

    It is relative, because clients take the headers of a file from relative redirects only.
    """
    org = request.org.slug  # type: ignore[attr-defined]
    before, _old, after = request.get_full_path().partition(f"/{org}/{old}")
    return HttpResponse(status=307, headers={"Location": f"{before}/{org}/{row.name}{after}"})


def version_of(repository: Repository, revision: str) -> Version | None:
    """Return a version; None for a branch without any. Raises NotFound."""
    return None if revision == EMPTY else version_or_none(repository, revision)


def split_revision(repository: Repository, rest: str) -> tuple[Version | None, str]:
    """Return the version and the path in `revision/path`; names of branches may contain slashes.

    Raises NotFound.
    """
    parts = rest.split("/")
    for end in range(1, len(parts) + 1):
        try:
            return version_of(repository, "/".join(parts[:end])), "/".join(parts[end:])
        except NotFound:
            continue
    return find_version(repository, parts[0]), ""


def json_of(request: HttpRequest) -> dict[str, Any]:
    """Return the JSON object of a request. Raises InvalidInput."""
    try:
        found = orjson.loads(request.body or b"{}")
    except orjson.JSONDecodeError as error:
        raise InvalidInput(
            Message("The request is not valid JSON: {error}", error=str(error))
        ) from error
    if not isinstance(found, dict):
        raise InvalidInput(Message("The request is not a JSON object."))
    return found


def check_honoured(data: Mapping[str, Any], *known: str) -> None:
    """Check that a request asks for nothing but these fields, as all others would be dropped.

    Raises InvalidInput. What is empty or false asks for nothing.
    """
    for field, value in data.items():
        if field not in known and value not in _NOTHING:
            instead = _INSTEAD.get(field, Message("This is not supported here. Leave it out."))
            raise InvalidInput.at(field[:100], instead)


def text_in(data: Mapping[str, Any], field: str, default: str = "") -> str:
    """Return a text of a JSON object. Raises InvalidInput."""
    value = data.get(field, default)
    if value is None:
        return default
    if not isinstance(value, str):
        raise InvalidInput.at(field, Message("must be a text", context="error of a field"))
    return value


def size_in(data: Mapping[str, Any], field: str = "size") -> int:
    """Return a number of bytes of a JSON object. Raises InvalidInput."""
    value = data.get(field)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise InvalidInput.at(field, Message("must be a number of bytes"))
    return value


def objects_in(data: Mapping[str, Any], field: str, most: int) -> list[dict[str, Any]]:
    """Return a list of objects of a JSON object. Raises InvalidInput."""
    found = data.get(field)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise InvalidInput.at(field, Message("must be a list of objects"))
    if len(found) > most:
        raise InvalidInput.at(
            field, Message("must be at most {n}", context="error of a field", n=most)
        )
    return found


def answer_json(
    data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Return JSON."""
    return HttpResponse(
        orjson.dumps(data), content_type="application/json", status=status, headers=headers
    )


def address_of(request: HttpRequest, row: Repository) -> str:
    """Return the address of a repository; clients 0 can't read one whose endpoint has a path."""
    prefix = "datasets/" if row.kind == RepositoryKind.DATASET else ""
    name = f"{prefix}{request.org.slug}/{row.name}"  # type: ignore[attr-defined]
    is_old = "hf_hub/0." in request.headers.get("User-Agent", "")
    return name if is_old else f"{base_url(request)}/{name}"


def base_url(request: HttpRequest) -> str:
    """Return the address that clients have as HF_ENDPOINT."""
    return request.build_absolute_uri("/hf")
