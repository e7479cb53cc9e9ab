"""Versions of data that jobs read."""

from __future__ import annotations

from django.db import models

from datasets.models import SharedFolder, Version
from jobs.models.job import Job
from workspaces.tenancy.models import TenantModel


class JobInput(TenantModel):
    """A version that a job reads, pinned at submission by `jobs.services.inputs`.

    The text stays when the version or its repository is deleted, so that lineage does.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="inputs")
    name = models.CharField(max_length=63)  # as in the spec
    version = models.ForeignKey(Version, null=True, on_delete=models.SET_NULL, related_name="+")
    kind = models.CharField(max_length=10)
    repository = models.CharField(max_length=96)  # its name at submission
    number = models.PositiveIntegerField()
    commit = models.CharField(max_length=40)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["job", "name"], name="job_input_once")]
        indexes = [models.Index(fields=["org", "commit"], name="job_input_commit")]

    def __str__(self) -> str:
        return f"{self.repository}@{self.number}"


class JobWorkspace(TenantModel):
    """A workspace that a job mounts, found at submission by `jobs.services.folders`."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="workspaces")
    name = models.CharField(max_length=63)  # as in the spec
    folder = models.ForeignKey(SharedFolder, null=True, on_delete=models.SET_NULL, related_name="+")
    workspace = models.CharField(max_length=96)  # its name at submission
    read_only = models.BooleanField(default=False)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["job", "name"], name="job_workspace_once")]

    def __str__(self) -> str:
        return f"{self.name}: {self.workspace}"
