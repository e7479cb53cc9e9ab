"""Operators impersonating users, to reproduce what they see.

Requires a reason, lasts at most an hour, and is recorded in the audit log of the user's
organizations.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record_all
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Impersonation, Membership, User
from workspaces.tenancy.scope import platform_scope

MAX_MINUTES = 60  # minutes


@transaction.atomic
def act_as(*, actor: Actor, user_id: UUID, why: str, minutes: int = MAX_MINUTES) -> Impersonation:
    """Start an impersonation. Raises InvalidInput, Conflict, NotFound, NotPermitted."""
    authorize(actor, Permission.PLATFORM_IMPERSONATE)
    if actor.token is not None or actor.acted_by is not None or actor.user_id is None:
        raise Conflict(_("Impersonation requires a browser session."))
    why = " ".join(why.split())
    if not why or len(why) > 200 or not why.isprintable():
        raise InvalidInput.at(
            "why", _("must give a reason of 1 to 200 characters, which the audit log records")
        )
    if not 0 < minutes <= MAX_MINUTES:
        raise InvalidInput.at("minutes", _("must be between 1 and %(n)s") % {"n": MAX_MINUTES})
    person = User.objects.filter(id=user_id, is_service=False).first()
    if person is None:
        raise NotFound(_("There is no such user."))
    if person.is_operator or not person.is_active:
        raise Conflict(_("Operators and suspended users cannot be impersonated."))
    now = clock.now()
    row = Impersonation.objects.create(
        operator_id=actor.user_id,
        person=person,
        why=why,
        began_at=now,
        ends_at=now + timedelta(minutes=minutes),
    )
    _record_event(
        "impersonation.began", actor.email, row, why=why, after={"until": row.ends_at.isoformat()}
    )
    return row


@transaction.atomic
def stop_acting(*, actor: Actor) -> None:
    """Stop the current impersonation. Raises NotFound if there is none."""
    if actor.acted_by is None:
        raise NotFound(_("You're not impersonating anybody."))
    row = Impersonation.objects.select_related("person").get(id=actor.acted_by.id)
    if Impersonation.objects.filter(id=row.id, ended_at=None).update(ended_at=clock.now()):
        _record_event(
            "impersonation.ended",
            actor.acted_by.email,
            row,
            before={"until": row.ends_at.isoformat()},
        )


@transaction.atomic
def end_overdue() -> int:
    """Record impersonations that have expired, once each, and return their number.

    Runs on the operator's next request, or periodically.
    """
    rows = list(
        Impersonation.objects.select_related("person", "operator")
        .filter(ended_at=None, ends_at__lte=clock.now())
        .order_by("ends_at")[:500]
    )
    for row in rows:
        if Impersonation.objects.filter(id=row.id, ended_at=None).update(ended_at=row.ends_at):
            _record_event(
                "impersonation.ended",
                row.operator.email,
                row,
                why="expired",
                before={"until": row.ends_at.isoformat()},
            )
    return len(rows)


def _record_event(kind: str, operator: str, row: Impersonation, **data: Any) -> None:
    """Record an event for the installation and for each organization of the user."""
    with platform_scope("record impersonations in the audit logs of the user's organizations"):
        orgs = list(
            Membership.objects.filter(user_id=row.person_id)
            .order_by("org_id")
            .values_list("org_id", flat=True)
        )
    record_all(
        EventRecord(
            kind, org_id, "user", row.person_id, operator, {"name": row.person.email, **data}
        )
        for org_id in (None, *orgs)
    )
