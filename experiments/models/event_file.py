"""TensorBoard event files of runs."""

from __future__ import annotations

from django.db import models

from experiments.models.run import Run
from workspaces.tenancy.models import TenantModel


class EventFile(TenantModel):
    """How far an event file of a run has been read, written by `experiments.tensorboard`.

    `gaps` are ranges [start, end] of bytes without a record, which are read again when the file
    changes, and `mark` its size and time at the last look. `reported_bytes` is the number of skipped
    bytes that an event has reported.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="+")
    path = models.CharField(max_length=1000)  # attempt, and path below its output folder
    offset = models.BigIntegerField(default=0)  # bytes; -1: its metrics are too many
    gaps = models.JSONField(default=list)
    mark = models.CharField(max_length=64, default="")
    reported_bytes = models.BigIntegerField(default=0, db_column="told")

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["run", "path"], name="event_file_once")]

    def __str__(self) -> str:
        return self.path
