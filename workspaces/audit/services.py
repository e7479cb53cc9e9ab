"""Manage the audit log. Every action on it is recorded in it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from portal.core import clock, vault
from portal.core.audit.canonical import NO_ORG
from portal.core.audit.forwarding import PURPOSE, state_of
from portal.core.audit.models import AuditForward, AuditLink, AuditPolicy
from portal.core.audit.retention import LONGEST, SHORTEST
from portal.core.audit.state import chain_state, request_check
from portal.core.audit.targets import parse_target
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

MAX_FORWARDS = 5  # of one chain


def chain_for(actor: Actor, *, of_installation: bool = False) -> UUID:
    """Return the chain of the current organization, or of the installation. Raises NotPermitted."""
    authorize(actor, Permission.AUDIT_PLATFORM if of_installation else Permission.AUDIT_READ)
    if of_installation:
        return NO_ORG
    assert actor.org_id is not None
    return actor.org_id


def scope_of(chain: UUID) -> AbstractContextManager[object]:
    """Return the scope for reading a chain: platform scope for events of no organization."""
    return platform_scope("read the installation's audit log") if chain == NO_ORG else nullcontext()


@transaction.atomic
def request_verification(*, actor: Actor, chain: UUID) -> dict[str, Any]:
    """Request verification of the chain and return its state. Raises NotPermitted."""
    chain_for(actor, of_installation=chain == NO_ORG)
    request_check(chain)
    tell(actor, chain, "audit.verification_asked", {})
    with scope_of(chain):
        return chain_state(chain)


def record_export(*, actor: Actor, chain: UUID, kind: str, asked: Mapping[str, str]) -> None:
    """Record who exported the audit log, and which part."""
    tell(
        actor,
        chain,
        "audit.exported",
        {"format": kind, "filters": {name: text for name, text in asked.items() if text}},
    )


@transaction.atomic
def set_retention(*, actor: Actor, chain: UUID, days: int | None) -> AuditPolicy:
    """Set how many days events are kept; None keeps them forever.

    Older events are deleted within 15 minutes. Raises NotPermitted, InvalidInput.
    """
    check_may_change(actor, chain)
    if days is not None and not SHORTEST <= days <= LONGEST:
        raise InvalidInput.at(
            "keep_days",
            f"must be between {SHORTEST} and {LONGEST:,}, or null to keep events forever",
        )
    row, _ = AuditPolicy.objects.select_for_update().get_or_create(chain=chain)
    before, row.keep_days, row.trouble = row.keep_days, days, ""
    row.save(update_fields=["keep_days", "trouble"])
    tell(
        actor,
        chain,
        "audit.retention_changed",
        {"before": {"keep_days": before}, "after": {"keep_days": days}},
    )
    return row


@dataclass(frozen=True)
class NewForward:
    """The row, and the secret that signs webhooks: shown once, "" for syslog."""

    row: AuditForward
    secret: str


@transaction.atomic
def add_forward(*, actor: Actor, chain: UUID, target: str, from_start: bool = False) -> NewForward:
    """Forward the chain's events from now, or from its beginning.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    check_may_change(actor, chain)
    target = target.strip()
    try:
        at = parse_target(target)
    except ValueError as error:
        raise InvalidInput.at("target", str(error)) from error
    if len(target) > 500 or not target.isprintable() or not target.isascii() or " " in target:
        raise InvalidInput.at("target", "must be at most 500 visible ASCII characters")
    rows = AuditForward.objects.filter(chain=chain)
    if rows.filter(target=target).exists():
        raise Conflict.at("target", Message("Events are already forwarded there."))
    if rows.count() >= MAX_FORWARDS:
        raise Conflict(
            Message(
                "There are {MAX_FORWARDS} targets already; remove one first.",
                MAX_FORWARDS=MAX_FORWARDS,
            )
        )
    secret = "" if at.scheme.startswith("syslog") else f"whsec_{secrets.token_urlsafe(32)}"
    head = (
        0
        if from_start
        else AuditLink.objects.filter(chain=chain)
        .order_by("-seq")
        .values_list("seq", flat=True)
        .first()
        or 0
    )
    row = AuditForward.objects.create(
        chain=chain,
        target=target,
        sent_seq=head,
        created_by=actor.email,
        secret=vault.encrypt(secret.encode(), PURPOSE) if secret else b"",
    )
    tell(
        actor,
        chain,
        "audit.forward_added",
        {"name": redacted(target), "after": {"target": redacted(target), "from": head + 1}},
    )
    return NewForward(row, secret)


@transaction.atomic
def remove_forward(*, actor: Actor, chain: UUID, forward_id: UUID) -> None:
    """Delete a forwarding target. Raises NotPermitted, NotFound."""
    check_may_change(actor, chain)
    row = _forward(chain, forward_id)
    tell(
        actor,
        chain,
        "audit.forward_removed",
        {
            "name": redacted(row.target),
            "before": {"target": redacted(row.target), "sent_seq": row.sent_seq},
        },
    )
    row.delete()


@transaction.atomic
def retry_forward(*, actor: Actor, chain: UUID, forward_id: UUID) -> AuditForward:
    """Retry a forwarding target at once, even one that was given up.

    Raises NotPermitted, NotFound.
    """
    check_may_change(actor, chain)
    row = _forward(chain, forward_id)
    tell(
        actor,
        chain,
        "audit.forward_retried",
        {
            "name": redacted(row.target),
            "before": {"is_dead": row.dead_at is not None, "tries": row.tries},
        },
    )
    row.tries, row.dead_at, row.next_at = 0, None, clock.now()
    row.save(update_fields=["tries", "dead_at", "next_at"])
    return row


def settings_of(chain: UUID) -> dict[str, Any]:
    """Return retention and forwarding targets."""
    policy = AuditPolicy.objects.filter(chain=chain).first()
    rows = AuditForward.objects.filter(chain=chain).order_by("created_at")
    return {
        "keep_days": policy.keep_days if policy else None,
        "trouble": policy.trouble if policy else "",
        "forwards": [state_of(row) | {"target": redacted(row.target)} for row in rows],
    }


def check_may_change(actor: Actor, chain: UUID) -> None:
    """Raise NotPermitted unless the actor may change the settings.

    Owners change those of their organization, operators those of the installation.
    """
    authorize(actor, Permission.AUDIT_PLATFORM if chain == NO_ORG else Permission.ORG_ADMIN)


def redacted(target: str) -> str:
    """Return an address for events and pages, without its query string, which may hold a key."""
    return target.partition("?")[0] + ("?…" if "?" in target else "")


def _forward(chain: UUID, forward_id: UUID) -> AuditForward:
    row = AuditForward.objects.select_for_update().filter(chain=chain, id=forward_id).first()
    if row is None:
        raise NotFound(Message("Events are not forwarded there."))
    return row


def tell(actor: Actor, chain: UUID, kind: str, data: Mapping[str, Any]) -> None:
    """Record an event about the audit log itself."""
    record(EventRecord(kind, None if chain == NO_ORG else chain, "audit", None, actor.email, data))
