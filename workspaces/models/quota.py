"""How much of a resource class an organization, a team or a person may hold at once."""

from __future__ import annotations

from django.db import models

from workspaces.tenancy.models import TenantModel


class Quota(TenantModel):
    """One meter: what is held of a resource by a subject, and the limit if there is one. `subject_id` is the organization's,
    team's or user's id. `used` and `promised` change only through `workspaces.quotas.limits.reservations`, on locked rows. `guaranteed` is kept free
    in the organization's limit; `promised` (of the organization's meters) is how much of that is not used now.
    Units: cpu in thousandths of a core, memory in bytes, gpu.* and jobs in pieces. Of storage, bytes of
    closed logs are held (`jobs.storage`). Of gpu-hours
    (limit in GPU-milliseconds) only the limit stands here: what was used of a month is in `GpuMonth`."""

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
