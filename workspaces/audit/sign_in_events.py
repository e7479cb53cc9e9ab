"""Record sign-ins, failed sign-ins, sign-outs and password changes.

Recorded in each organization of the user, so that its auditors see them; in none if there is no
such user.
"""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from allauth.account import signals as accounts
from django.contrib.auth import signals
from django.db import transaction

from portal.core import rate_windows
from portal.core.events import EventRecord, record_all
from workspaces.audit.account_events import orgs_of
from workspaces.identity.session_policy import provider_slug_of
from workspaces.models import Provider, User
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
MAX_FAILURES = 600  # per minute, in the whole installation
USUAL, OURS = (
    "allauth.account.auth_backends.AuthenticationBackend",
    "workspaces.identity.auth_backend.PasswordBackend",
)
_KINDS = {
    Provider.Kind.LDAP: "LDAP",
    Provider.Kind.OIDC: "OpenID Connect",
    Provider.Kind.SAML: "SAML",
}
_PASSWORD = {
    accounts.password_changed: "changed",
    accounts.password_reset: "reset",
    accounts.password_set: "set",
}


def listen() -> None:
    """Connect the signal handlers in this process."""
    signals.user_logged_in.connect(_signed_in, dispatch_uid="trail")
    signals.user_logged_out.connect(_signed_out, dispatch_uid="trail")
    signals.user_login_failed.connect(_sign_in_failed, dispatch_uid="trail")
    for signal in _PASSWORD:
        signal.connect(_password_changed, dispatch_uid="trail")


def record_account_event(user: User, kind: str, **data: Any) -> None:
    """Record an event about a user's own account.

    Never raises: accounts must keep working if recording fails.
    """
    _record_event(kind, user.id, user.email, data)


def _signed_in(*, user: Any, request: Any = None, **_: Any) -> None:
    record_account_event(user, "sign_in.succeeded", by=_sign_in_method(user, request))


@platform_scope("find the provider of a sign-in")
def _sign_in_method(user: Any, request: Any) -> str:
    """Return "password" or the provider by allauth's record of this sign-in: "LDAP (corp)"."""
    named = provider_slug_of(request, user) if hasattr(request, "session") else ""
    kind = (
        Provider.objects.filter(slug=named).values_list("kind", flat=True).first()
        if named
        else None
    )
    if kind:
        return f"{_KINDS[Provider.Kind(kind)]} ({named})"
    backend = str(getattr(user, "backend", ""))
    return "password" if backend in (USUAL, OURS) else backend.rpartition(".")[2]


def _signed_out(*, user: Any, **_: Any) -> None:
    if user is not None and user.is_authenticated:
        record_account_event(user, "sign_in.ended")


def _sign_in_failed(*, credentials: dict[str, Any], **_: Any) -> None:
    """Record only the e-mail that was tried, nothing else that was typed."""
    tried = str(
        credentials.get("email") or credentials.get("username") or credentials.get("login") or ""
    )
    tried = "".join(c for c in tried if c.isprintable())[:254].lower()
    if rate_windows.take("sign-ins-failed", MAX_FAILURES)[0] <= MAX_FAILURES:
        known = User.objects.filter(email=tried).values_list("id", flat=True).first()
        _record_event("sign_in.failed", known, tried, {"is_known": known is not None})


def _password_changed(*, signal: Any, user: Any, **_: Any) -> None:
    record_account_event(user, f"password.{_PASSWORD[signal]}")


def _record_event(kind: str, user_id: UUID | None, email: str, data: dict[str, Any]) -> None:
    try:
        with transaction.atomic():
            record_all(
                EventRecord(kind, org_id, "user", user_id, email, data)
                for org_id in orgs_of(user_id)
            )
    except Exception:
        log.exception("could not record %s of %s", kind, email)
