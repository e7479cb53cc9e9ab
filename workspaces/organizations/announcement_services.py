"""Publish and withdraw announcements: owners to an organization, operators to everybody."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from portal.core import clock
from portal.core.errors import Conflict, InputErrors, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Announcement, Organization
from workspaces.tenancy.scope import platform_scope

MAX_LENGTH = 300
_GLOBAL = "announcements to everybody belong to no organization"
MAX_DISTANCE = timedelta(days=36_500)
MAX_ANNOUNCEMENTS = 20  # current and scheduled ones, per organization; nobody reads more


@transaction.atomic
def announce(
    *,
    actor: Actor,
    org: Organization | None,
    text: str,
    level: str = Announcement.Level.NOTE,
    begins_at: datetime | None = None,
    ends_at: datetime | None = None,
) -> Announcement:
    """Publish an announcement in an organization, or to everybody.

    Raises InvalidInput, Conflict, NotPermitted.
    """
    _check_may(actor, org)
    begins, errors = begins_at or clock.now(), InputErrors()
    with errors:
        text = _clean(text)
    with errors:
        _check_date("from", begins_at)
    with errors:
        _check_date("until", ends_at)
        if ends_at is not None and ends_at <= max(begins, clock.now()):
            raise InvalidInput.at("until", _("must be in the future, and after the start"))
    with errors:
        if level not in Announcement.Level.values:
            raise InvalidInput.at(
                "level",
                pgettext("error of a field", "must be one of %(levels)s")
                % {"levels": ", ".join(Announcement.Level.values)},
            )
    errors.raise_all()
    if _open(org).count() >= MAX_ANNOUNCEMENTS:
        raise Conflict(
            _("There are %(n)s announcements already: remove one first.") % {"n": MAX_ANNOUNCEMENTS}
        )
    with nullcontext() if org else platform_scope(_GLOBAL):
        row = Announcement.objects.create(
            org=org,
            level=level,
            text=text,
            begins_at=begins,
            ends_at=ends_at,
            made_by=actor.email,
        )
    _record("announcement.made", actor, row, after=_facts(row))
    return row


@transaction.atomic
def withdraw_announcement(*, actor: Actor, org: Organization, pk: UUID) -> None:
    """Withdraw an announcement at once. Raises NotFound, NotPermitted."""
    with platform_scope(_GLOBAL):
        row = (
            Announcement.objects.select_for_update().filter(Q(org=org) | Q(org=None), id=pk).first()
        )
    if row is None:
        raise NotFound(_("There is no such announcement here."))
    _check_may(actor, row.org)
    _record("announcement.withdrawn", actor, row, before=_facts(row))
    with platform_scope(_GLOBAL):
        row.delete()


def _check_may(actor: Actor, org: Organization | None) -> None:
    authorize(actor, Permission.ORG_ADMIN if org else Permission.PLATFORM_ADMIN)


def _check_date(name: str, moment: datetime | None) -> None:
    """Reject dates that PostgreSQL can store but Python cannot read."""
    if moment is not None and abs(moment - clock.now()) > MAX_DISTANCE:
        raise InvalidInput.at(name, _("must be within a hundred years from now"))


def _clean(text: str) -> str:
    text = " ".join(text.split())
    if not text or len(text) > MAX_LENGTH or not text.isprintable():
        raise InvalidInput.at(
            "text",
            _("must be 1 to %(n)s characters long, without control characters") % {"n": MAX_LENGTH},
        )
    return text


def _open(org: Organization | None) -> QuerySet[Announcement]:
    return Announcement.objects.filter(Q(ends_at=None) | Q(ends_at__gt=clock.now()), org=org)


def _facts(row: Announcement) -> dict[str, object]:
    return {
        "text": row.text,
        "level": row.level,
        "from": row.begins_at.isoformat(),
        "until": row.ends_at and row.ends_at.isoformat(),
    }


def _record(kind: str, actor: Actor, row: Announcement, **data: object) -> None:
    record(
        EventRecord(
            kind, row.org_id, "announcement", row.id, actor.email, {"name": row.text[:40], **data}
        )
    )
