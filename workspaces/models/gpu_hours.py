"""How long GPUs were used, month by month."""

from __future__ import annotations

from django.db import models

from workspaces.models.quota import Quota
from workspaces.tenancy.models import TenantModel


class GpuMonth(TenantModel):
    """What ended attempts of a subject (as of a `Quota`) used in one calendar month, UTC: GPUs of all nodes × the time that they ran, in
    GPU-milliseconds. Written by `workspaces.quotas.limits.gpu_hour_counting` alone, in the transaction in which an attempt ends."""

    scope = models.CharField(max_length=8, choices=Quota.Scope.choices)
    subject_id = models.UUIDField()
    month = models.DateField()  # its first day
    used = models.BigIntegerField(default=0)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["org", "scope", "subject_id", "month"], name="gpu_month_once"
            ),
            models.CheckConstraint(condition=models.Q(used__gte=0), name="gpu_month_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.month} {self.used}"
