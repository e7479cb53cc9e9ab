"""One try of one task of a job."""

from __future__ import annotations

from uuid import UUID

from django.db import models
from django.db.models import Q

from clusters.models import Cluster
from jobs.models.job import Job
from portal.core import clock
from schedulers.states import State
from workspaces.tenancy.models import TenantModel


class Attempt(TenantModel):
    """One try on one cluster. State, reason and times are written by `jobs.dispatch.claims.lifecycle` alone, by compare-and-set on `state`;
    the lease by `jobs.dispatch.claims`; `confirmed_at` and `missing_since` by the watcher; `log_bytes` by `jobs.storage`."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    index = models.PositiveIntegerField(default=0)  # task of an array; 0 otherwise
    ordinal = models.PositiveSmallIntegerField(default=1)
    is_current = models.BooleanField(default=True)  # the latest of its (job, index)
    priority = models.SmallIntegerField(default=0)
    state = models.PositiveSmallIntegerField(default=State.QUEUED)
    state_at = models.DateTimeField(default=clock.now)
    queued_at = models.DateTimeField(default=clock.now)
    due_at = models.DateTimeField(
        null=True, default=clock.now
    )  # not before; null: held, or waiting for another job
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    is_held = models.BooleanField(default=False)  # resources are held for it now
    placement = models.JSONField(
        null=True
    )  # {"node", "cpus", "memory", "gpus": [index], "uuids": [...]}
    lease = models.UUIDField(null=True)  # whoever hands it to the backend now
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(
        default=0
    )  # hand-overs that the cluster could not take
    native_id = models.CharField(
        max_length=253, blank=True
    )  # Kubernetes: namespace, name and uid are up to 153
    node = models.CharField(max_length=253, blank=True)
    nodes = models.JSONField(null=True)  # names of all, `node` first, where there are several
    confirmed_at = models.DateTimeField(
        null=True
    )  # seen again long enough after it came that its cluster cannot forget it
    missing_since = models.DateTimeField(null=True)
    stop_sent_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=32, blank=True)
    evidence = models.TextField(blank=True)
    exit_code = models.IntegerField(null=True)
    signal = models.SmallIntegerField(null=True)
    peak_memory = models.BigIntegerField(null=True)
    wait = models.CharField(max_length=32, blank=True)
    wait_facts = models.JSONField(default=dict)  # the numbers behind `wait`
    wait_since = models.DateTimeField(null=True)
    is_log_sealed = models.BooleanField(default=False)
    log_bytes = models.BigIntegerField(
        null=True
    )  # of its closed log, as storage counts them; null: not counted yet; 0 once deleted
    is_forgotten = models.BooleanField(default=False)  # the backend has freed what it held

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
                fields=["id"],
                name="attempt_uncounted",
                condition=Q(is_log_sealed=True, log_bytes=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job_id}[{self.index}] try {self.ordinal}"

    @property
    def key(self) -> str:
        """The native name, by which a backend finds it again."""
        return key_of(self.id)


def key_of(attempt_id: UUID) -> str:
    """The native name of an attempt."""
    return f"muster-{attempt_id.hex}"


class PendingSpell(TenantModel):
    """One stretch of time for which an attempt waited for one reason: the history bar. Written by `jobs.dispatch.claims`."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="spells")
    wait = models.CharField(max_length=32)
    facts = models.JSONField(default=dict)
    since = models.DateTimeField(default=clock.now)
    until = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        indexes = [models.Index(fields=["attempt", "since"], name="spell_attempt")]

    def __str__(self) -> str:
        return f"{self.wait} {self.since}"
