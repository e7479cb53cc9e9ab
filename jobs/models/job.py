"""Jobs and their dependencies."""

from __future__ import annotations

from django.db import models

from clusters.models import Cluster, Pool
from jobs.kinds.origins import Origin
from portal.core import clock
from portal.core.message_fields import MessageField
from schedulers.states import State
from workspaces.models import Team, User
from workspaces.tenancy.models import TenantModel

PRIORITIES = {"low": -100, "normal": 0, "high": 100, "urgent": 200}


class Job(TenantModel):
    """A submitted JobSpec, written by `jobs.services`.

    The columns below `derived` follow from the attempts; only `jobs.dispatch.job_status` writes
    them.
    """

    number = models.PositiveBigIntegerField()  # counts from 1 in each organization
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.SET_NULL, related_name="+")
    # Reason of the placement, if there was a choice.
    place_why = MessageField(blank=True)
    # `jobs.kinds.workload_kinds`
    kind = models.CharField(max_length=16, default="batch", db_default="batch")
    # What submitted it for its owner (`jobs.kinds.origins`).
    origin_kind = models.CharField(max_length=32, blank=True, default="", db_default="")
    origin_id = models.UUIDField(null=True)
    origin_label = models.CharField(max_length=200, blank=True, default="", db_default="")
    name = models.CharField(max_length=100)
    spec = models.JSONField()
    labels = models.JSONField(default=dict)
    priority = models.SmallIntegerField(default=0)
    # Per task: {"cpu": milli, "memory": bytes, "gpu": n, "gpu.<type>": n}
    resources = models.JSONField(default=dict)
    array_size = models.PositiveIntegerField(null=True)
    max_parallel = models.PositiveIntegerField(null=True)
    is_held = models.BooleanField(default=False)  # held by its owner
    created_at = models.DateTimeField(default=clock.now)
    cancel_asked_at = models.DateTimeField(null=True)
    cancel_asked_by = models.CharField(max_length=254, blank=True)
    cancel_why = MessageField(blank=True, default="", db_default="")
    # Logs of all tasks and retries are deleted from then on.
    log_delete_asked_at = models.DateTimeField(null=True)
    log_delete_asked_by = models.CharField(max_length=254, blank=True, default="", db_default="")
    log_deleted_at = models.DateTimeField(null=True)  # the last log was deleted
    # derived
    state = models.PositiveSmallIntegerField(default=State.QUEUED)
    state_at = models.DateTimeField(default=clock.now)
    reason = models.CharField(max_length=32, blank=True)
    evidence = MessageField(blank=True)
    exit_code = models.IntegerField(null=True)
    node = models.CharField(max_length=253, blank=True)
    nodes = models.JSONField(null=True)
    wait = models.CharField(max_length=32, blank=True)
    attempt_count = models.PositiveIntegerField(default=1)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    # The state that the run of this job shows, written by `experiments.jobs`; 0: no run yet
    run_state = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "number"], name="job_number_once")]
        indexes = [
            models.Index(fields=["org", "state", "-number"], name="job_state"),
            models.Index(fields=["org", "team", "-number"], name="job_team"),
            models.Index(fields=["org", "owner", "-number"], name="job_owner"),
            models.Index(fields=["org", "name", "-number"], name="job_name"),
            models.Index(
                fields=["org", "kind", "-number"],
                name="job_kind",
                condition=~models.Q(kind="batch"),
            ),
            models.Index(
                fields=["org", "origin_kind", "origin_id", "-number"],
                name="job_origin",
                condition=~models.Q(origin_kind=""),
            ),
            models.Index(
                fields=["org", "finished_at"],
                name="job_finished",
                condition=models.Q(finished_at__isnull=False),
            ),
            models.Index(
                fields=["org", "started_at"],
                name="job_started",
                condition=models.Q(started_at__isnull=False),
            ),
            models.Index(
                fields=["log_delete_asked_at"],
                name="job_log_deleting",
                condition=models.Q(log_delete_asked_at__isnull=False, log_deleted_at=None),
            ),
            models.Index(
                fields=["id"],
                name="job_unfollowed",
                condition=~models.Q(run_state=models.F("state")),
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number} {self.name}"

    @property
    def origin(self) -> Origin | None:
        if self.origin_id is None:
            return None
        return Origin(self.origin_kind, self.origin_id, self.origin_label)

    @origin.setter
    def origin(self, origin: Origin | None) -> None:
        if origin is not None:
            self.origin_kind, self.origin_id = origin.kind, origin.id
            self.origin_label = origin.label[:200]


class Dependency(TenantModel):
    """`job` waits for `needs` to end with `condition`. Written once, at submission."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    needs = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    condition = models.CharField(max_length=8, default="ok")  # "ok", "any" or "failed"

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["job", "needs"], name="dependency_once")]

    def __str__(self) -> str:
        return f"{self.job_id} after {self.needs_id}"
