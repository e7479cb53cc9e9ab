"""What an image could not do."""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job
from portal.core import clock
from workspaces.tenancy.models import TenantModel


class ImageEnd(TenantModel):
    """A job of this very image ended on this kind of GPU because it has no machine code for it. Written by `schedulers.images.failures`;
    the organization's own, since what one tenant's program prints must not warn another."""

    digest = models.CharField(
        max_length=140
    )  # of the index or the manifest, as the runtime or the registry told it
    gpu = models.CharField(max_length=80)  # its model: "NVIDIA H200"
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(default=clock.now)  # the last time

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "digest", "gpu"], name="image_end_once")
        ]

    def __str__(self) -> str:
        return f"{self.digest[:19]} on {self.gpu}"
