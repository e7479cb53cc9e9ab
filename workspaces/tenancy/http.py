"""Authenticate HTTP requests and set the tenant for every protocol.

The actor comes from the session or an access token, the organization from the URL.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from portal.core import events
from portal.core.errors import NotAuthenticated, NotFound, NotPermitted, PortalError
from portal.core.messages import Message
from portal.core.protocols import Authentication, protocol_at
from portal.web.denials import record_denied_request
from portal.web.errors import answer, not_found
from portal.web.transfers import account_body_to
from workspaces.access.actors import ACTS_AS, Actor, actor_in_session
from workspaces.access.impersonation import end_overdue
from workspaces.credentials.authentication import by_token
from workspaces.identity.sessions import cycle_session_key, record_use
from workspaces.models import Organization
from workspaces.tenancy.scope import org_scope, request_scope


class TenancyMiddleware:
    """Set `request.actor`, and `request.org` and the tenant scope for URLs with an `org` part.

    `request.actor` is None for anonymous requests.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with request_scope(), ExitStack() as stack:
            request.tenancy = stack  # type: ignore[attr-defined]
            request.org = request.entry = None  # type: ignore[attr-defined]
            request.is_platform = False  # type: ignore[attr-defined]
            account_body_to(request, lambda: _sender(request))
            try:
                request.actor = actor_from(request)  # type: ignore[attr-defined]
            except PortalError as error:
                return answer(request, error)
            if request.actor is not None:  # type: ignore[attr-defined]
                events.set_credential(request.actor.via)  # type: ignore[attr-defined]
                if request.actor.acted_by is not None:  # type: ignore[attr-defined]
                    events.set_impersonation(request.actor.acted_by.email, request.actor.email)  # type: ignore[attr-defined]
            return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Enter the organization before the view runs.

        Pages of the platform area have none: there, permissions of operators decide. Non-members
        get 404. Anonymous requests are redirected to the sign-in page, or get 401 from
        the API.
        """
        slug, area = kwargs.pop("org", None), kwargs.pop("area", None)
        if slug is None and area is None:
            return None
        is_program = protocol_at(request.path).error_body is not None
        if request.actor is None:  # type: ignore[attr-defined]
            if is_program:
                return answer(
                    request,
                    NotAuthenticated(
                        Message("Sign in, or send an access token: Authorization: Bearer mst_…")
                    ),
                )
            return redirect_to_login(request.get_full_path())
        if slug is None:
            request.is_platform = True  # type: ignore[attr-defined]
            return None
        if slug == "platform" and not is_program:  # an unknown page of the platform area
            return not_found(request)
        try:
            enter(request, slug)
        except PortalError as error:
            if error.kind == "second_factor_required" and not is_program:
                messages.warning(request, error.message)
                return redirect("mfa_index")
            return answer(request, error)
        return None


def enter(request: HttpRequest, slug: str) -> Organization:
    """Enter an organization for the rest of this request. Raises NotFound."""
    entry = request.entry  # type: ignore[attr-defined]
    known = entry.org if entry and entry.org and entry.org.slug == slug else None
    org = known or Organization.objects.filter(slug=slug).first()
    if org is None:
        raise NotFound(
            Message("There is no organization {slug} that you belong to.", slug=repr(slug))
        )
    try:
        request.actor = entry.enter() if known else request.actor.enter(org)  # type: ignore[attr-defined]
    except NotFound as stranger:
        record_denied_request(request, stranger, org.id)
        raise
    request.org = org  # type: ignore[attr-defined]
    request.tenancy.enter_context(org_scope(org.id))  # type: ignore[attr-defined]
    return org


def actor_from(request: HttpRequest) -> Actor | None:
    """Return the actor of a request, from its Authorization header or else from its session.

    Raises NotAuthenticated for an invalid token; it never falls back to the session.
    """
    protocol = protocol_at(request.path_info)
    header = request.headers.get("Authorization", "")
    if header and protocol.authentication is not Authentication.OWN:
        raw = _token_in(header)
        entry = (
            by_token(raw, protocol.org_in(request.path_info), request.META.get("REMOTE_ADDR", ""))
            if raw
            else None
        )
        if entry is None:
            raise NotAuthenticated(
                Message(
                    "This access token is invalid, expired or revoked. Create a new one on the "
                    "Tokens page."
                ),
                code="invalid_token",
            )
        request.entry = entry  # type: ignore[attr-defined]
        return entry.actor
    try:
        person = actor_in_session(request.user, request.session)  # type: ignore[arg-type]
    except NotPermitted:
        end_impersonation(request)
        end_overdue()
        raise
    # The session's owner, even when impersonating
    if person is not None and not record_use(request, request.user.pk):  # type: ignore[arg-type]
        request.user = AnonymousUser()
        return None
    return person


def _sender(request: HttpRequest) -> str:
    """Return to whom a large body counts, when a view reads it."""
    actor = getattr(request, "actor", None)
    return str(actor.user_id) if actor is not None else ""


def end_impersonation(request: HttpRequest) -> None:
    """End an impersonation and rotate the session key, which closes its open connections."""
    if request.session.pop(ACTS_AS, None):
        cycle_session_key(request)


def _token_in(header: str) -> str:
    """Return the token of `Bearer TOKEN`, or of `Basic user:TOKEN` as sent by docker and git."""
    kind, _, rest = header.partition(" ")
    if kind.lower() == "bearer":
        return rest.strip()
    if kind.lower() != "basic":
        return ""
    try:
        return base64.b64decode(rest, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
