"""Attempts: the runs of a job's tasks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Q

from clusters.models import Cluster
from jobs.models.job import Job
from portal.core import clock
from portal.core.message_fields import MessageField, MessageJSONField
from schedulers.states import State
from workspaces.tenancy.models import TenantModel


def placed_on(placement: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the part of a placement on each node, the first one first; none without a placement."""
    return [placement, *placement.get("others", ())] if placement else []


def held_by(resources: dict[str, int], gpu_types: dict[str, int] | None) -> dict[str, int]:
    """Return what an attempt holds on the meters of quotas."""
    return resources | {f"gpu.{kind}": n for kind, n in (gpu_types or {}).items()}


class Attempt(TenantModel):
    """One run of one task on one cluster.

    Only `jobs.dispatch.lifecycle` writes state, reason and times, by compare-and-set on `state`.
    Only `jobs.dispatch.claims` writes the lease, the watcher `confirmed_at` and `missing_since`,
    and `jobs.data.log_storage` `log_bytes`.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    index = models.PositiveIntegerField(default=0)  # array task; else 0
    ordinal = models.PositiveSmallIntegerField(default=1)
    is_current = models.BooleanField(default=True)  # latest of its (job, index)
    priority = models.SmallIntegerField(default=0)
    state = models.PositiveSmallIntegerField(default=State.QUEUED)
    state_at = models.DateTimeField(default=clock.now)
    queued_at = models.DateTimeField(default=clock.now)
    # Earliest start; null: held or waiting for another job.
    due_at = models.DateTimeField(null=True, default=clock.now)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    has_reservation = models.BooleanField(default=False)  # resources are reserved for it
    # {"node", "cpus", "memory", "gpus": [index], "uuids": [...]}; with several nodes "others", too
    placement = models.JSONField(null=True)
    # GPUs by type that count against limits of a type, of a job for any type: {"h100": 8}
    gpu_types = models.JSONField(null=True)
    # Nodes and UUIDs of GPUs that failed under earlier attempts: {"nodes", "gpus"}
    avoid = models.JSONField(null=True)
    lease = models.UUIDField(null=True)  # worker that is handing it over
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)  # failed hand-overs
    # In Kubernetes, namespace, name and uid: up to 153 characters.
    native_id = models.CharField(max_length=253, blank=True)
    node = models.CharField(max_length=253, blank=True)
    nodes = models.JSONField(null=True)  # all nodes if several, `node` first
    # Seen long enough after submission that the scheduler cannot forget it.
    confirmed_at = models.DateTimeField(null=True)
    missing_since = models.DateTimeField(null=True)
    stop_sent_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=32, blank=True)
    evidence = MessageField(blank=True)
    exit_code = models.IntegerField(null=True)
    signal = models.SmallIntegerField(null=True)
    peak_memory = models.BigIntegerField(null=True)
    wait = models.CharField(max_length=32, blank=True)
    wait_facts = MessageJSONField(default=dict)  # numbers of `wait`
    wait_since = models.DateTimeField(null=True)
    is_log_sealed = models.BooleanField(default=False)
    # Of its sealed log, as accounted; null: not yet; 0 once deleted.
    log_bytes = models.BigIntegerField(null=True)
    is_forgotten = models.BooleanField(default=False)  # the backend has deleted its files

    # What the next attempt avoids; not stored. Set by `jobs.dispatch.gpu_errors`
    avoid_next: dict[str, list[str]] | None = None

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["job", "index", "ordinal"], name="attempt_once")
        ]
        indexes = [
            models.Index(
                fields=["cluster", "-priority", "queued_at", "id"],
                name="attempt_due",
                condition=Q(state=State.QUEUED),
            ),
            models.Index(
                fields=["cluster", "state"],
                name="attempt_active",
                condition=Q(state__gt=State.QUEUED, state__lt=State.SUCCEEDED),
            ),
            models.Index(
                fields=["cluster"],
                name="attempt_unforgotten",
                condition=Q(state__gte=State.SUCCEEDED, is_forgotten=False),
            ),
            models.Index(
                fields=["finished_at"],
                name="attempt_finished",
                condition=Q(finished_at__isnull=False),
            ),
            models.Index(
                fields=["id"],
                name="attempt_uncounted",
                condition=Q(is_log_sealed=True, log_bytes=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job_id}[{self.index}] try {self.ordinal}"

    @property
    def resources(self) -> dict[str, int]:
        """Return what it holds on the meters of quotas."""
        return held_by(self.job.resources, self.gpu_types)

    @property
    def key(self) -> str:
        """Return the native name, by which a backend finds the job."""
        return key_of(self.id)


def key_of(attempt_id: UUID) -> str:
    """Return the native name of an attempt."""
    return f"muster-{attempt_id.hex}"


class PendingSpell(TenantModel):
    """A period in which an attempt was pending for one reason, for the history bar.

    Written by `jobs.scheduling.pending_history`.
    """

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="spells")
    wait = models.CharField(max_length=32)
    facts = MessageJSONField(default=dict)
    since = models.DateTimeField(default=clock.now)
    until = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["attempt", "since"], name="spell_attempt")]

    def __str__(self) -> str:
        return f"{self.wait} {self.since}"
