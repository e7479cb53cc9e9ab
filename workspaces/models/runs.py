"""Results of directory syncs and provider tests."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from portal.core.message_fields import MessageField
from workspaces.models.providers import Provider
from workspaces.tenancy.models import TenantModel


class DirectoryRun(models.Model):
    """One sync of a provider; the last fifty are kept.

    A run without changes after another one without changes updates its time instead of adding a
    row. Written by `workspaces.identity.directory_sync`.
    """

    class Outcome(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DRY = "dry"  # preview only
        DONE = "done"
        UNCHANGED = "unchanged"
        STOPPED = "stopped"  # too many changes: somebody has to accept them
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="runs")
    started_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.RUNNING)
    is_dry = models.BooleanField(default=False)
    accepted = models.JSONField(default=list)  # ids of the accounts whose loss the actor accepted
    # Subject → id of the account to link, confirmed by an operator
    links = models.JSONField(default=dict)
    # progress: users listed so far
    people_read = models.PositiveIntegerField(default=0)
    actor = models.CharField(max_length=254, blank=True)  # an e-mail; empty: periodic
    message = MessageField(blank=True)  # why it stopped or failed
    counts = models.JSONField(default=dict)  # users, groups, and the number of each kind of change
    # Descriptions of the first 500 changes: [{"kind", "who", "what"}]
    lines = models.JSONField(default=list)
    # Ids of the accounts that lose something, which have to be accepted
    losses = models.JSONField(default=list)
    # Subject → id of the account with that address, which may be linked
    clashes = models.JSONField(default=dict)

    class Meta:
        indexes = [models.Index(fields=["provider", "-started_at"], name="directory_run_last")]
        constraints = [
            models.UniqueConstraint(
                fields=["provider"],
                condition=models.Q(outcome__in=["queued", "running"]),
                name="directory_run_one_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.outcome}"


class ProviderTest(TenantModel):
    """A connection test of provider options, stored or not, run by a background thread.

    `org` is where it was started. Written by `workspaces.identity.provider_services`; deleted after
    an hour.
    """

    SEALED: ClassVar[dict[str, str]] = {"options": "provider"}  # for `manage.py rotate_secrets`

    # null: options not stored yet
    provider = models.ForeignKey(Provider, null=True, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8)
    # JSON with its secrets, encrypted by `portal.core.vault`; emptied once the test starts
    options = models.BinaryField(default=bytes, editable=False)
    actor = models.CharField(max_length=254)
    started_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)
    is_ok = models.BooleanField(default=False)
    message = MessageField(blank=True)
    facts = models.JSONField(default=dict)

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["org", "started_at"], name="provider_test_last")]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.is_ok}"
