"""Logged models of MLflow 3: models that a run has logged, before anybody registers them."""

from __future__ import annotations

from django.db import models

from experiments.models.experiment import Experiment
from experiments.models.run import Run
from portal.core import clock
from workspaces.models import User
from workspaces.tenancy.models import TenantModel


class LoggedModel(TenantModel):
    """A logged model, written by `experiments.services`. Its id in MLflow is `m-<hex of id>`."""

    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=500)
    model_type = models.CharField(max_length=500, blank=True)
    # LOGGED_MODEL_PENDING, LOGGED_MODEL_READY or LOGGED_MODEL_UPLOAD_FAILED
    status = models.CharField(max_length=30, default="LOGGED_MODEL_PENDING")
    params = models.JSONField(default=dict)
    tags = models.JSONField(default=dict)
    # A list of points with key, value, timestamp, step, run_id, dataset_name and dataset_digest
    metrics = models.JSONField(default=list)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        indexes = [
            models.Index(fields=["org", "experiment", "-created_at", "-id"], name="logged_model")
        ]

    def __str__(self) -> str:
        return self.name
