"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from clusters.health.selectors import UNHEALTHY
from clusters.models import Cluster, Device, Gpu, Node
from clusters.pools import is_in, pools_visible_to
from clusters.states import HEALTH, NODE
from monitoring.devices import device_rows
from monitoring.inventory import rack_of
from monitoring.nodes import UNREAD, node_rows
from portal.core.errors import InvalidInput
from portal.core.formatting import gpu_text
from portal.core.keyset import Order
from portal.lists import Column, Filter, ListView
from portal.web.translation import lazy_choices
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P

_STATES = {
    "ready": Q(is_ready=True, is_drained=False),
    "drained": Q(is_ready=True, is_drained=True),
    "down": Q(is_ready=False),
    "out": Q(is_ready=False) | Q(is_drained=True),
}


def _by_state(states: dict[str, Q]) -> Callable[[Any, str, Actor], Any]:
    """Return how to narrow rows to one of these states."""

    def narrow(rows: Any, state: str, actor: Actor) -> Any:
        if state not in states:
            raise InvalidInput.at("state", f"must be one of {', '.join(states)}")
        return rows.filter(states[state])

    return narrow


def _clusters(actor: Actor) -> list[tuple[str, str]]:
    names = Cluster.objects.order_by("name").values_list("name", flat=True)
    return [("", gettext("All clusters")), *((n, n) for n in names)] if len(names) > 1 else []


def _models(actor: Actor) -> list[tuple[str, str]]:
    kinds = Gpu.objects.order_by("type").values_list("type", flat=True).distinct()
    return _named_kinds(kinds)


def _named_kinds(kinds: Collection[str]) -> list[tuple[str, str]]:
    named = ((kind, gpu_text(kind)) for kind in kinds)
    return [("", gettext("All GPU models")), *named] if len(kinds) > 1 else []


_HEALTH = (("", _("Any health")), ("unhealthy", _("Unhealthy")), *lazy_choices(HEALTH.choices))


def _by_health(rows: Any, state: str, actor: Actor) -> Any:
    """Narrow nodes to those of this health; a node without a row was never unhealthy."""
    if state not in dict(_HEALTH):
        raise InvalidInput.at(
            "health", f"must be one of {', '.join(name for name, _ in _HEALTH[1:])}"
        )
    if state == "healthy":
        return rows.exclude(health__state__in=UNHEALTHY)
    return rows.filter(health__state__in=UNHEALTHY if state == "unhealthy" else (state,))


NODES = ListView(
    name="nodes",
    permission=P.NODES_READ,
    rows=lambda actor: Node.objects.select_related("cluster").defer(*UNREAD),
    represent=node_rows,
    order=Order("cluster__name", "name"),
    max_page_size=500,
    filters=(
        Filter(
            "state",
            _by_state(_STATES),
            help="ready, drained or down; out for the last two.",
            label=_("State"),
            chips=(("", _("All")), *lazy_choices(NODE.choices), ("out", _("out of service"))),
        ),
        Filter(
            "health",
            _by_health,
            help="healthy, warning, draining, quarantined, or unhealthy for any of the last three.",
            label=_("Health"),
            choices=lambda actor: list(_HEALTH),
        ),
        Filter(
            "q",
            lambda rows, text, actor: rows.filter(name__icontains=text),
            help="Part of the name.",
            label=_("Search nodes"),
            placeholder=_("Part of a name"),
        ),
        Filter(
            "cluster",
            lambda rows, name, actor: rows.filter(cluster__name=name),
            help="Name of the cluster.",
            label=_("Cluster"),
            choices=_clusters,
        ),
        Filter(
            "model",
            lambda rows, kind, actor: rows.filter(
                id__in=Gpu.objects.filter(type=kind).values("node_id")
            ),
            help="GPU model, such as h100.",
            label=_("GPU model"),
            choices=_models,
        ),
    ),
    columns=(
        Column("name", _("Node")),
        Column("cluster", None),
        Column("state", _("State")),
        Column("health", None, value=lambda row: row["health"]["state"]),
        Column("gpus", _("GPUs"), value=lambda row: len(row["gpus"])),
        Column("gpu_utilization", _("GPU util (5 min)")),
        Column("cpus", _("CPU allocated"), "num", value=lambda row: row["cpus"]["held"]),
        Column("cpus_total", None, value=lambda row: row["cpus"]["total"]),
        Column("cpu_used", _("CPU usage"), "num", value=None),
        Column("memory", _("Memory used"), "num", value=None),
        Column("jobs", _("Jobs"), value=lambda row: [job["number"] for job in row["jobs"]]),
        Column("seen_at", _("Last seen"), "num"),
    ),
    row_template="monitoring/_node_row.html",
)

_DEVICE_STATES = {
    "lost": Q(is_lost=True),
    "ready": Q(is_lost=False, node__is_ready=True, node__is_drained=False),
    "drained": Q(is_lost=False, node__is_ready=True, node__is_drained=True),
    "down": Q(is_lost=False, node__is_ready=False),
}


def _device_types(actor: Actor) -> list[tuple[str, str]]:
    kinds = Device.objects.order_by("type").values_list("type", flat=True).distinct()
    return _named_kinds(kinds)


def _in_rack(rows: Any, rack: str, actor: Actor) -> Any:
    """Narrow GPUs to those of nodes whose label "rack" has this value."""
    labels = Node.objects.filter(is_gone=False).values_list("id", "labels")
    return rows.filter(node__in=[node for node, found in labels if rack_of(found) == rack])


def _in_pool(rows: Any, name: str, actor: Actor) -> Any:
    """Narrow GPUs to those of nodes of a pool that the actor may see."""
    pool = next((pool for pool in pools_visible_to(actor) if pool.name == name), None)
    if pool is None:
        raise InvalidInput.at("pool", "is none that you can see")
    types: dict[UUID, set[str]] = defaultdict(set)
    for node_id, kind in Gpu.objects.filter(node__cluster=pool.cluster_id).values_list(
        "node_id", "type"
    ):
        types[node_id].add(kind)
    nodes = Node.objects.filter(cluster=pool.cluster_id).only("id", "labels", "partitions")
    return rows.filter(node__in=[node.id for node in nodes if is_in(pool, node, types[node.id])])


def _pools(actor: Actor) -> list[tuple[str, str]]:
    names = sorted(pool.name for pool in pools_visible_to(actor))
    return [("", gettext("All pools")), *((name, name) for name in names)] if names else []


DEVICES = ListView(
    name="gpus",
    permission=P.NODES_READ,
    rows=lambda actor: Device.objects.select_related("node__cluster").filter(node__is_gone=False),
    represent=device_rows,
    order=Order("node__cluster__name", "node__name", "index", "id"),
    filters=(
        Filter(
            "state",
            _by_state(_DEVICE_STATES),
            help="ready, drained, down or lost.",
            label=_("State"),
            chips=(
                ("", _("All")),
                ("ready", _("Ready")),
                ("drained", _("Drained")),
                ("down", _("Down")),
                ("lost", _("Not responding")),
            ),
        ),
        Filter(
            "q",
            lambda rows, text, actor: rows.filter(
                Q(node__name__icontains=text) | Q(uuid__icontains=text)
            ),
            help="Part of a node's name or of a UUID.",
            label=_("Search GPUs"),
            placeholder=_("Node or UUID"),
        ),
        Filter(
            "node",
            lambda rows, name, actor: rows.filter(node__name=name),
            help="Name of the node.",
            label=_("Node"),
        ),
        Filter(
            "cluster",
            lambda rows, name, actor: rows.filter(node__cluster__name=name),
            help="Name of the cluster.",
            label=_("Cluster"),
            choices=_clusters,
        ),
        Filter(
            "model",
            lambda rows, kind, actor: rows.filter(type=kind),
            help="GPU model, such as h100.",
            label=_("GPU model"),
            choices=_device_types,
        ),
        Filter(
            "rack",
            _in_rack,
            help="Value of the node's label rack.",
            label=_("Rack"),
        ),
        Filter(
            "pool",
            _in_pool,
            help="Name of a pool.",
            label=_("Pool"),
            choices=_pools,
        ),
    ),
    columns=(
        Column("node", _("GPU")),
        Column("cluster", None),
        Column("uuid", None),
        Column("state", _("State")),
        Column("type", _("Model")),
        Column("mig", _("MIG layout"), value=lambda row: [p["profile"] for p in row["mig"] or ()]),
        Column("utilization", _("Utilization")),
        Column("memory_used", _("Memory used"), "num"),
        Column("memory", None),
        Column("temperature", _("Temperature"), "num"),
        Column("power", _("Power"), "num"),
        Column("jobs", _("Jobs"), value=lambda row: [job["number"] for job in row["jobs"]]),
    ),
    row_template="monitoring/_gpu_row.html",
)
