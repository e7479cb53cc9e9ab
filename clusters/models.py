"""Clusters as they are connected, and the nodes and GPUs that were seen in them. Platform rows: no tenant owns hardware."""

from __future__ import annotations

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7


class Cluster(models.Model):
    """One scheduler: a backend's name and its configuration. Written by operators and by the set-up; `seen_at`, `polled_at` and
    `trouble` by its watcher alone."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(max_length=40, unique=True)
    backend = models.CharField(max_length=40)
    config = models.JSONField(default=dict)
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)
    seen_at = models.DateTimeField(null=True)           # the backend last answered
    trouble = models.CharField(max_length=500, blank=True)  # what it said when it did not
    trouble_since = models.DateTimeField(null=True)
    plan = models.PositiveBigIntegerField(default=0)    # raised by each admission: the optimistic lock of the planner

    def __str__(self) -> str:
        return self.name


class Node(models.Model):
    """A machine of a cluster as its backend last described it. Written by the watcher; never typed in."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=253)
    cpus = models.PositiveIntegerField()                # thousandths of a core
    memory = models.BigIntegerField()                   # bytes
    labels = models.JSONField(default=dict)
    is_ready = models.BooleanField(default=True)
    note = models.CharField(max_length=300, blank=True)
    seen_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_once")]

    def __str__(self) -> str:
        return self.name


class Gpu(models.Model):
    """A GPU of a node, or a MIG instance that can be given by itself. `type` is the resource class: `gpu.<type>`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="gpus")
    index = models.PositiveSmallIntegerField()
    uuid = models.CharField(max_length=80)
    model = models.CharField(max_length=80)
    type = models.CharField(max_length=34)
    memory = models.BigIntegerField()                   # bytes

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "uuid"], name="gpu_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.index}"
