"""Channels of people and teams: create, change, test, delete, and deliver again."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from notifications.channels.posting import checked_url
from notifications.kinds import BY_NAME
from notifications.models import Channel, Delivery
from notifications.recipients import visible
from portal.core import clock, vault
from portal.core.errors import Conflict, InputErrors, InvalidInput, NotFound, NotPermitted
from portal.core.events import EventRecord, changes, record
from portal.core.ids import uuid7
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team
from workspaces.organizations.invitation_links import one_line
from workspaces.tenancy.scope import platform_scope

PURPOSE = "notification channels"
MOST = 20  # channels of a person or a team
DEFAULT_KINDS = ("job_failed", "idle_gpus", "pool_ending", "budget")
LOG = 50
_NO_CHANNEL = Message("There is no such channel that you may see.")


@transaction.atomic
def create_channel(
    *,
    actor: Actor,
    org: Organization,
    kind: str,
    url: str,
    name: str = "",
    team: Team | None = None,
    kinds: Collection[str] | None = None,
) -> tuple[Channel, str]:
    """Create a channel of one's own, or of a team; return it and the key that signs its requests.

    The key is shown once; Slack and Teams have none. Raises InvalidInput, NotPermitted, Conflict.
    """
    _check_may_write(actor, team)
    if kind not in Channel.Kind.values:
        names = ", ".join(Channel.Kind.values)
        raise InvalidInput.at(
            "kind", Message("must be one of {names}", context="error of a field", names=names)
        )
    errors = InputErrors()
    with errors:
        address, host = checked_url(url)
    with errors:
        name = _name(name) if name else ""
    with errors:
        kinds = _kinds(DEFAULT_KINDS if kinds is None else kinds, team)
    errors.raise_all()
    mine = Channel.objects.filter(team=team) if team else Channel.objects.filter(user=actor.user_id)
    if mine.count() >= MOST:
        raise Conflict(Message("There are {n} channels already. Delete one first.", n=MOST))
    secret = f"mhk_{secrets.token_urlsafe(32)}" if kind == Channel.Kind.WEBHOOK else ""
    row = Channel.objects.create(
        org=org,
        user_id=None if team else actor.user_id,
        team=team,
        lead_id=actor.user_id if team else None,
        kind=kind,
        name=name or _name(host),
        url=vault.encrypt(address.encode(), PURPOSE),
        host=host,
        secret=vault.encrypt(secret.encode(), PURPOSE) if secret else b"",
        kinds=kinds,
        created_by=actor.email,
    )
    _record("created", row, actor, {"after": _facts(row)})
    return row, secret


@transaction.atomic
def change_channel(
    *,
    actor: Actor,
    channel: Channel,
    name: str | None = None,
    url: str | None = None,
    kinds: Collection[str] | None = None,
    is_enabled: bool | None = None,
) -> Channel:
    """Change a channel; what is omitted stays. Enabling it sends what waits. Raises InvalidInput."""
    _check_may_write(actor, channel.team)
    rows = Channel.objects.select_for_update(of=("self",)).select_related("team", "org")
    found = rows.filter(id=channel.id).first()  # the sender writes to it as well
    if found is None:
        raise NotFound(_NO_CHANNEL)
    channel = found
    before, errors = _facts(channel), InputErrors()
    with errors:
        channel.name = channel.name if name is None else _name(name)
    with errors:
        if url:
            address, channel.host = checked_url(url)
            channel.url = vault.encrypt(address.encode(), PURPOSE)
    with errors:
        channel.kinds = channel.kinds if kinds is None else _kinds(kinds, channel.team)
    errors.raise_all()
    if is_enabled is not None:
        channel.disabled_at = None if is_enabled else channel.disabled_at or clock.now()
    if is_enabled or url:
        channel.failures, channel.failing_since, channel.trouble = 0, None, Message("")
        channel.next_at = clock.now()
        channel.lead_id = actor.user_id if channel.team_id else None
    channel.save()
    _record("changed", channel, actor, changes(before, _facts(channel)))
    return channel


@transaction.atomic
def delete_channel(*, actor: Actor, channel: Channel) -> None:
    """Delete a channel with its log."""
    _check_may_write(actor, channel.team)
    _record("deleted", channel, actor, {"before": _facts(channel)})
    channel.delete()


@transaction.atomic
def send_test(*, actor: Actor, channel: Channel) -> Delivery:
    """Queue a message that says it is a test; it is sent at once, also to a disabled channel."""
    _check_may_write(actor, channel.team)
    row = Delivery.objects.create(
        org_id=channel.org_id,
        channel=channel,
        event_id=uuid7(),
        kind="test",
        title=Message("A test from Muster"),
        body=Message("{email} sent it to check this channel.", email=actor.email),
        path=f"/{channel.org.slug}/notification-channels/{channel.id}",
    )
    _record("tested", channel, actor, {})
    return row


@transaction.atomic
def redeliver(*, actor: Actor, channel: Channel, delivery_id: UUID) -> Delivery:
    """Send a message of the log again, under its own id. Raises NotFound, Conflict."""
    _check_may_write(actor, channel.team)
    row = Delivery.objects.select_for_update().filter(id=delivery_id, channel=channel).first()
    if row is None:
        raise NotFound(Message("There is no such delivery."))
    if row.state == Delivery.State.WAITING:
        raise Conflict(Message("This message is still to be sent."))
    row.state, row.due_at, row.tries, row.created_at = (
        Delivery.State.WAITING,
        clock.now(),
        0,
        clock.now(),
    )
    row.save(update_fields=["state", "due_at", "tries", "created_at"])
    Channel.objects.filter(id=channel.id).update(next_at=clock.now())
    _record("redelivered", channel, actor, {"delivery": str(row.id)})
    return row


def visible_channels(actor: Actor) -> QuerySet[Channel]:
    """Return one's own channels in the organization, and those of teams that one leads."""
    teams = actor.teams_where(Permission.JOBS_ADMIN)
    of_teams = Q(team__isnull=False) if teams is None else Q(team__in=teams)
    rows = Channel.objects.filter(Q(user_id=actor.user_id) | of_teams)
    return rows.select_related("team", "org").order_by("team__slug", "id")


def find_channel(actor: Actor, pk: UUID) -> Channel:
    """Return a visible channel. Raises NotFound."""
    row = visible_channels(actor).filter(id=pk).first()
    if row is None:
        raise NotFound(_NO_CHANNEL)
    return row


@platform_scope("what a person may see is decided in each of their organizations")
def deliveries_of(actor: Actor, channel: Channel) -> list[Delivery]:
    """Return the log of a channel, newest first; of one's own, what one may still see."""
    rows = Delivery.objects.filter(channel=channel)
    if channel.user_id:
        rows = rows.filter(visible(actor))
    return list(rows.order_by("-id")[:LOG])


def channel_row(row: Channel) -> dict[str, Any]:
    """Return a channel as the API does, without its address and key."""
    return {
        "id": row.id,
        "kind": row.kind,
        "name": row.name,
        "host": row.host,
        "team": row.team.slug if row.team else None,
        "kinds": row.kinds,
        "is_enabled": row.disabled_at is None,
        "failing_since": row.failing_since,
        "trouble": row.trouble,
        "delivered_at": row.delivered_at,
        "created_at": row.created_at,
        "created_by": row.created_by,
    }


def delivery_row(row: Delivery) -> dict[str, Any]:
    """Return an entry of the log as the API does."""
    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "state": row.state,
        "tries": row.tries,
        "status": row.status,
        "trouble": row.trouble,
        "created_at": row.created_at,
        "sent_at": row.sent_at,
        "next_at": row.due_at if row.state == Delivery.State.WAITING else None,
    }


def _check_may_write(actor: Actor, team: Team | None) -> None:
    actor.check_acts_for_oneself()
    if team is not None:
        authorize(actor, Permission.JOBS_ADMIN, team)
    elif actor.is_service or actor.is_job:
        raise NotPermitted(Message("Only people have channels of their own."))


def _name(text: str) -> str:
    text = one_line("".join(c for c in text if c.isprintable()))[:60]
    if not text:
        raise InvalidInput.at("name", Message("is required", context="error of a field"))
    return text


def _kinds(kinds: Collection[str], team: Team | None) -> list[str]:
    for name in kinds:
        kind = BY_NAME.get(name)
        if kind is None or (team is not None and not kind.for_team):
            raise InvalidInput.at("kinds", Message("there is no kind {name}", name=repr(name)[:60]))
    return [name for name in BY_NAME if name in kinds]


def _facts(row: Channel) -> dict[str, Any]:
    return {
        "name": row.name,
        "kind": row.kind,
        "host": row.host,
        "team": row.team.slug if row.team else "",
        "kinds": row.kinds,
        "is_enabled": row.disabled_at is None,
    }


def _record(what: str, row: Channel, actor: Actor, data: dict[str, Any]) -> None:
    record(
        EventRecord(
            f"notification_channel.{what}",
            row.org_id,
            "notification_channel",
            row.id,
            actor.email,
            {"name": row.name, **data},
        )
    )
