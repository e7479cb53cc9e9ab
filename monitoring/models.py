"""Sources of GPU measurements beside the node agents. Platform rows, written by operators."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from clusters.models import Cluster
from portal.core import clock
from portal.core.ids import uuid7
from portal.core.message_fields import MessageField


class TelemetrySource(models.Model):
    """Where GPU measurements of a cluster are read: dcgm-exporters, or a Prometheus.

    Operators write the settings (`monitoring.sources.services`), the reader everything from
    `due_at` on (`monitoring.sources.reading`).
    """

    SEALED: ClassVar[dict[str, str]] = {"secret": "telemetry source"}

    class Kind(models.TextChoices):
        DCGM = "dcgm"
        PROMETHEUS = "prometheus"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(max_length=40, unique=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="telemetry_sources")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    # One per line. Of exporters, "{node}" stands for the name of each node of the cluster.
    urls = models.TextField()
    matchers = models.CharField(max_length=500, blank=True)  # Prometheus: `job="dcgm"`
    secret = models.BinaryField(default=b"")  # sealed bearer token
    interval = models.PositiveIntegerField(default=30)  # seconds
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)
    due_at = models.DateTimeField(default=clock.now, db_index=True)
    read_at = models.DateTimeField(null=True)  # end of the last reading
    samples = models.PositiveIntegerField(default=0)  # of the last reading
    nodes = models.PositiveIntegerField(default=0)
    # Of the last reading; empty if it succeeded
    problem = MessageField(blank=True)
    problem_since = models.DateTimeField(null=True)
    unknown = models.JSONField(default=list)  # hosts that are no nodes of the cluster
    read_until = models.BigIntegerField(default=0)  # Prometheus: Unix ms of the newest sample read
    # The history that is still to be read, newest first: Unix ms; null if there is none
    fill_from = models.BigIntegerField(null=True)
    fill_until = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """Return its state (`monitoring.states`)."""
        if not self.is_enabled:
            return "disabled"
        return "failing" if self.problem else "reading" if self.read_at else "waiting"

    @property
    def url_list(self) -> list[str]:
        return self.urls.split()
