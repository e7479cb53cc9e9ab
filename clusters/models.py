"""Clusters, their nodes, GPUs and pools. Platform rows: no tenant owns hardware."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from portal.core import clock
from portal.core.ids import uuid7
from portal.core.message_fields import MessageField
from portal.core.messages import Message
from schedulers.contract import DiskSpace
from workspaces.models import ApprovalRequest
from workspaces.tenancy.models import TenantModel


class Cluster(models.Model):
    """A connected scheduler: a backend's name and its configuration.

    Written by operators and by the set-up; only its watcher writes `seen_at`, `polled_at` and
    `trouble`.
    """

    # Field → purpose, for `manage.py rotate_secrets`.
    SEALED: ClassVar[dict[str, str]] = {"secrets": "clusters"}

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.SlugField(max_length=40, unique=True)
    backend = models.CharField(max_length=40)
    config = models.JSONField(default=dict)
    # Secret options as JSON, encrypted by `portal.core.vault`.
    secrets = models.BinaryField(default=bytes, editable=False)
    # Scheduler version at the last connection test.
    version = models.CharField(max_length=80, blank=True)
    is_enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now)
    seen_at = models.DateTimeField(null=True)  # last response of the backend
    # Last inventory; a node that is not gone was seen then.
    counted_at = models.DateTimeField(null=True)
    trouble = MessageField(blank=True)  # error of the last failed request
    trouble_since = models.DateTimeField(null=True)
    # Bytes of the disk with the files of jobs, at the last inventory; null if unknown.
    disk_used = models.BigIntegerField(null=True)
    disk_free = models.BigIntegerField(null=True)
    # Incremented with each write of nodes or GPUs; key of caches.
    inventory = models.PositiveBigIntegerField(default=0)
    # Incremented by each admission: the planner's optimistic lock.
    plan = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return self.name

    @property
    def disk(self) -> DiskSpace | None:
        if self.disk_used is None or self.disk_free is None:
            return None
        return DiskSpace(self.disk_used, self.disk_free)


class Node(models.Model):
    """A node as the backend last reported it. Written by the watcher only."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=253)
    cpus = models.PositiveIntegerField()  # millicores
    memory = models.BigIntegerField()  # bytes
    labels = models.JSONField(default=dict)
    is_ready = models.BooleanField(default=True)
    is_drained = models.BooleanField(default=False)  # drained on request: takes no new jobs
    is_gone = models.BooleanField(default=False)  # no longer reported by its cluster
    note = MessageField(blank=True)
    partitions = models.JSONField(default=list)  # partitions of the scheduler
    # In use by any job, as the scheduler counts; in quota units.
    used_cpus = models.PositiveIntegerField(default=0)
    used_memory = models.BigIntegerField(default=0)
    used_gpus = models.PositiveSmallIntegerField(default=0)
    used_shares = models.PositiveIntegerField(default=0)  # of GPUs, not in `used_gpus`
    # `arch` as in images, NVIDIA's `driver`, its newest `cuda`; if known.
    runs = models.JSONField(default=dict)
    # These facts as reported by the node's agent, `compute`, and `mig`: whether it may partition
    # GPUs; written by `ingest`
    reported = models.JSONField(default=dict, db_column="told")
    # Last change of this description; each inventory updates `counted_at` of the cluster.
    seen_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "name"], name="node_once")]
        indexes = [models.Index(fields=["name"], name="node_name")]  # agents tell their name only

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """Return the state as of `node_state`."""
        return node_state(self.is_ready, self.is_drained)


def node_state(is_ready: bool, is_drained: bool) -> str:
    """Return "ready", "drained" or "down". A drained node that does not respond is down."""
    return "down" if not is_ready else "drained" if is_drained else "ready"


class Gpu(models.Model):
    """A GPU of a node, or a MIG instance. `type` is the resource class: `gpu.<type>`."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="gpus")
    index = models.PositiveSmallIntegerField()
    uuid = models.CharField(max_length=80)
    model = models.CharField(max_length=80)
    type = models.CharField(max_length=34)
    memory = models.BigIntegerField()  # bytes
    # Compute capability, "9.0"; empty if unknown.
    compute = models.CharField(max_length=10, blank=True)
    # All shares of a class on the node ("h100.shared") are one row with their number; null: a GPU
    shares = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "uuid"], name="gpu_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.index}"


class Device(models.Model):
    """A physical GPU as the agent of its node reports it. Written by `store_devices` only.

    `Gpu` is what a scheduler hands out: a whole device, or a MIG instance on one.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="devices")
    index = models.PositiveSmallIntegerField()
    uuid = models.CharField(max_length=80)
    model = models.CharField(max_length=80)
    type = models.CharField(max_length=34)  # resource class of the whole device: "h100"
    memory = models.BigIntegerField()  # bytes
    compute = models.CharField(max_length=10, blank=True)
    serial = models.CharField(max_length=40, blank=True)
    pci = models.CharField(max_length=20, blank=True)  # bus id, "00000000:4E:00.0"
    numa = models.SmallIntegerField(null=True)  # NUMA node
    links = models.PositiveSmallIntegerField(null=True)  # active NVLinks
    driver = models.CharField(max_length=40, blank=True)
    # None: MIG is off or not supported; else a list of {uuid, profile, start, memory, index}
    mig = models.JSONField(null=True)
    is_lost = models.BooleanField(default=False)  # does not respond, or is no longer reported
    seen_at = models.DateTimeField(default=clock.now)  # last change of this description

    class Meta:
        constraints = [models.UniqueConstraint(fields=["node", "uuid"], name="device_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.index}"


class HealthPolicy(models.Model):
    """How the health of a cluster's nodes is judged, and how much rules may take out of service.

    `checks` has the settings that differ from the defaults. Past a limit, rules stop acting until an
    operator resets them. Written by `clusters.services.health_policy` and the evaluation.
    """

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="health_policy")
    checks = models.JSONField(default=dict)
    is_acting = models.BooleanField(default=True)  # False: rules only warn
    most_percent = models.PositiveSmallIntegerField(default=10)  # of the nodes, at least one
    most_per_hour = models.PositiveSmallIntegerField(default=10)  # nodes
    stopped_at = models.DateTimeField(null=True)
    stopped_for = models.JSONField(default=dict)  # {"limit", "wanted", "out", "most"}
    reset_at = models.DateTimeField(null=True)
    last_event = models.BigIntegerField(null=True)  # position up to which XIDs are read
    evaluated_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"health of {self.cluster_id}"


class NodeHealth(models.Model):
    """Health of a node and its reason; a node that was never unhealthy has no row.

    `check`, `gpu` and `params` are those of the finding that decides, or of an operator. Written by
    `clusters.services.health` and the evaluation.
    """

    node = models.OneToOneField(Node, on_delete=models.CASCADE, related_name="health")
    state = models.CharField(max_length=12, default="healthy", db_index=True)
    since = models.DateTimeField(default=clock.now)
    check_code = models.CharField(max_length=20, blank=True)
    gpu = models.PositiveSmallIntegerField(null=True)
    params = models.JSONField(default=dict)
    # A rule drained the node, so its return resumes it
    is_drained_by_rule = models.BooleanField(default=False)
    acted_at = models.DateTimeField(null=True)  # last drain by a rule
    # Why a drain that a rule wants was not done: "stopped", "paused", "cannot_drain", or an error
    blocked = MessageField(blank=True)

    def __str__(self) -> str:
        return f"{self.node_id} {self.state}"


class HealthFinding(models.Model):
    """What a check found on a node or one of its GPUs, from its start until its return time is over.

    Written by the evaluation. Muted by an operator who returns the node: it then only warns.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="findings")
    gpu = models.SmallIntegerField(default=-1)  # index; -1: the node
    check_code = models.CharField(max_length=20)
    params = models.JSONField(default=dict)
    since = models.DateTimeField(default=clock.now)
    ended_at = models.DateTimeField(null=True)  # no longer found; null while it lasts
    is_muted = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["node", "gpu", "check_code"], name="health_finding_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.check_code} {self.node_id} {self.gpu}"


class LocalUser(models.Model):
    """The system user that runs a team's jobs on the portal's own machine.

    The row outlives its team: files may remain, so a uid is never reused. Written at hand-over.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    team_id = models.UUIDField(unique=True)
    uid = models.PositiveIntegerField(unique=True)

    def __str__(self) -> str:
        return f"{self.uid} {self.team_id}"


class Pool(models.Model):
    """A named part of a cluster, selected by labels, partition and GPU type.

    A node must match every rule that is not empty. `is_open`: every team may use the pool without a
    grant. Written by operators.
    """

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
        """Return the rule for people: "partition night, h200, rack=3"."""
        words = [
            Message("partition {name}", context="part of a sentence", name=self.partition)
            if self.partition
            else "",
            self.gpu_type,
            ", ".join(self.labels_text.split()),
        ]
        return Message.joined(", ", words) or Message("all nodes", context="part of a sentence")

    @property
    def labels_text(self) -> str:
        """Return the labels as forms take them: "fabric=ib rack=3"."""
        return " ".join(f"{name}={value}" for name, value in sorted(self.labels.items()))


class PoolGrant(TenantModel):
    """A team's permission to use a pool, and its identity in the scheduler.

    Empty identity fields use the cluster's settings. Belongs to the team's organization, so other
    tenants cannot see it. Written by operators.
    """

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="grants")
    team = models.ForeignKey("workspaces.Team", on_delete=models.CASCADE, related_name="+")
    run_as = models.CharField(max_length=64, blank=True)
    account = models.CharField(max_length=100, blank=True)
    qos = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(default=clock.now)
    # Set by an approved request; null: until it is revoked
    ends_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        constraints = [models.UniqueConstraint(fields=["pool", "team"], name="pool_grant_once")]

    def __str__(self) -> str:
        return f"{self.pool_id} {self.team_id}"


class PoolReservation(TenantModel):
    """GPUs of a cluster that are kept for one team, because a request was approved.

    Written by `clusters.services.pool_reservations`, which makes the cluster agree with it. A
    renewal extends the row of the request that it renews.
    """

    class State(models.TextChoices):
        PLANNED = "planned"  # starts later
        PENDING = "pending"  # `note` says what it waits for
        ACTIVE = "active"
        FAILED = "failed"  # the cluster refuses it; `note` says why
        ENDED = "ended"

    team = models.ForeignKey("workspaces.Team", on_delete=models.CASCADE, related_name="+")
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="reservations")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=40, unique=True)  # in the cluster
    gpu_type = models.CharField(max_length=34)
    gpus = models.PositiveIntegerField()
    # Number of GPUs by node. With whole nodes, all of their GPUs.
    nodes = models.JSONField(default=dict)
    is_whole = models.BooleanField(default=False)  # nothing of these nodes is left to others
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.PLANNED)
    note = MessageField(blank=True)
    applied_at = models.DateTimeField(null=True)  # first time that the cluster kept the GPUs
    checked_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        indexes = [
            models.Index(
                fields=["cluster", "ends_at"],
                name="pool_reservation_open",
                condition=~models.Q(state="ended"),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class PoolRequest(ApprovalRequest):
    """A team's request for a number of GPUs of one class until a date.

    Written by `clusters.services.pool_requests`. Operators decide; an approval names the pool, whose
    grant lasts from `starts_at` to `ends_at`.
    """

    team = models.ForeignKey("workspaces.Team", on_delete=models.CASCADE, related_name="+")
    gpu_type = models.CharField(max_length=34)  # "h100", "mig-1g.10gb"
    gpus = models.PositiveIntegerField()
    purpose = models.CharField(max_length=500, blank=True)
    budget = models.PositiveIntegerField(null=True)  # GPU-hours that the team means to use
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    renews = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    pool = models.ForeignKey(Pool, null=True, on_delete=models.SET_NULL, related_name="requests")
    # Null if the cluster keeps nothing for teams; a renewal shares that of the earlier request.
    reservation = models.ForeignKey(
        PoolReservation, null=True, on_delete=models.SET_NULL, related_name="requests"
    )
    granted_at = models.DateTimeField(null=True)  # the grant was made
    reminded = models.PositiveSmallIntegerField(null=True)  # days before the end, of the last mail

    class Meta(ApprovalRequest.Meta):
        indexes = [
            models.Index(fields=["org", "state", "-created_at"], name="pool_request_state"),
            models.Index(
                fields=["ends_at"],
                name="pool_request_running",
                condition=models.Q(state="approved"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.gpus} {self.gpu_type} for {self.team_id}"


class MigSettings(models.Model):
    """How a cluster's GPUs may be partitioned. No row: not at all. Written by operators."""

    class Method(models.TextChoices):
        OFF = "off"
        AGENT = "agent"  # the node's agent changes instances through NVML
        LABEL = "label"  # the scheduler's GPU operator does, on a node label
        HAND = "hand"  # an administrator does

    cluster = models.OneToOneField(
        Cluster, on_delete=models.CASCADE, primary_key=True, related_name="mig"
    )
    method = models.CharField(max_length=10, choices=Method.choices, default=Method.OFF)
    nodes_at_once = models.PositiveSmallIntegerField(default=1)
    drain_minutes = models.PositiveIntegerField(
        default=24 * 60
    )  # until running jobs must have ended
    change_minutes = models.PositiveIntegerField(default=20)  # until the new layout must be there
    # Where files name the GPUs: the portal makes the scheduler read them again
    may_reconfigure = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.method}"


class MigPlan(models.Model):
    """A change of the MIG layout of a cluster's GPUs. Written by `clusters.services.mig_plans`.

    `wish` counts instances by profile, and whole GPUs as "full"; `missing` is what does not fit.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        APPLYING = "applying"
        DONE = "done"
        FAILED = "failed"
        UNDONE = "undone"  # another plan has restored the layout before

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="mig_plans")
    wish = models.JSONField(default=dict)
    missing = models.JSONField(default=dict)
    only_nodes = models.JSONField(default=list)  # names; empty: all nodes
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    method = models.CharField(max_length=10, blank=True)  # MigSettings.Method, once applied
    undoes = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)
    created_by = models.CharField(max_length=254)
    started_at = models.DateTimeField(null=True)
    started_by = models.CharField(max_length=254, blank=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["cluster"], name="mig_plan_applying", condition=models.Q(state="applying")
            )
        ]

    def __str__(self) -> str:
        return f"{self.cluster_id} {self.wish}"


class MigPlanNode(models.Model):
    """One node of a MIG plan: its layout before and after, and how far it is.

    `gpus` are all GPUs of the node: {uuid, index, model, type, before, after, drains}; a layout is a
    list of {profile, start}, or None without MIG. `state` changes by compare-and-set.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        DRAINING = "draining"  # until no job uses its GPUs
        CHANGING = "changing"
        CONFIGURING = "configuring"  # until the scheduler knows the new GPUs
        RESUMING = "resuming"
        DONE = "done"
        FAILED = "failed"
        SKIPPED = "skipped"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    plan = models.ForeignKey(MigPlan, on_delete=models.CASCADE, related_name="nodes")
    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="+")
    gpus = models.JSONField(default=list)
    state = models.CharField(max_length=12, choices=State.choices, default=State.WAITING)
    since = models.DateTimeField(default=clock.now)  # last change of the state
    work_id = models.UUIDField(default=uuid7)  # by which the agent knows its work
    was_drained = models.BooleanField(default=False)  # before the plan: it is not resumed
    drained_at = models.DateTimeField(null=True)
    note = MessageField(blank=True)  # what it waits for
    error = MessageField(blank=True)
    is_restored = models.BooleanField(default=False)  # after a failure: the layout is as before

    class Meta:
        constraints = [models.UniqueConstraint(fields=["plan", "node"], name="mig_plan_node_once")]
        indexes = [
            models.Index(
                fields=["node"], name="mig_plan_changing", condition=models.Q(state="changing")
            )
        ]

    def __str__(self) -> str:
        return f"{self.node_id} {self.state}"

    @property
    def changes(self) -> list[dict[str, Any]]:
        """Return the GPUs whose layout changes."""
        return [gpu for gpu in self.gpus if gpu["before"] != gpu["after"]]
