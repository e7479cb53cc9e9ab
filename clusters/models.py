"""Clusters as they are connected, and the nodes and GPUs that were seen in them. Platform rows: no tenant owns hardware."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from workspaces.tenancy.models import TenantModel


class Cluster(models.Model):
    """One scheduler: a backend's name and its configuration. Written by operators and by the set-up; `seen_at`, `polled_at` and
    `trouble` by its watcher alone."""

    SEALED: ClassVar[dict[str, str]] = {
        "secrets": "clusters"
    }  # field and purpose, for `manage.py rotate_secrets`

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(max_length=40, unique=True)
    backend = models.CharField(max_length=40)
    config = models.JSONField(default=dict)
    secrets = models.BinaryField(
        default=bytes, editable=False
    )  # JSON of the configuration's secret fields, by `portal.core.vault`
    version = models.CharField(
        max_length=80, blank=True
    )  # of the scheduler, as the last test of the stored connection told it
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)
    seen_at = models.DateTimeField(null=True)  # the backend last answered
    counted_at = models.DateTimeField(
        null=True
    )  # its nodes were last asked for: each was seen then, unless it is gone
    trouble = models.CharField(max_length=500, blank=True)  # what it said when it did not
    trouble_since = models.DateTimeField(null=True)
    inventory = models.PositiveBigIntegerField(
        default=0
    )  # raised with each write of its nodes or GPUs: what was made of them is kept by it
    plan = models.PositiveBigIntegerField(
        default=0
    )  # raised by each admission: the optimistic lock of the planner

    def __str__(self) -> str:
        return self.name


class Node(models.Model):
    """A machine of a cluster as its backend last described it. Written by the watcher; never typed in."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=253)
    cpus = models.PositiveIntegerField()  # thousandths of a core
    memory = models.BigIntegerField()  # bytes
    labels = models.JSONField(default=dict)
    is_ready = models.BooleanField(default=True)
    is_drained = models.BooleanField(default=False)  # takes no new jobs, because somebody said so
    is_gone = models.BooleanField(default=False)  # its cluster no longer names it
    note = models.CharField(max_length=300, blank=True)
    partitions = models.JSONField(default=list)  # the scheduler's own groups it belongs to
    used_cpus = models.PositiveIntegerField(
        default=0
    )  # by whomever, as the scheduler counts; in the units of what there is
    used_memory = models.BigIntegerField(default=0)
    used_gpus = models.PositiveSmallIntegerField(default=0)
    runs = models.JSONField(
        default=dict
    )  # `arch` as images write it, NVIDIA's `driver`, the newest `cuda` of it; what is known
    told = models.JSONField(
        default=dict
    )  # the same from the node's own agent, and `compute`; written by `ingest` only
    seen_at = models.DateTimeField(
        default=clock.now
    )  # as it is described here; while nothing changes the cluster's `counted_at` moves

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """ "ready", "drained" or "down": one word for people. A drained node that does not answer is down."""
        return "down" if not self.is_ready else "drained" if self.is_drained else "ready"


class Gpu(models.Model):
    """A GPU of a node, or a MIG instance that can be given by itself. `type` is the resource class: `gpu.<type>`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="gpus")
    index = models.PositiveSmallIntegerField()
    uuid = models.CharField(max_length=80)
    model = models.CharField(max_length=80)
    type = models.CharField(max_length=34)
    memory = models.BigIntegerField()  # bytes
    compute = models.CharField(
        max_length=10, blank=True
    )  # compute capability, "9.0"; empty: not known

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "uuid"], name="gpu_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.index}"


class LocalUser(models.Model):
    """The system user as whom a team's jobs run on the portal's own machine. A row outlives its team: files of its jobs may be left, so
    no other team ever gets the number. Written by the hand-over."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team_id = models.UUIDField(unique=True)
    uid = models.PositiveIntegerField(unique=True)

    def __str__(self) -> str:
        return f"{self.uid} {self.team_id}"


class Pool(models.Model):
    """A named part of a cluster: the nodes that carry all of these labels, are in this partition, have this type of GPU; an empty
    rule asks for nothing. Written by operators. `is_open`: every team may use it, whether granted or not."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(max_length=40, unique=True)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="pools")
    labels = models.JSONField(default=dict)
    partition = models.CharField(max_length=80, blank=True)
    gpu_type = models.CharField(max_length=34, blank=True)
    note = models.CharField(max_length=300, blank=True)
    is_open = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return self.name

    @property
    def rule_text(self) -> str:
        """For people: "partition night, h200, rack=3"."""
        words = [
            f"partition {self.partition}" if self.partition else "",
            self.gpu_type,
            ", ".join(self.labels_text.split()),
        ]
        return ", ".join(filter(None, words)) or "all nodes"

    @property
    def labels_text(self) -> str:
        """As forms take them: "fabric=ib rack=3"."""
        return " ".join(f"{name}={value}" for name, value in sorted(self.labels.items()))


class PoolGrant(TenantModel):
    """A team may use a pool, and as whom: in the names of the cluster's scheduler, empty for what the cluster says. A row of the
    team's organization: who else may use the same pool is not told. Written by operators."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="grants")
    team = models.ForeignKey("workspaces.Team", on_delete=models.CASCADE, related_name="+")
    run_as = models.CharField(max_length=64, blank=True)
    account = models.CharField(max_length=100, blank=True)
    qos = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["pool", "team"], name="pool_grant_once")]

    def __str__(self) -> str:
        return f"{self.pool_id} {self.team_id}"
