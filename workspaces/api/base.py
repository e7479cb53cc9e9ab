"""Base of the REST views: actor, permission check, rate limit and idempotency keys."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.api.schema import Page
from portal.core import rate_windows
from portal.core.errors import (
    Conflict,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    PortalError,
    RateLimited,
)
from portal.core.messages import Message
from portal.core.models import RememberedAnswer
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import AppPermission
from workspaces.models import Organization, Team

_REFUSED = frozenset({401, 403, 404})


class PortalView(APIView):
    """Base of views for signed-in actors.

    `permissions` maps each method to the permission it needs in the organization. None leaves the
    check to the service or selector, for checks that depend on a team or row. The permission matrix
    test fails for methods without an entry. A method that returns a shape answers it with 200, and
    its annotation is the OpenAPI schema.
    """

    permissions: ClassVar[Mapping[str, AppPermission | None]] = {}
    # False: requests of operators' tokens are not counted, as those of all agents with one token
    is_limited: ClassVar[bool] = True
    # Of the schema only: `many=True` declares a page
    pagination_class = Page

    @property
    def actor(self) -> Actor:
        actor = getattr(self.request._request, "actor", None)
        if actor is None:
            raise NotAuthenticated("Sign in, or send an access token: Authorization: Bearer mst_…")
        return actor  # type: ignore[no-any-return]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.is_limited or not self.actor.is_operator:
            self._limit = count_request(self.actor)
            if self._limit["remaining"] < 0:
                raise RateLimitedFor(self._limit["reset"])
        needed = self.permissions.get(request.method or "")
        if needed is not None:
            authorize(self.actor, needed)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(response, HttpResponseBase):
            response = Response(response)
        response = super().finalize_response(request, response, *args, **kwargs)
        if limit := getattr(self, "_limit", None):
            response["RateLimit-Limit"] = str(limit["limit"])
            response["RateLimit-Remaining"] = str(max(limit["remaining"], 0))
            response["RateLimit-Reset"] = str(limit["reset"])
        return response


class OrgView(PortalView):
    """Base of views inside the organization in the URL."""

    @property
    def org(self) -> Organization:
        return self.request._request.org  # type: ignore[no-any-return,attr-defined]

    def team(self, slug: object) -> Team:
        """Return a team of this organization by slug.

        Without a slug: the actor's only team, or the one named `default`. Raises InvalidInput,
        NotFound.
        """
        return team_in(self.request._request, slug)


def team_in(request: HttpRequest, slug: object) -> Team:
    """Return a team of the request's organization by slug.

    Without a slug: the team of the token, the actor's only team, or the one named `default`.
    Raises InvalidInput, NotFound.
    """
    actor, org = request.actor, request.org  # type: ignore[attr-defined]
    entry = request.entry  # type: ignore[attr-defined]
    team = entry.teams.get(slug) if entry and isinstance(slug, str) else None
    rows = Team.objects.all()
    if team is None and slug in (None, ""):
        only = actor.token.team_id if actor.token else None
        mine = list(rows.filter(id__in=[only] if only else actor.team_roles)) or list(rows[:2])
        chosen = mine if len(mine) == 1 else [each for each in mine if each.slug == "default"]
        if not chosen:
            raise InvalidInput.at("team", _choose_among(sorted(one.slug for one in mine)))
        team = chosen[0]
    elif team is None and isinstance(slug, str) and slug.isprintable():
        team = rows.filter(slug=slug).first()
    if team is None:
        raise NotFound(f"There is no team {str(slug)[:40]!r} in {org.slug}.")
    team.org = org  # avoids another query
    return team  # type: ignore[no-any-return]


def _choose_among(slugs: Sequence[str]) -> Message:
    if not slugs:
        return Message("is required; you are in none")
    return Message(
        "is required; you are in {teams}. Add --team {first}, or set MUSTER_TEAM.",
        teams=", ".join(slugs),
        first=slugs[0],
    )


class RateLimitedFor(RateLimited):
    """Too many requests; `seconds` until the window ends."""

    def __init__(self, seconds: int):
        super().__init__(
            f"Too many requests. Try again in {seconds} s.", data={"retry_after": seconds}
        )


def idempotent(method: Callable[..., Response]) -> Callable[..., Response]:
    """Replay the stored response for a repeated Idempotency-Key.

    The response is stored in the transaction of the change. A request that arrives while the first
    is running waits for it; failed requests may be retried. Requests that are no longer permitted
    are refused.
    """

    @wraps(method)
    def once(view: PortalView, request: Request, *args: Any, **kwargs: Any) -> Response:
        given = request.headers.get("Idempotency-Key", "")
        if not given:
            return method(view, request, *args, **kwargs)
        if not re.fullmatch(r"[\x21-\x7e]{1,200}", given):
            raise InvalidInput.at("Idempotency-Key", "must be 1 to 200 visible ASCII characters")
        name, body_hash = _fingerprint(view, request, given)
        try:
            with transaction.atomic():
                row = RememberedAnswer.objects.create(key=name, body_hash=body_hash)
                response = method(view, request, *args, **kwargs)
                row.status, row.body = (
                    response.status_code,
                    orjson.loads(orjson.dumps(response.data, default=str)),
                )
                row.save(update_fields=["status", "body"])
                return response
        except IntegrityError:
            known = RememberedAnswer.objects.filter(key=name).first()
            if known is None:
                raise
            _check_allowed(lambda: method(view, request, *args, **kwargs))
            return _replay(known, body_hash)

    return once


def _check_allowed(send: Callable[[], Response]) -> None:
    """Repeat the request and roll it back, to raise what its permission checks raise now.

    Other errors are ignored: they belong to the first request.
    """
    try:
        with transaction.atomic():
            send()
            transaction.set_rollback(True)
    except PortalError as error:
        if error.http in _REFUSED:
            raise
    except APIException as error:
        if error.status_code in _REFUSED:
            raise


def _replay(known: RememberedAnswer, body_hash: str) -> Response:
    if known.body_hash != body_hash:
        raise Conflict(
            "This Idempotency-Key was used for another request. Use a new one for each.",
            code="idempotency_key_reused",
        )
    return Response(known.body, status=known.status, headers={"Idempotent-Replayed": "true"})


def _fingerprint(view: PortalView, request: Request, given: str) -> tuple[str, str]:
    whole = f"{view.actor.user_id}\n{request.method}\n{request.get_full_path()}\n{given}"
    name = hmac.new(settings.SECRET_KEY.encode(), whole.encode(), hashlib.sha256).hexdigest()
    return name, hashlib.sha256(orjson.dumps(request.data, default=str)).hexdigest()


def count_request(actor: Actor) -> dict[str, int]:
    """Count the request in a fixed one-minute window per token or user."""
    limit = settings.MUSTER_API_RATE
    used, reset = rate_windows.take(str(actor.token.id if actor.token else actor.user_id), limit)
    return {"limit": limit, "remaining": limit - used, "reset": reset}
