"""Represent clusters, nodes and pools for pages and the API. No row has a secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from clusters.backend_options import BackendKindShape, options_of
from clusters.backends import secrets_set
from clusters.capacity import STATES, CapacityShape, NodeCountsShape, by_pool, natural
from clusters.models import Cluster, Gpu, Node, Pool
from clusters.node_capacity import NodeRow, NodeUsage, node_usage_in
from clusters.pools import IdentityShape, identities_of, pools_visible_to, teams_of
from clusters.services.drain import may_drain
from clusters.status import StandingShape, status_of, trouble_of
from clusters.workload import workload
from portal.core.shapes import PageShape, Time
from schedulers import backends, capabilities_of, title_of
from schedulers.capacity import gpu_amounts
from schedulers.contract import Capability, DiskSpace
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission


class GpuUseShape(TypedDict):
    total: int
    used: int
    types: Annotated[dict[str, int], "Number by type."]
    reserved: NotRequired[int]


class DiskShape(TypedDict):
    used: int
    free: int
    percent: int
    text: str
    warning: Annotated[str, "Empty, or that it is nearly full."]


class ClusterShape(TypedDict):
    name: str
    backend: str
    title: Annotated[str, "Of the backend."]
    version: str
    is_enabled: bool
    standing: StandingShape
    can_drain: bool
    trouble: Annotated[str, "Why it does not respond; else empty."]
    trouble_since: Time | None
    seen_at: Annotated[Time | None, "Its last response."]
    counted_at: Annotated[Time | None, "The last inventory of its nodes."]
    created_at: Time
    nodes: NodeCountsShape
    gpus: GpuUseShape
    disk: Annotated[DiskShape | None, "With the files of jobs, in bytes."]


class ClusterDetailShape(ClusterShape):
    options: Annotated[dict[str, Any], "By name, without secrets."]
    has_secrets: bool
    secrets: Annotated[list[str], "Names of the secrets that are set."]


class ClusterListShape(PageShape[ClusterShape]):
    kinds: Annotated[list[BackendKindShape], "What can be connected."]


class AmountShape(TypedDict):
    total: float
    used: float


class BytesShape(TypedDict):
    total: int
    used: int


class NodeShape(TypedDict):
    name: str
    state: Annotated[str, "State of a node."]
    is_drained: bool
    note: str
    is_gone: bool
    partitions: list[str]
    labels: dict[str, str]
    cpus: AmountShape
    memory: BytesShape
    gpus: GpuUseShape


class NodeStateShape(TypedDict):
    name: str
    cluster: str
    state: Annotated[str, "State of a node."]
    note: str


class PoolShape(TypedDict):
    name: str
    cluster: str
    labels: dict[str, str]
    partition: str
    gpu_type: str
    note: str
    is_open: bool
    teams: Annotated[list[str], "Of the organization, that may use it."]
    identities: NotRequired[
        Annotated[dict[str, IdentityShape], "For the scheduler, by team. For operators."]
    ]


class PoolCapacityShape(PoolShape, CapacityShape):
    pass


def cluster_rows() -> list[ClusterShape]:
    """Return all clusters by name with node and GPU counts, in a fixed number of queries."""
    clusters = list(Cluster.objects.order_by("name"))
    named = Node.objects.filter(is_gone=False).values("cluster_id")
    counts: dict[Any, dict[str, Any]] = {
        row["cluster_id"]: dict(row)
        for row in named.annotate(
            total=Count("id"),
            ready=Count("id", filter=Q(is_ready=True, is_drained=False)),
            drained=Count("id", filter=Q(is_ready=True, is_drained=True)),
            used_gpus=Sum("used_gpus"),
        )
    }
    for (cluster_id, _), (_, _, taken) in (
        workload()
        .reserved_by_node(
            c.id
            for c in clusters
            if c.backend in backends() and Capability.PLACES in capabilities_of(c.backend)
        )
        .items()
    ):
        if cluster_id in counts:
            counts[cluster_id]["used_gpus"] += len(taken)
    gpus: dict[Any, dict[str, int]] = {}
    for row in (
        Gpu.objects.filter(node__is_gone=False)
        .values("node__cluster_id", "type")
        .annotate(n=Sum(Coalesce("shares", 1)))
        .order_by("type")
    ):
        gpus.setdefault(row["node__cluster_id"], {})[row["type"]] = row["n"]
    return [
        _row(cluster, counts.get(cluster.id, {}), gpus.get(cluster.id, {})) for cluster in clusters
    ]


def cluster_row(cluster: Cluster) -> ClusterDetailShape:
    """Return one cluster with its options; of a secret only whether it is set."""
    [row] = [row for row in cluster_rows() if row["name"] == cluster.name]
    options = options_of(cluster.backend)
    return {
        **row,
        "options": {
            option.name: cluster.config.get(option.name, option.default)
            for option in options
            if option.kind != "secret"
        },
        "has_secrets": bool(cluster.secrets),
        "secrets": secrets_set(cluster),
    }


def node_list(cluster: Cluster) -> list[NodeShape]:
    """Return the nodes of a cluster by name; missing ones last."""
    gpus: dict[Any, dict[str, int]] = {}
    for row in (
        Gpu.objects.filter(node__cluster=cluster)
        .values("node_id", "type")
        .annotate(n=Sum(Coalesce("shares", 1)))
    ):
        gpus.setdefault(row["node_id"], {})[row["type"]] = row["n"]
    rows = Node.objects.filter(cluster=cluster).order_by("is_gone", "name")
    return [node_facts(node, gpus.get(node.id, {})) for node in rows]


def node_facts(node: Node | NodeRow, gpus: dict[str, int]) -> NodeShape:
    return {
        "name": node.name,
        "state": node.state,
        "is_drained": node.is_drained,
        "note": node.note,
        "is_gone": node.is_gone,
        "partitions": node.partitions,
        "labels": node.labels,
        "cpus": {"total": node.cpus / 1000, "used": node.used_cpus / 1000},
        "memory": {"total": node.memory, "used": node.used_memory},
        "gpus": {"total": gpu_amounts(gpus)["gpu"], "used": node.used_gpus, "types": gpus},
    }


def machine_page(
    machines: Sequence[NodeUsage], asked: Mapping[str, str], most: int = 50
) -> tuple[list[NodeShape], str]:
    """Return up to `most` nodes by name, and the cursor of the next page.

    `asked` filters by state, partition and text in name or note, and has the cursor in `after`.
    """
    state, partition, text = (asked.get(name, "") for name in ("nodes", "partition", "find"))
    rows = [
        m
        for m in machines
        if (state not in STATES or m.node.state == state)
        and (not partition or partition in m.node.partitions)
        and text.lower() in f"{m.node.name} {m.node.note}".lower()
    ]
    rows.sort(key=lambda m: natural(m.node.name))
    begin = (
        next(
            (at for at, m in enumerate(rows) if natural(m.node.name) > natural(asked["after"])),
            len(rows),
        )
        if asked.get("after")
        else 0
    )
    shown = rows[begin : begin + most]
    return [_machine_facts(m) for m in shown], shown[-1].node.name if len(
        rows
    ) > begin + most else ""


def _machine_facts(m: NodeUsage) -> NodeShape:
    facts = node_facts(m.node, m.gpus)
    facts["cpus"]["used"] = m.used("cpu") / 1000
    facts["memory"]["used"] = m.used("memory")
    facts["gpus"]["used"] = m.used("gpu")
    facts["gpus"]["reserved"] = m.reserved("gpu") if m.reserved_gpus else 0
    return facts


def pool_rows(actor: Actor) -> list[PoolCapacityShape]:
    """Return the pools visible to the actor, with the organization's teams that may use them."""
    pools = pools_visible_to(actor)
    teams = teams_of(pools)
    given = identities_of(pools) if actor.may(Permission.CLUSTERS_READ) else {}
    stocks = by_pool(
        pools, node_usage_in({pool.cluster_id: pool.cluster for pool in pools}.values())
    )
    return [
        {**pool_row(pool, teams[pool.id], given.get(pool.id)), **stocks[pool.id].as_dict()}
        for pool in pools
    ]


def pool_row(
    pool: Pool, teams: list[str], identities: dict[str, IdentityShape] | None = None
) -> PoolShape:
    """Return one pool. `identities`: scheduler identities by team, for operators only."""
    row: PoolShape = {
        "name": pool.name,
        "cluster": pool.cluster.name,
        "labels": pool.labels,
        "partition": pool.partition,
        "gpu_type": pool.gpu_type,
        "note": pool.note,
        "is_open": pool.is_open,
        "teams": teams,
    }
    if identities is not None:
        row["identities"] = identities
    return row


def _row(cluster: Cluster, counts: dict[str, Any], gpus: dict[str, int]) -> ClusterShape:
    total, ready, drained = (counts.get(name, 0) for name in ("total", "ready", "drained"))
    trouble, trouble_since = trouble_of(cluster)
    return {
        "name": cluster.name,
        "backend": cluster.backend,
        "title": title_of(cluster.backend),
        "version": cluster.version,
        "is_enabled": cluster.is_enabled,
        "standing": status_of(cluster),
        "can_drain": may_drain(cluster),
        "trouble": trouble,
        "trouble_since": trouble_since,
        "seen_at": cluster.seen_at,
        "counted_at": cluster.counted_at,
        "created_at": cluster.created_at,
        "nodes": {
            "total": total,
            "ready": ready,
            "drained": drained,
            "down": total - ready - drained,
        },
        "gpus": {
            "total": gpu_amounts(gpus)["gpu"],
            "used": counts.get("used_gpus") or 0,
            "types": gpus,
        },
        "disk": _disk(cluster.disk),
    }


def _disk(disk: DiskSpace | None) -> DiskShape | None:
    """Represent the disk with the files of jobs, in bytes; None if unknown."""
    if disk is None:
        return None
    return {
        "used": disk.used,
        "free": disk.free,
        "percent": disk.percent,
        "text": disk.text,
        "warning": disk.warning,
    }
