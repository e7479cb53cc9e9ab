"""How long GPUs were used, month by month."""

from __future__ import annotations

from django.db import models

from workspaces.models.quota import Quota
from workspaces.tenancy.models import TenantModel


class GpuMonth(TenantModel):
    """GPU time that ended attempts of a subject (as in `Quota`) used in a calendar month, UTC.

    GPUs of all nodes × runtime, in GPU-milliseconds. Written only by
    `workspaces.quotas.gpu_hour_counting`, in the transaction in which an attempt ends.
    """

    scope = models.CharField(max_length=8, choices=Quota.Scope.choices)
    subject_id = models.UUIDField()
    month = models.DateField()  # first day of the month
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
