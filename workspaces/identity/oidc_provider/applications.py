"""Manage the applications that sign people in through the portal, such as Grafana or Harbor.

They are allauth's `Client` rows, written only here, by operators.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from allauth.idp.oidc.models import Client, Token
from django.db import transaction
from django.db.models import QuerySet

from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.credentials.token_format import new_secret
from workspaces.models import Consent
from workspaces.organizations.services import clean_name

SCOPES = ("openid", "profile", "email", "groups")
COMMAND_LINE = "muster-cli"  # built in, and not editable
MOST_ADDRESSES = 20
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}[a-z0-9]")


@dataclass(frozen=True)
class NewApplication:
    """An application with its secret, which is shown once."""

    row: Client
    secret: str


def applications(actor: Actor) -> QuerySet[Client]:
    """Return all applications. Raises NotPermitted."""
    authorize(actor, Permission.APPLICATIONS_READ)
    return Client.objects.exclude(id=COMMAND_LINE)  # type: ignore[no-any-return]


def find_application(actor: Actor, client_id: str) -> Client:
    """Return an application. Raises NotPermitted, NotFound."""
    authorize(actor, Permission.APPLICATIONS_READ)
    return _row(client_id)


@transaction.atomic
def create_application(
    *, actor: Actor, client_id: str, name: str, addresses: Sequence[str], needs_pkce: bool = True
) -> NewApplication:
    """Register an application and return its secret.

    `addresses` are the exact redirect URIs. `needs_pkce` requires PKCE for authorization codes.
    Raises NotPermitted, InvalidInput, Conflict.
    """
    authorize(actor, Permission.APPLICATIONS_WRITE)
    if not _ID.fullmatch(client_id):
        raise InvalidInput.at("client_id", Message("must be 2 to 64 of a-z, 0-9, '.', '_' and '-'"))
    if client_id == COMMAND_LINE or Client.objects.filter(id=client_id).exists():
        raise Conflict.at(
            "client_id",
            Message("An application {client_id} already exists.", client_id=repr(client_id)),
            code="name_taken",
        )
    row, secret = (
        Client(id=client_id, name=clean_name(name or client_id)),
        new_secret().replace("mst_", "mca_"),
    )
    row.set_redirect_uris(_addresses(addresses))
    row.set_scopes(list(SCOPES))
    row.set_default_scopes(["openid"])
    row.set_grant_types(
        [Client.GrantType.AUTHORIZATION_CODE.value, Client.GrantType.REFRESH_TOKEN.value]
    )
    row.data = {"needs_pkce": needs_pkce}
    row.set_secret(secret)
    row.save(force_insert=True)
    _record("created", row, actor, after=_snapshot(row))
    return NewApplication(row, secret)


@transaction.atomic
def change_application(
    *,
    actor: Actor,
    client_id: str,
    name: str | None = None,
    addresses: Sequence[str] | None = None,
    needs_pkce: bool | None = None,
) -> Client:
    """Change the given fields of an application. Raises NotPermitted, InvalidInput, NotFound."""
    authorize(actor, Permission.APPLICATIONS_WRITE)
    row = _row(client_id)
    before = _snapshot(row)
    row.name = row.name if name is None else clean_name(name)
    if addresses is not None:
        row.set_redirect_uris(_addresses(addresses))
    if needs_pkce is not None:
        row.data = {**(row.data or {}), "needs_pkce": needs_pkce}
    row.save(update_fields=["name", "redirect_uris", "data"])
    after = _snapshot(row)
    if before != after:
        _record("changed", row, actor, before=before, after=after)
    return row


@transaction.atomic
def renew_secret(*, actor: Actor, client_id: str) -> NewApplication:
    """Replace the secret; the previous one is revoked at once. Raises NotPermitted, NotFound."""
    authorize(actor, Permission.APPLICATIONS_WRITE)
    row, secret = _row(client_id), new_secret().replace("mst_", "mca_")
    row.set_secret(secret)
    row.save(update_fields=["secret"])
    _record("secret_renewed", row, actor)
    return NewApplication(row, secret)


@transaction.atomic
def remove_application(*, actor: Actor, client_id: str) -> None:
    """Remove an application with its tokens and consents. Raises NotPermitted, NotFound."""
    authorize(actor, Permission.APPLICATIONS_WRITE)
    row = _row(client_id)
    _record("removed", row, actor, before=_snapshot(row))
    Token.objects.filter(client=row).delete()
    row.delete()


def application_row(row: Client) -> dict[str, Any]:
    """Return an application as the API and the page show it."""
    return {
        "client_id": row.id,
        "name": row.name,
        "addresses": row.get_redirect_uris(),
        "needs_pkce": _needs_pkce(row),
        "created_at": row.created_at,
        "people": Consent.objects.filter(client=row).count(),
    }


def _row(client_id: str) -> Client:
    """Return an editable application. Raises NotFound."""
    found = Client.objects.exclude(id=COMMAND_LINE).filter(id=client_id).first()
    if found is None:
        raise NotFound(Message("Application {x} doesn't exist.", x=repr(client_id[:40])))
    return found  # type: ignore[no-any-return]


def _snapshot(row: Client) -> dict[str, Any]:
    return {"name": row.name, "addresses": row.get_redirect_uris(), "needs_pkce": _needs_pkce(row)}


def _needs_pkce(row: Client) -> bool:
    return bool((row.data or {}).get("needs_pkce"))


def _addresses(given: Sequence[str]) -> list[str]:
    found = sorted({address.strip() for address in given if address.strip()})
    if not 0 < len(found) <= MOST_ADDRESSES:
        raise InvalidInput.at("addresses", f"must be 1 to {MOST_ADDRESSES} redirect URIs")
    for address in found:
        _check(address)
    return found


def _check(address: str) -> None:
    """Check a redirect URI: https, or http on the local machine for programs without a server."""
    try:
        parts = urlsplit(address)
        is_here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
        is_good = (
            (parts.scheme == "https" or is_here) and bool(parts.hostname) and (parts.port or 1)
        )
    except ValueError:
        is_good = False
    if (
        not is_good
        or parts.username
        or parts.fragment
        or "*" in address
        or not address.isprintable()
        or " " in address
        or len(address) > 500
    ):
        raise InvalidInput.at(
            "addresses",
            f"{address[:80]!r} isn't a valid redirect URI; use the form "
            "https://grafana.example.com/login/generic_oauth",
        )


def _record(verb: str, row: Client, actor: Actor, **data: Any) -> None:
    record(
        EventRecord(
            f"application.{verb}",
            None,
            "application",
            None,
            actor.email,
            {"client_id": row.id, **data},
        )
    )
