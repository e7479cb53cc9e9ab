"""GPU utilization, derived from series. Written only by `jobs.utilization.recording`."""

from __future__ import annotations

from django.db import models

from clusters.models import Node
from jobs.models.attempt import Attempt
from jobs.models.job import Job
from workspaces.models import Team
from workspaces.tenancy.models import TenantModel


class GpuTime(TenantModel):
    """GPU time of a team in a period of five minutes, in GPU-milliseconds.

    `measured` is the part of `allocated` for which utilization is known; `used` is the utilization
    multiplied by that.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    start = models.DateTimeField()
    allocated = models.BigIntegerField()
    measured = models.BigIntegerField()
    used = models.BigIntegerField()

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "start", "team"], name="gpu_time_once")
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.start}"


class GpuCapacity(models.Model):
    """Number of GPUs of all clusters in a period; its row marks the period as recorded."""

    start = models.DateTimeField(primary_key=True)
    gpus = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.start} {self.gpus}"


class AttemptUtilization(TenantModel):
    """GPU utilization of a running attempt; deleted some time after it has ended.

    `recorded_until` (Unix ms) is the end of the last period in `recent` and in the `idle_since` of
    `gpus`, so that recording the same period again changes nothing.
    """

    attempt = models.OneToOneField(Attempt, on_delete=models.CASCADE, related_name="+")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField()
    utilization = models.FloatField(null=True)  # 0 to 1, mean of the last five minutes
    # Label -> {"utilization": mean of the last five minutes, "idle_since": Unix ms or null}
    gpus = models.JSONField(default=dict)
    recent = models.JSONField(default=list)  # mean of each period, null if unknown; oldest first
    recorded_until = models.BigIntegerField()
    # Earliest of the GPUs that have been idle for long; null: none.
    idle_since = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        indexes = [
            models.Index(
                fields=["org", "idle_since"],
                name="attempt_idle",
                condition=models.Q(idle_since__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.attempt_id} {self.utilization}"


class NodeUtilization(models.Model):
    """GPU utilization of a node: mean of the last five minutes by the index of the GPU."""

    node = models.OneToOneField(Node, on_delete=models.CASCADE, related_name="+", primary_key=True)
    at = models.DateTimeField()
    gpus = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.node_id} {self.at}"
