"""Traces of programs that call models."""

from __future__ import annotations

from django.db import models

from experiments.models.experiment import Experiment
from experiments.models.run import Run
from portal.core import clock
from workspaces.tenancy.models import TenantModel


class Trace(TenantModel):
    """A trace, written by `experiments.services`.

    `trace_id` is MLflow's, such as `tr-<hex>`. `spans` is the list of OpenTelemetry spans as JSON.
    """

    trace_id = models.CharField(max_length=100)
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=20, default="STATE_UNSPECIFIED")
    started_ms = models.BigIntegerField()
    duration_ms = models.BigIntegerField(null=True)
    client_request_id = models.CharField(max_length=250, blank=True)
    request_preview = models.TextField(blank=True)
    response_preview = models.TextField(blank=True)
    tags = models.JSONField(default=dict)
    metadata = models.JSONField(default=dict)
    assessments = models.JSONField(default=list)
    spans = models.JSONField(default=list)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["org", "trace_id"], name="trace_once")]
        indexes = [
            models.Index(
                fields=["org", "experiment", "-started_ms", "-id"], name="trace_experiment"
            )
        ]

    def __str__(self) -> str:
        return self.trace_id
