"""Images that cannot run on a kind of GPU."""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job
from portal.core import clock
from workspaces.tenancy.models import TenantModel


class ImageEnd(TenantModel):
    """A job with this image failed because the image has no machine code for this GPU.

    Written by `jobs.images.failures`. Tenant-scoped: one tenant's output must not warn another.
    """

    # Of the index or manifest, from the runtime or the registry.
    digest = models.CharField(max_length=140)
    gpu = models.CharField(max_length=80)  # GPU model: "NVIDIA H200"
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(default=clock.now)  # last occurrence

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["org", "digest", "gpu"], name="image_end_once")
        ]

    def __str__(self) -> str:
        return f"{self.digest[:19]} on {self.gpu}"
