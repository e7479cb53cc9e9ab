"""SCIM 2.0 (RFC 7644) below /scim/v2/{provider}/."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from portal.core import rate_windows
from portal.web.transfers import account_body_to
from workspaces.identity.scim import store
from workspaces.identity.scim.filters import equals, parse, values_at
from workspaces.identity.scim.patch import patched
from workspaces.identity.scim.schemas import (
    CONFIG,
    LIST,
    MOST_RESULTS,
    SCHEMAS,
    TYPES,
    ScimError,
    cleaned,
)
from workspaces.identity.scim.tokens import provider_by_token
from workspaces.models import Provider, ScimRecord
from workspaces.protocols import SCIM
from workspaces.tenancy.scope import org_scope, platform_scope

COUNT = 100
_COLUMNS = {
    "User": {"username": "name", "externalid": "external_id", "id": "id"},
    "Group": {"displayname": "name", "externalid": "external_id", "id": "id"},
}
View = Callable[..., HttpResponse]


def scim_endpoint(*methods: str) -> Callable[[View], View]:
    """Wrap an endpoint: bearer authentication, protocol errors, a rate limit per provider."""

    def wrap(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def inside(request: HttpRequest, provider: str, **kwargs: Any) -> HttpResponse:
            try:
                row = _provider(request, provider)
                if request.method not in methods:
                    raise ScimError(405, f"Method {request.method} isn't allowed here.")
                with (
                    org_scope(row.org_id)
                    if row.org_id
                    else platform_scope("SCIM of the whole installation")
                ):
                    return view(request, row, **kwargs)
            except ScimError as error:
                answer = _response(error.as_dict(), error.status)
                if error.status == 401:
                    answer.headers["WWW-Authenticate"] = 'Bearer realm="scim"'
                return answer

        return inside

    return wrap


@scim_endpoint("GET")
def config(request: HttpRequest, provider: Provider) -> HttpResponse:
    """Return the service provider configuration."""
    return _response(
        CONFIG
        | {
            "meta": {
                "resourceType": "ServiceProviderConfig",
                "location": f"{_base(provider)}/ServiceProviderConfig",
            }
        }
    )


@scim_endpoint("GET")
def schemas(request: HttpRequest, provider: Provider, urn: str = "") -> HttpResponse:
    """List the schemas, or return one."""
    return _discovery(request, provider, "Schema", SCHEMAS, urn)


@scim_endpoint("GET")
def types(request: HttpRequest, provider: Provider, name: str = "") -> HttpResponse:
    """List the resource types, or return one."""
    return _discovery(request, provider, "ResourceType", TYPES, name)


@scim_endpoint("GET", "POST")
def collection(request: HttpRequest, provider: Provider, kind: str) -> HttpResponse:
    """List the resources of a type (GET), or create one (POST)."""
    if request.method == "POST":
        row = store.create(provider, kind, _body(request))
        return _resource(request, provider, row, status=201)
    return _response(_page(request.GET, provider, kind))


@scim_endpoint("POST")
def search(request: HttpRequest, provider: Provider, kind: str) -> HttpResponse:
    """List resources by a query in the body, for filters too long or too private for a URL."""
    body = _body(request)
    if not isinstance(body, dict):
        raise ScimError(400, "The body must be an object.", "invalidSyntax")
    query = {
        str(name): ",".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in body.items()
        if value is not None
    }
    return _response(_page(query, provider, kind))


@scim_endpoint("GET", "PUT", "PATCH", "DELETE")
def item(request: HttpRequest, provider: Provider, kind: str, record: str) -> HttpResponse:
    """Return, replace, patch or delete a resource."""
    record_id = _uuid(record, kind)
    if request.method != "GET":
        return _write(request, provider, kind, record_id)
    row = store.record_of(provider, kind, record_id)
    if request.headers.get("If-None-Match", "").strip() in (
        f'W/"{row.version}"',
        f'"{row.version}"',
    ):
        return HttpResponse(status=304, headers={"ETag": f'W/"{row.version}"'})
    return _resource(request, provider, row)


@transaction.atomic
def _write(request: HttpRequest, provider: Provider, kind: str, record_id: UUID) -> HttpResponse:
    """Read, check the version and write, while no other request writes to the provider."""
    store.lock_provider(provider)
    row = store.record_of(provider, kind, record_id)
    _check_version(request, row)
    if request.method == "DELETE":
        store.remove(row)
        return HttpResponse(status=204)
    data = (
        cleaned(kind, _body(request))
        if request.method == "PUT"
        else patched(kind, row.data, _body(request))
    )
    return _resource(request, provider, store.change(row, data))


@scim_endpoint("GET", "POST", "PUT", "PATCH", "DELETE")
def unsupported(request: HttpRequest, provider: Provider, rest: str = "") -> HttpResponse:
    """Answer 501 for /Me, /Bulk and a search across resource types, and 404 for the rest."""
    raise ScimError(
        501 if rest.partition("/")[0] in ("Me", "Bulk", ".search") else 404,
        "This address doesn't exist.",
    )


def _page(query: Mapping[str, str], provider: Provider, kind: str) -> dict[str, Any]:
    start = min(max(_number(query, "startIndex", 1), 1), 1 + store.MOST_RECORDS)
    count = min(max(_number(query, "count", COUNT), 0), MOST_RESULTS)
    rows, given = (
        store.records(provider, kind).select_related("provider").order_by("name", "id"),
        query.get("filter", ""),
    )
    order = query.get("sortBy", "")
    if (simple := equals(given)) and (column := _COLUMNS[kind].get(simple[0])) and not order:
        rows, given = _by_column(rows, column, simple[1]), ""
    if not given and not order:
        total, page = rows.count(), list(rows[start - 1 : start - 1 + count])
        serialized = store.serialized(page, _base(provider))
    else:
        found = _filtered(
            store.serialized(list(rows), _base(provider)),
            given,
            order,
            is_down=query.get("sortOrder", "") == "descending",
        )
        total, serialized = len(found), found[start - 1 : start - 1 + count]
    return {
        "schemas": [LIST],
        "totalResults": total,
        "startIndex": start,
        "itemsPerPage": len(serialized),
        "Resources": [_project(query, each) for each in serialized],
    }


def _by_column(rows: Any, column: str, value: str) -> Any:
    if column == "id":
        return rows.filter(id=value) if store.is_uuid(value) else rows.none()
    return rows.filter(**{column: value.lower() if column == "name" else value})


def _filtered(
    found: list[dict[str, Any]], text: str, order: str, *, is_down: bool
) -> list[dict[str, Any]]:
    fits = parse(text) if text else None
    kept = [each for each in found if fits is None or fits(each)]
    return (
        sorted(
            kept, key=lambda each: str((values_at(each, order) or [""])[0]).lower(), reverse=is_down
        )
        if order
        else kept
    )


def _project(query: Mapping[str, str], resource: dict[str, Any]) -> dict[str, Any]:
    """Apply `attributes` and `excludedAttributes`, with sub-attributes such as `name.familyName`.

    id and schemas are always returned.
    """
    wanted, without = (_names(query.get(name, "")) for name in ("attributes", "excludedAttributes"))
    found = {}
    for name, value in resource.items():
        own = "id" if name in ("id", "schemas") else name.lower()
        parts, gone = wanted.get(own, set()), without.get(own, set())
        if own == "id" or ((not wanted or own in wanted) and "" not in gone):
            found[name] = (
                value if own == "id" else _parts(value, parts if "" not in parts else set(), gone)
            )
    return found


def _names(text: str) -> dict[str, set[str]]:
    """Map attribute names in lower case to the sub-attributes named; "" stands for all of them."""
    found: dict[str, set[str]] = {}
    for path in (
        part.strip().rpartition(":")[2].lower() for part in text.split(",") if part.strip()
    ):
        found.setdefault(path.partition(".")[0], set()).add(path.partition(".")[2])
    return found


def _parts(value: Any, wanted: set[str], gone: set[str]) -> Any:
    if isinstance(value, list):
        return [_parts(each, wanted, gone) for each in value]
    if not isinstance(value, dict) or not (wanted or gone):
        return value
    return {
        name: part
        for name, part in value.items()
        if (not wanted or name.lower() in wanted) and name.lower() not in gone
    }


def _discovery(
    request: HttpRequest, provider: Provider, kind: str, known: dict[str, dict[str, Any]], name: str
) -> HttpResponse:
    if "filter" in request.GET:
        raise ScimError(403, "Filters aren't supported here (RFC 7644, 4).")
    found = {
        key: value
        | {"meta": {"resourceType": kind, "location": f"{_base(provider)}/{kind}s/{key}"}}
        for key, value in known.items()
    }
    if not name:
        return _response(
            {
                "schemas": [LIST],
                "totalResults": len(found),
                "startIndex": 1,
                "itemsPerPage": len(found),
                "Resources": list(found.values()),
            }
        )
    if name not in found:
        raise ScimError(404, f"{kind} {name[:100]!r} doesn't exist.")
    return _response(found[name])


def _resource(
    request: HttpRequest, provider: Provider, row: ScimRecord, status: int = 200
) -> HttpResponse:
    body = store.serialized([row], _base(provider))[0]
    answer = _response(_project(request.GET, body), status)
    answer.headers["ETag"], answer.headers["Location"] = (
        body["meta"]["version"],
        body["meta"]["location"],
    )
    return answer


def _check_version(request: HttpRequest, row: ScimRecord) -> None:
    given = request.headers.get("If-Match", "").strip()
    if given and given != "*" and f'"{row.version}"' not in given:
        raise ScimError(412, f"The resource has changed: it is now at version {row.version}.")


def _provider(request: HttpRequest, slug: str) -> Provider:
    kind, _, raw = request.headers.get("Authorization", "").partition(" ")
    row = provider_by_token(slug, raw.strip()) if kind.lower() == "bearer" else None
    if row is None:
        raise ScimError(
            401, "Send this provider's SCIM token in the header Authorization: Bearer …"
        )
    used, _ = rate_windows.take(f"scim:{row.id}", settings.MUSTER_API_RATE)
    if used > settings.MUSTER_API_RATE:
        raise ScimError(429, "Too many requests. Try again in a minute.")
    account_body_to(request, lambda: f"scim:{row.id}")
    return row


def _body(request: HttpRequest) -> Any:
    if len(request.body) > SCIM.max_body:
        raise ScimError(413, "The body is too large.")
    try:
        return orjson.loads(request.body)
    except ValueError:
        raise ScimError(400, "The body isn't valid JSON.", "invalidSyntax") from None


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    try:
        return int(text) if text else default
    except ValueError:
        raise ScimError(400, f"{name} must be a number.", "invalidValue") from None


def _uuid(text: str, kind: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise ScimError(404, f"{kind} {text[:80]!r} doesn't exist.") from None


def _base(provider: Provider) -> str:
    return f"{settings.MUSTER_BASE_URL}/scim/v2/{provider.slug}"


def _response(body: dict[str, Any], status: int = 200) -> HttpResponse:
    return HttpResponse(orjson.dumps(body), status=status, content_type="application/scim+json")
