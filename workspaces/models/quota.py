"""Limits on resources of organizations, teams and users."""

from __future__ import annotations

from django.db import models

from workspaces.tenancy.models import TenantModel


class Quota(TenantModel):
    """A meter: what a subject uses of a resource, and its limit if there is one.

    `subject_id` is the id of the organization, team or user. `used` and `promised` change only
    through `workspaces.quotas.reservations`, on locked rows. `guaranteed` is kept free within the
    organization's limit; `promised` (on meters of the organization) is the unused part of that.

    Units: cpu in thousandths of a core, memory in bytes, gpu.* and jobs as counts. For storage,
    bytes of closed logs (`jobs.data.log_storage`) and of artifacts (`experiments.artifacts`) are counted.
    For gpu-hours only the limit is stored here, in GPU-milliseconds; monthly usage is in
    `GpuMonth`.
    """

    class Scope(models.TextChoices):
        ORG = "org"
        TEAM = "team"
        USER = "user"

    scope = models.CharField(max_length=8, choices=Scope.choices)
    subject_id = models.UUIDField()
    resource = models.CharField(max_length=40)
    limit = models.BigIntegerField(null=True)
    guaranteed = models.BigIntegerField(default=0, db_default=0)
    used = models.BigIntegerField(default=0)
    promised = models.BigIntegerField(default=0, db_default=0)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["org", "scope", "subject_id", "resource"], name="quota_once"
            ),
            models.CheckConstraint(condition=models.Q(used__gte=0), name="quota_used_not_negative"),
            models.CheckConstraint(
                condition=models.Q(guaranteed__gte=0) & models.Q(promised__gte=0),
                name="quota_guarantee_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.resource} {self.used}/{self.limit}"
