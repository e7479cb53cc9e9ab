"""What became of looking at a directory as a whole."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.models.providers import Provider


class DirectoryRun(models.Model):
    """One sync of a provider, the last fifty of each. A run that changes nothing after one that changed nothing moves that one's
    time on and makes no row. Written by `workspaces.services.syncing`."""

    class Outcome(models.TextChoices):
        RUNNING = "running"
        DRY = "dry"                 # looked, and was not to change anything
        DONE = "done"
        UNCHANGED = "unchanged"
        STOPPED = "stopped"         # it would have taken too much: somebody has to accept it
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    provider = models.ForeignKey(Provider, on_delete=models.CASCADE, related_name="runs")
    started_at = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.RUNNING)
    actor = models.CharField(max_length=254, blank=True)    # an e-mail; empty: by the clock
    message = models.CharField(max_length=500, blank=True)  # why it stopped or failed
    counts = models.JSONField(default=dict)                 # people, groups, and how many of each kind of change
    lines = models.JSONField(default=list)                  # the diff in words, its first 500: [{"kind", "who", "what"}]
    losses = models.JSONField(default=list)                 # ids of the accounts that lose something: what one accepts
    clashes = models.JSONField(default=dict)                # subject → id of the account with that address: what one may link

    class Meta:
        indexes = [models.Index(fields=["provider", "-started_at"], name="directory_run_last")]

    def __str__(self) -> str:
        return f"{self.provider_id} {self.outcome}"
