"""Send what is due: mail over one connection, and requests to channels.

A message is marked after it was sent, so a crash in between sends it again, with the same
`Message-ID` or `Idempotency-Key`. A failure delays a message and touches no other way out: mail and
channels are sent by loops of their own, and each channel has a pause of its own.
"""

from __future__ import annotations

import logging
import random
import smtplib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from datetime import timedelta
from typing import Any

import orjson
from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.db import transaction
from django.db.models import Min
from django.utils import translation

from notifications.channels import mail
from notifications.channels.formats import FORMATS, Content
from notifications.channels.posting import Outcome, post
from notifications.kinds import BY_NAME
from notifications.models import Channel, Delivery, Notification, Preference
from notifications.recipients import may_see
from notifications.services.channels import PURPOSE
from notifications.services.preferences import wants
from portal.core import clock, vault
from portal.core.audit.background import RENEW
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.web.translation import translated
from workspaces.access.permissions import Permission
from workspaces.models import Team, User
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
State = Delivery.State
BATCH = 200  # messages per round
IN_ONE_MAIL = 100
CHANNELS = 64  # in one round
AT_ONCE = 8  # requests to different channels
LONGEST_PAUSE = 1800.0  # seconds
GIVE_UP = timedelta(days=3)  # of a message to a channel; mail is never given up
DISABLE = timedelta(days=3)  # after so long without a success
ENOUGH = 10  # failures, at least, before a channel is disabled
KEPT = timedelta(days=90)  # notifications; the log of deliveries


def pause(tries: int) -> timedelta:
    """Return the pause after so many failures: it doubles up to half an hour, with jitter."""
    seconds = min(15.0 * 2 ** min(tries - 1, 12), LONGEST_PAUSE)
    return timedelta(seconds=seconds * random.uniform(0.8, 1.2))


# Mail


@platform_scope("mail of every organization is sent")
def send_mail_due(may_go_on: Callable[[], bool] = lambda: True) -> int:
    """Send the mail that is due, one to each person; return the number of mails sent."""
    rows = (
        Delivery.objects.filter(channel=None, state=State.WAITING, due_at__lte=clock.now())
        .select_related("user", "org")
        .order_by("due_at", "id")[:BATCH]
    )
    by_user: dict[User, list[Delivery]] = defaultdict(list)
    for row in rows:
        assert row.user is not None
        by_user[row.user].append(row)
    if not by_user:
        return 0
    connection, sent = get_connection(), 0
    try:
        connection.open()
    except OSError as error:  # includes SMTP errors
        _put_off([row for some in by_user.values() for row in some], error)
        return 0
    try:
        for user, some in by_user.items():
            if not may_go_on():
                break
            sent += _send_to(user, some, connection)
    finally:
        try:
            connection.close()
        except OSError as error:
            log.info("the mail server closed the connection: %s", error)
    return sent


def _send_to(user: User, rows: Sequence[Delivery], connection: Any) -> int:
    preference = Preference.objects.filter(user=user).first()
    wanted = [
        row
        for row in rows
        if wants(preference, row.kind, "email")
        and may_see(user, row.org_id, row.permission, row.team_id)
    ][:IN_ONE_MAIL]
    kept = {row.id for row in wanted}
    _set(
        [row for row in rows if row.id not in kept and len(wanted) < IN_ONE_MAIL],
        state=State.DROPPED,
    )
    if not wanted:
        return 0
    try:
        made: EmailMultiAlternatives = mail.compose(user, preference, wanted)
        made.connection = connection
        made.send()
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        if all(code >= 500 for code in codes):
            _fail(wanted, Message("The mail server refuses {email}.", email=user.email))
        else:
            _put_off(wanted, error)
        return 0
    except smtplib.SMTPDataError as error:
        if error.smtp_code < 500:
            _put_off(wanted, error)
        elif len(wanted) == 1:
            said = f"{error.smtp_code} {_text(error.smtp_error)}"
            _fail(wanted, Message("The mail server refuses the content: {error}", error=said))
        else:  # one message must not take the others of its mail along
            return sum(_send_to(user, [row], connection) for row in wanted)
        return 0
    # SMTP errors, and an address that no mail can have: those of others go on
    except (OSError, ValueError) as error:
        _put_off(wanted, error)
        return 0
    _set(wanted, state=State.SENT, sent_at=clock.now(), trouble="")
    return 1


def _text(said: bytes | str) -> str:
    return (said.decode("utf-8", "replace") if isinstance(said, bytes) else said)[:200]


def _put_off(rows: Iterable[Delivery], error: Exception) -> None:
    log.warning("could not send mail, trying again later: %s", error)
    why = Message("The mail server: {error}", error=str(error)[:200])
    for row in rows:
        tries = row.tries + 1
        _set([row], tries=tries, due_at=clock.now() + pause(tries), trouble=why)


def _fail(rows: Iterable[Delivery], why: str) -> None:
    for row in rows:
        _set([row], tries=row.tries + 1, state=State.FAILED, trouble=why)


def _set(rows: Iterable[Delivery], **fields: Any) -> None:
    Delivery.objects.filter(id__in=[row.id for row in rows], state=State.WAITING).update(**fields)


# Channels


@platform_scope("messages of every organization are sent to channels")
def send_to_channels(may_go_on: Callable[[], bool] = lambda: True) -> int:
    """Send what is due to channels, one message to each at a time; return the number delivered."""
    delivered = 0
    while may_go_on():
        rows = _next_messages()
        if not rows:
            break
        with ThreadPoolExecutor(AT_ONCE) as pool:
            waiting = {pool.submit(_prepared(row)): row for row in rows}
            while waiting:
                for future in wait(waiting, RENEW, FIRST_COMPLETED).done:
                    outcome = future.result()
                    delivered += outcome.is_delivered
                    _note(waiting.pop(future), outcome)
                may_go_on()  # slow channels take longer than a lease lasts: this renews it
    return delivered


def _next_messages() -> list[Delivery]:
    """Return the message that is due for longest of each channel that has no pause.

    Tests go also to channels that are disabled or have a pause.
    """
    now = clock.now()
    rows = Delivery.objects.filter(channel__isnull=False, state=State.WAITING, due_at__lte=now)
    ready = rows.filter(channel__disabled_at=None, channel__next_at__lte=now) | rows.filter(
        kind="test"
    )
    channels = ready.order_by().values("channel").annotate(first=Min("due_at")).order_by("first")
    full = ready.select_related(
        "channel__user", "channel__team", "channel__lead", "channel__org", "org"
    )
    found = (
        full.filter(channel=channel).order_by("due_at", "id").first()
        for channel in channels.values_list("channel", flat=True)[:CHANNELS]
    )
    return [row for row in found if row and (row.kind == "test" or _has_lead(row.channel))]


def _has_lead(channel: Channel | None) -> bool:
    """Return whether the lead who set the address of a team's channel still leads the team.

    If not, the channel is disabled: what is due waits until another lead enables it.
    """
    if channel is None or channel.team_id is None:
        return True
    lead = channel.lead
    if lead and may_see(lead, channel.org_id, Permission.JOBS_ADMIN, channel.team_id):
        return True
    email = lead.email if lead else channel.created_by
    with transaction.atomic():
        row = Channel.objects.select_for_update().filter(id=channel.id, disabled_at=None).first()
        if row is not None:
            _disable(
                row,
                Message("{email}, who set this address, no longer leads the team.", email=email),
            )
            row.save()
    return False


def _prepared(row: Delivery) -> Callable[[], Outcome]:
    """Return the request to make, without database access."""
    channel = row.channel
    assert channel is not None
    user = channel.user
    if user and row.kind != "test" and not _may_get(user, row):
        return lambda: Outcome(False, None, "")
    try:
        url = vault.decrypt(bytes(channel.url), PURPOSE).decode()
        secret = vault.decrypt(bytes(channel.secret), PURPOSE) if channel.secret else b""
    except vault.Unreadable as error:
        why = str(error)
        return lambda: Outcome(False, None, why)
    body = orjson.dumps(FORMATS[channel.kind](_content(row, channel)))
    return lambda: post(url, body, delivery=str(row.id), kind=row.kind, secret=secret)


def _may_get(user: User, row: Delivery) -> bool:
    return may_see(user, row.org_id, row.permission, row.team_id)


def _content(row: Delivery, channel: Channel) -> Content:
    preference = Preference.objects.filter(user=channel.user).first() if channel.user else None
    team = Team.objects.filter(id=row.team_id).first() if row.team_id else None
    base = settings.MUSTER_BASE_URL
    kind = BY_NAME.get(row.kind)
    with translation.override(mail.language_of(preference)):
        return Content(
            id=str(row.id),
            kind=row.kind,
            kind_title=translated(kind.title) if kind else "",
            at=row.at,
            organization=row.org.name if row.org else "",
            team=team.name if team else "",
            title=translated(row.title),
            body=translated(row.body),
            url=f"{base}{row.path}",
            settings_url=f"{base}/{channel.org.slug}/notification-channels/{channel.id}",
            is_test=row.kind == "test",
        )


def _note(row: Delivery, outcome: Outcome) -> None:
    """Store the outcome of a request in the message and in its channel."""
    assert row.channel_id is not None
    now = clock.now()
    if outcome.is_delivered:
        _set([row], state=State.SENT, sent_at=now, status=outcome.status, trouble="")
        Channel.objects.filter(id=row.channel_id).update(
            failures=0, failing_since=None, trouble="", delivered_at=now
        )
        return
    if not outcome.trouble:
        _set([row], state=State.DROPPED)
        return
    tries = row.tries + 1
    is_over = row.kind == "test" or row.created_at < now - GIVE_UP
    _set(
        [row],
        tries=tries,
        status=outcome.status,
        trouble=outcome.trouble,
        due_at=now + pause(tries),
        state=State.FAILED if is_over else State.WAITING,
    )
    if row.kind != "test":
        _note_failure(row, outcome.trouble)


@transaction.atomic
def _note_failure(row: Delivery, trouble: str) -> None:
    """Give the channel a pause, and disable it after days of failures."""
    channel = Channel.objects.select_for_update().filter(id=row.channel_id).first()
    if channel is None:
        return
    channel.failures += 1
    channel.trouble = trouble
    channel.failing_since = channel.failing_since or clock.now()
    channel.next_at = clock.now() + pause(channel.failures) / 4
    is_dead = (
        channel.disabled_at is None
        and channel.failures >= ENOUGH
        and channel.failing_since < clock.now() - DISABLE
    )
    if is_dead:
        _disable(channel, trouble)
    channel.save()


def _disable(channel: Channel, why: str) -> None:
    channel.disabled_at, channel.trouble = clock.now(), why
    record(
        EventRecord(
            "notification_channel.disabled",
            channel.org_id,
            "notification_channel",
            channel.id,
            "muster",
            {"name": channel.name, "why": str(why)},
        )
    )


@platform_scope("old notifications of every organization are deleted")
def forget() -> None:
    """Delete notifications and the log of deliveries after ninety days."""
    before = clock.now() - KEPT
    Notification.objects.filter(at__lt=before).delete()
    Delivery.objects.filter(created_at__lt=before).exclude(state=State.WAITING).delete()
