"""Files of runs and of logged models."""

from __future__ import annotations

from django.db import models

from experiments.models.logged_model import LoggedModel
from experiments.models.run import Run
from portal.core import clock
from workspaces.tenancy.models import TenantModel


class Artifact(TenantModel):
    """A file at a path of a run or of a logged model, written by `experiments.artifacts`.

    The bytes are in `portal.blobs.files` under the organization and `sha256`.
    """

    run = models.ForeignKey(Run, null=True, on_delete=models.CASCADE, related_name="+")
    logged_model = models.ForeignKey(
        LoggedModel, null=True, on_delete=models.CASCADE, related_name="+"
    )
    path = models.CharField(max_length=1000)  # relative, with "/", normalized
    size = models.BigIntegerField()  # bytes
    sha256 = models.CharField(max_length=64, db_index=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        # The operator class lets PostgreSQL find the files below a folder by these indexes
        constraints = [
            models.UniqueConstraint(
                fields=["run", "path"],
                condition=models.Q(run__isnull=False),
                opclasses=["uuid_ops", "varchar_pattern_ops"],
                name="artifact_path_of_run",
            ),
            models.UniqueConstraint(
                fields=["logged_model", "path"],
                condition=models.Q(logged_model__isnull=False),
                opclasses=["uuid_ops", "varchar_pattern_ops"],
                name="artifact_path_of_model",
            ),
            models.CheckConstraint(
                condition=models.Q(run__isnull=False) ^ models.Q(logged_model__isnull=False),
                name="artifact_has_one_owner",
            ),
        ]

    def __str__(self) -> str:
        return self.path
