"""Notifications of people, their settings, channels, and what is delivered to them.

Written only by the services of this package.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from portal.core import clock
from portal.core.ids import uuid7
from portal.core.message_fields import MessageField
from workspaces.models import Organization, Team, User
from workspaces.tenancy.models import TenantModel


class Cursor(models.Model):
    """How far the consumer has read the events: everything up to `position` is handled."""

    name = models.CharField(max_length=40, primary_key=True)
    position = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.name} {self.position}"


class HandledEvent(models.Model):
    """An event above the cursor that is handled; a later one may commit before an earlier one."""

    position = models.BigIntegerField(primary_key=True)

    def __str__(self) -> str:
        return str(self.position)


class Condition(models.Model):
    """Something that lasts and was reported once, such as a quota near its limit.

    The row is deleted when it is over, so that it is reported again the next time.
    """

    key = models.CharField(max_length=120, primary_key=True)
    since = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return self.key


class Notification(models.Model):
    """A message to one person about one event.

    `permission` (in `team_id`, or in the whole organization) is needed to see it: a person who has
    lost it sees nothing of the object. `org` null: for operators.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    org = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    event_id = models.UUIDField()
    kind = models.CharField(max_length=40)
    permission = models.CharField(max_length=40, blank=True)
    team_id = models.UUIDField(null=True)
    title = MessageField()
    body = MessageField(blank=True)
    path = models.CharField(max_length=300)
    at = models.DateTimeField(default=clock.now)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event_id", "user"], name="notification_once")
        ]
        indexes = [
            models.Index(fields=["user", "-id"], name="notification_user"),
            models.Index(
                fields=["user"], name="notification_unread", condition=Q(read_at__isnull=True)
            ),
            models.Index(fields=["at"], name="notification_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.user_id}"


class Preference(models.Model):
    """How a person wants to be notified; no row means the defaults.

    `kinds` holds what differs from the defaults: {kind: {"in_app": bool, "email": bool}}. Quiet
    hours are minutes of the day in `time_zone`. `language` and `time_zone` follow the browser until
    the person has chosen.
    """

    class Pace(models.TextChoices):
        NOW = "now"
        HOURLY = "hourly"
        DAILY = "daily"

    user = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="+")
    kinds = models.JSONField(default=dict)
    pace = models.CharField(max_length=8, choices=Pace.choices, default=Pace.NOW)
    daily_at = models.PositiveSmallIntegerField(default=8 * 60)  # minutes of the day
    quiet_from = models.PositiveSmallIntegerField(null=True)
    quiet_until = models.PositiveSmallIntegerField(null=True)
    time_zone = models.CharField(max_length=64, blank=True)
    language = models.CharField(max_length=10, blank=True)
    is_chosen = models.BooleanField(default=False)  # time zone and language

    def __str__(self) -> str:
        return f"{self.user_id} {self.pace}"


class Channel(TenantModel):
    """Where a person or a team is notified: a webhook, Slack or Microsoft Teams.

    Exactly one of `user` and `team` is set. The address is a secret, because whoever has that of
    Slack or Teams can post there; `host` is shown instead. `failures` counts since the last success.
    """

    SEALED: ClassVar[dict[str, str]] = {
        "url": "notification channels",
        "secret": "notification channels",
    }  # for `manage.py rotate_secrets`

    class Kind(models.TextChoices):
        WEBHOOK = "webhook"
        SLACK = "slack"
        TEAMS = "teams"

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    # Of a team: who set the address. Nothing is sent once this person no longer leads the team.
    lead = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    kind = models.CharField(max_length=8, choices=Kind.choices)
    name = models.CharField(max_length=60)
    url = models.BinaryField()  # encrypted
    host = models.CharField(max_length=260)
    secret = models.BinaryField(default=bytes)  # encrypted; signs webhooks
    kinds = models.JSONField(default=list)
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    next_at = models.DateTimeField(default=clock.now)
    trouble = MessageField(blank=True)
    disabled_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    created_by = models.CharField(max_length=254)

    class Meta(TenantModel.Meta):
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, team=None) | Q(user=None, team__isnull=False),
                name="channel_of_user_or_team",
            )
        ]
        indexes = [
            models.Index(fields=["user"], name="channel_user"),
            models.Index(fields=["team"], name="channel_team"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.host}"

    @property
    def state(self) -> str:
        """Return its state (`notifications.states`)."""
        return "disabled" if self.disabled_at else "failing" if self.failing_since else "enabled"


class Delivery(models.Model):
    """One message to deliver: to `channel`, or by e-mail to `user` if there is none.

    It is sent at least once; `id` is its idempotency key.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"
        DROPPED = "dropped"  # the person lost access, or turned it off

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    org = models.ForeignKey(Organization, null=True, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    channel = models.ForeignKey(Channel, null=True, on_delete=models.CASCADE, related_name="+")
    event_id = models.UUIDField()
    kind = models.CharField(max_length=40)
    permission = models.CharField(max_length=40, blank=True)
    team_id = models.UUIDField(null=True)
    title = MessageField()
    body = MessageField(blank=True)
    path = models.CharField(max_length=300)
    at = models.DateTimeField(default=clock.now)  # of the event
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    due_at = models.DateTimeField(default=clock.now)
    tries = models.PositiveIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True)  # of the last HTTP response
    trouble = MessageField(blank=True)
    created_at = models.DateTimeField(default=clock.now)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["event_id", "channel"],
                condition=Q(channel__isnull=False),
                name="delivery_channel_once",
            ),
            models.UniqueConstraint(
                fields=["event_id", "user"],
                condition=Q(channel=None),
                name="delivery_mail_once",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], name="delivery_due", condition=Q(state="waiting")),
            models.Index(fields=["channel", "-id"], name="delivery_channel"),
            models.Index(fields=["created_at"], name="delivery_created"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"
