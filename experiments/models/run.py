"""Runs."""

from __future__ import annotations

from django.db import models

from experiments.models.experiment import Experiment
from jobs.models import Job
from portal.core import clock
from workspaces.models import Team, User
from workspaces.tenancy.models import TenantModel


class RunStatus(models.TextChoices):
    """MLflow's names."""

    SCHEDULED = "SCHEDULED"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"
    KILLED = "KILLED"


class Run(TenantModel):
    """One run of an experiment, written by `experiments.services`.

    The run of a job has the job's id. Metrics are series of `series_owner`: `job:<hex>` for the run
    of a job, else `run:<hex>`. Their last values are in the rows of the series; params and tags are
    here. Times are Unix milliseconds, as clients send them.
    """

    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="+")
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=250)
    status = models.CharField(max_length=9, choices=RunStatus.choices, default=RunStatus.RUNNING)
    started_ms = models.BigIntegerField()
    ended_ms = models.BigIntegerField(null=True)
    series_owner = models.CharField(max_length=60, unique=True)
    params = models.JSONField(default=dict)  # str -> str; each is written once
    tags = models.JSONField(default=dict)  # str -> str
    # A list of datasets, with `dataset` (name, digest, source_type, source, schema, profile) and
    # `tags`, and of models, with `model_id`
    inputs = models.JSONField(default=list)
    # A list of models, with `model_id` and `step`
    outputs = models.JSONField(default=list)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    archived_at = models.DateTimeField(null=True)  # hidden from lists unless asked for
    deleted_at = models.DateTimeField(null=True)  # in the trash

    class Meta(TenantModel.Meta):
        indexes = [
            models.Index(fields=["org", "experiment", "-started_ms", "-id"], name="run_experiment"),
            models.Index(fields=["org", "team", "-started_ms", "-id"], name="run_team"),
        ]

    def __str__(self) -> str:
        return self.name
