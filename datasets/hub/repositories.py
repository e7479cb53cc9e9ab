"""Who am I; create, list, change and delete repositories."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from datasets import services
from datasets.access import check_may_write
from datasets.hub.represent import details, summary
from datasets.hub.requests import (
    KINDS,
    TYPES,
    actor_of,
    address_of,
    answer_json,
    check_honoured,
    hub_view,
    json_of,
    repository_of,
    text_in,
    version_of,
)
from datasets.models import Visibility
from datasets.selectors import find_repository, visible_repositories
from portal.core import yaml_documents
from portal.core.errors import Conflict, InvalidInput
from portal.core.messages import Message
from portal.core.yaml_documents import BadYaml
from workspaces.api.base import team_in
from workspaces.models import Organization
from workspaces.tenancy.http import enter

PAGE = 100
_ORDERS = {"createdAt": "-created_at", "lastModified": "-updated_at"}  # by others, all are equal
# `filter` and others would need the metadata of all cards.
_SEARCH = (
    *("author", "search", "limit", "skip", "sort", "direction"),
    *("full", "cardData", "config", "fetch_config", "expand", "expand[]"),
)


@hub_view("GET")
def whoami(request: HttpRequest) -> HttpResponse:
    """Say whose token it is. The namespace of a token is its organization."""
    actor = actor_of(request)
    org = _org_of_token(request)
    team = actor.token.name if actor.token else ""
    return answer_json(
        {
            "type": "user",
            "id": str(actor.user_id).replace("-", "")[:24],
            "name": org.slug,
            "fullname": actor.name or actor.email,
            "email": actor.email,
            "emailVerified": True,
            "isPro": False,
            "canPay": False,
            "orgs": [
                {"type": "org", "name": org.slug, "fullname": org.name, "isEnterprise": False}
            ],
            "auth": {
                "type": "access_token",
                "accessToken": {"displayName": team, "role": "write"},
            },
        }
    )


@hub_view("POST")
def create(request: HttpRequest) -> HttpResponse:
    """Create a repository in the team of the token, else as in the REST API."""
    data = json_of(request)
    _check_type(data)
    check_honoured(
        data, "name", "organization", "type", "private", "visibility", "gated", "lfsmultipartthresh"
    )
    visibility = _visibility(data) or Visibility.TEAM
    slug = text_in(data, "organization") or _org_of_token(request).slug
    enter(request, slug)
    kind = _kind(text_in(data, "type", "model"))
    try:
        row = services.create_repository(
            actor=actor_of(request),
            team=team_in(request, None),
            kind=kind,
            name=text_in(data, "name"),
            visibility=visibility,
        )
    except Conflict as error:
        if error.kind != "already_exists":
            raise
        known = visible_repositories(actor_of(request), kind).filter(
            name__iexact=text_in(data, "name")
        )
        if not known.exists():
            raise
        url = address_of(request, known.get())
        return answer_json({"error": error.message, "url": url}, status=409)
    return answer_json({"url": address_of(request, row), "name": f"{slug}/{row.name}"})


@hub_view("DELETE")
def delete(request: HttpRequest) -> HttpResponse:
    """Move a repository to the trash."""
    data = json_of(request)
    check_honoured(data, "name", "organization", "type")
    enter(request, text_in(data, "organization") or _org_of_token(request).slug)
    kind = _kind(text_in(data, "type", "model"))
    row = find_repository(actor_of(request), kind, text_in(data, "name"))
    services.delete_repository(actor=actor_of(request), repository=row)
    return answer_json({})


@hub_view("POST")
def move(request: HttpRequest) -> HttpResponse:
    """Rename a repository within its organization."""
    data = json_of(request)
    check_honoured(data, "fromRepo", "toRepo", "type")
    from_org, _slash, old = text_in(data, "fromRepo").rpartition("/")
    to_org, _slash, new = text_in(data, "toRepo").rpartition("/")
    if from_org != to_org:
        raise InvalidInput(Message("A repository can't move to another organization."))
    enter(request, from_org or _org_of_token(request).slug)
    row = find_repository(actor_of(request), _kind(text_in(data, "type", "model")), old)
    services.update_repository(actor=actor_of(request), repository=row, name=new)
    return answer_json({})


@hub_view("PUT")
def settings(request: HttpRequest, plural: str, name: str) -> HttpResponse:
    """Change who sees a repository: public is the organization, private the owner."""
    data = json_of(request)
    row = repository_of(request, plural, name)
    check_honoured(data, "private", "visibility")
    visibility = _visibility(data)
    if visibility is not None:
        row = services.update_repository(
            actor=actor_of(request), repository=row, visibility=visibility
        )
    elif "gated" not in data:
        raise InvalidInput(Message("Send private or visibility."))
    return answer_json({"private": row.visibility != Visibility.ORGANIZATION, "gated": False})


@hub_view("GET")
def search(request: HttpRequest, plural: str) -> HttpResponse:
    """List repositories of the organization of the token, or of `author`."""
    check_honoured(request.GET.dict(), *_SEARCH)
    slug = request.GET.get("author") or _org_of_token(request).slug
    enter(request, slug)
    rows = visible_repositories(actor_of(request), KINDS[plural]).select_related("org")
    if text := request.GET.get("search", "").rpartition("/")[2]:
        rows = rows.filter(name__icontains=text)
    limit, start = _number(request, "limit", PAGE), _number(request, "skip", 0)
    by = _ORDERS.get(request.GET.get("sort", ""), "-updated_at")
    if request.GET.get("direction") == "1":
        by = by.removeprefix("-")
    page = list(rows.order_by(by, "id")[start : start + min(limit, PAGE) + 1])
    headers = {}
    if len(page) > PAGE:
        query = urlencode({**request.GET.dict(), "skip": start + PAGE})
        url = request.build_absolute_uri(f"{request.path}?{query}")
        headers["Link"] = f'<{url}>; rel="next"'
    return answer_json([summary(row) for row in page[: min(limit, PAGE)]], headers=headers)


@hub_view("GET", "HEAD")
def info(request: HttpRequest, plural: str, name: str, revision: str = "") -> HttpResponse:
    """Return a repository with its files at a revision."""
    row = repository_of(request, plural, name)
    version = version_of(row, revision)
    return answer_json(
        details(row, version, with_blobs=request.GET.get("blobs", "").lower() in {"true", "1"})
    )


@hub_view("GET")
def auth_check(
    request: HttpRequest, plural: str, name: str, write: str | None = None
) -> HttpResponse:
    """Say that the token may read a repository, or also write."""
    row = repository_of(request, plural, name)
    if write:
        check_may_write(actor_of(request), row)
    return answer_json({})


@hub_view("POST")
def validate_yaml(request: HttpRequest) -> HttpResponse:
    """Check the metadata of a card."""
    text = text_in(json_of(request), "content")
    try:
        parts = text.split("---", 2)
        if text.startswith("---") and len(parts) == 3:
            yaml_documents.load(parts[1])
    except BadYaml as error:
        return answer_json({"errors": [{"message": str(error)}], "warnings": []}, status=400)
    return answer_json({"errors": [], "warnings": []})


def _visibility(data: dict[str, Any]) -> str | None:
    """Return who is to see a repository, None if a request doesn't say. Raises InvalidInput."""
    wanted = text_in(data, "visibility")
    is_private = data.get("private")
    if is_private not in {None, True, False}:
        raise InvalidInput.at("private", Message("must be true or false"))
    if wanted not in {"", "private", "public"}:
        raise InvalidInput.at("visibility", Message("must be private or public"))
    if not wanted and is_private is None:
        return None
    return Visibility.PRIVATE if wanted == "private" or is_private else Visibility.ORGANIZATION


def _number(request: HttpRequest, name: str, default: int) -> int:
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else default


def _check_type(data: dict[str, Any]) -> None:
    """Raise InvalidInput for another type, before its own fields are refused."""
    _kind(text_in(data, "type", "model"))


def _kind(text: str) -> str:
    for kind, name in TYPES.items():
        if name == text:
            return kind
    raise InvalidInput(Message("The type must be dataset or model."))


def _org_of_token(request: HttpRequest) -> Organization:
    token = actor_of(request).token
    assert token is not None
    return Organization.objects.get(id=token.org_id)
