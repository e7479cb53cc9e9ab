"""What became of looking at a directory as a whole."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.providers import Provider
from workspaces.tenancy.models import TenantModel


class DirectoryRun(models.Model):
    """One sync of a provider, the last fifty of each. A run that changes nothing after one that changed nothing moves that one's
    time on and makes no row. Written by `workspaces.identity.directory_sync`."""

    class Outcome(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DRY = "dry"  # looked, and was not to change anything
        DONE = "done"
        UNCHANGED = "unchanged"
        STOPPED = "stopped"  # it would have taken too much: somebody has to accept it
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="runs")
    started_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.RUNNING)
    is_dry = models.BooleanField(default=False)
    accepted = models.JSONField(default=list)  # ids of the accounts whose loss the actor agreed to
    links = models.JSONField(
        default=dict
    )  # subject → id of the account that it belongs to, by an operator's word
    people_read = models.PositiveIntegerField(
        default=0
    )  # progress: how many the directory has listed so far
    actor = models.CharField(max_length=254, blank=True)  # an e-mail; empty: by the clock
    message = models.CharField(max_length=500, blank=True)  # why it stopped or failed
    counts = models.JSONField(default=dict)  # people, groups, and how many of each kind of change
    lines = models.JSONField(
        default=list
    )  # the diff in words, its first 500: [{"kind", "who", "what"}]
    losses = models.JSONField(
        default=list
    )  # ids of the accounts that lose something: what one accepts
    clashes = models.JSONField(
        default=dict
    )  # subject → id of the account with that address: what one may link

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
    """One press of the test button: options of a provider, stored or not, tried by a background thread. `org` is where it was asked.
    Written by `workspaces.identity.provider_services`; deleted after an hour."""

    SEALED: ClassVar[dict[str, str]] = {"options": "provider"}  # for `manage.py rotate_secrets`

    provider = models.ForeignKey(
        Provider, null=True, on_delete=models.CASCADE, related_name="+"
    )  # null: of options not stored yet
    kind = models.CharField(max_length=8)
    options = models.BinaryField(
        default=bytes, editable=False
    )  # JSON with its secrets, by `portal.core.vault`; empty once it began
    actor = models.CharField(max_length=254)
    started_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)
    is_ok = models.BooleanField(default=False)
    message = models.CharField(max_length=1000, blank=True)
    facts = models.JSONField(default=dict)

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["org", "started_at"], name="provider_test_last")]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.is_ok}"
