"""Outputs of jobs: folders whose files become versions."""

from __future__ import annotations

from django.db import models

from datasets.models import Repository, Version
from jobs.models.attempt import Attempt
from jobs.models.job import Job
from portal.core.message_fields import MessageField
from workspaces.tenancy.models import TenantModel


class OutputState(models.TextChoices):
    WAITING = "waiting"  # nothing was saved yet
    SAVING = "saving"
    SAVED = "saved"
    FAILED = "failed"  # `message` says why; it is tried again unless `is_over`


class JobOutput(TenantModel):
    """An output of one task of a job, written by `jobs.saving`.

    `attempt` is the one whose folder is saved, and `is_over` that its end was saved or given up, or
    that it has not started. `version` is the one saved last, or the one that the job resumed from.
    `seen` has the files of that version as they were in the folder (`jobs.saving.folder`).
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="outputs")
    index = models.PositiveIntegerField(default=0)  # array task; else 0
    name = models.CharField(max_length=64)
    repository = models.ForeignKey(
        Repository, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    version = models.ForeignKey(Version, null=True, on_delete=models.SET_NULL, related_name="+")
    attempt = models.ForeignKey(Attempt, null=True, on_delete=models.SET_NULL, related_name="+")
    is_over = models.BooleanField(default=True)
    is_resumed = models.BooleanField(default=False)  # files were placed before this attempt
    state = models.CharField(max_length=8, choices=OutputState.choices, default=OutputState.WAITING)
    message = MessageField(blank=True)
    saved_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)  # of the next save; null: at the end
    tries = models.PositiveIntegerField(default=0)  # failed in a row
    lease = models.UUIDField(null=True)  # the process that is saving
    lease_until = models.DateTimeField(null=True)
    seen = models.BinaryField(default=bytes)

    class Meta(TenantModel.Meta):
        constraints = [
            models.UniqueConstraint(fields=["job", "index", "name"], name="job_output_once")
        ]
        indexes = [
            models.Index(
                fields=["attempt"], name="job_output_open", condition=models.Q(is_over=False)
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.job_id}[{self.index}]"
