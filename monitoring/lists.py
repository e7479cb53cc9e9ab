"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from clusters.health.selectors import UNHEALTHY
from clusters.models import Cluster, Device, Gpu, Node
from clusters.pools import is_in, pools_visible_to
from clusters.states import HEALTH, NODE
from monitoring.devices import device_rows
from monitoring.inventory import rack_of
from monitoring.nodes import FRESH_MS, UNREAD, node_rows
from portal import series
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.formatting import gpu_text
from portal.core.keyset import Order
from portal.core.messages import Message
from portal.lists import Column, Filter, ListView, matching, one_of, search_in
from portal.web.translation import lazy_choices
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P


def _capitalized(choices: Iterable[tuple[str, Message]]) -> tuple[tuple[str, Any], ...]:
    """Return the choices of a filter as menus and chips write them."""
    return tuple((value, capfirst(label)) for value, label in lazy_choices(choices))


_STATES = {
    "ready": Q(is_ready=True, is_drained=False),
    "drained": Q(is_ready=True, is_drained=True),
    "down": Q(is_ready=False),
    "out": Q(is_ready=False) | Q(is_drained=True),
}


def _condition(words: list[str], name: str, conditions: Mapping[str, Q]) -> Q:
    """Return the condition for any of these words. Raises InvalidInput for an unknown one."""
    found = Q()
    for word in words:
        if word not in conditions:
            text = Message(
                "“{word}” is none of {names}.", word=word[:40], names=", ".join(conditions)
            )
            raise InvalidInput.at(name, text)
        found |= conditions[word]
    return found


def _one_of_these(name: str, conditions: Mapping[str, Q]) -> Callable[[Any, str, Actor], Any]:
    """Return how to narrow rows to those of any of these conditions."""
    return matching(lambda words, actor: _condition(words, name, conditions))


def _clusters(actor: Actor) -> list[tuple[str, str]]:
    return [(name, "") for name in Cluster.objects.order_by("name").values_list("name", flat=True)]


def _named_kinds(kinds: Collection[str]) -> list[tuple[str, str]]:
    return [(kind, gpu_text(kind)) for kind in kinds]


def _models(actor: Actor) -> list[tuple[str, str]]:
    kinds = Gpu.objects.order_by("type").values_list("type", flat=True).distinct()
    return _named_kinds(kinds)


def _with_model(kinds: list[str], actor: Actor) -> Q:
    return Q(id__in=Gpu.objects.filter(type__in=kinds).values("node_id"))


_HEALTH = {
    "unhealthy": Q(health__state__in=UNHEALTHY),
    "quarantined": Q(health__state="quarantined"),
    "draining": Q(health__state="draining"),
    "warning": Q(health__state="warning"),
    # A node without a row was never unhealthy
    "healthy": Q(health=None) | ~Q(health__state__in=UNHEALTHY),
}


def _healths(actor: Actor) -> tuple[tuple[str, Any], ...]:
    return (("unhealthy", pgettext("text, monitoring", "Unhealthy")), *_capitalized(HEALTH.choices))


NODES = ListView(
    name="nodes",
    permission=P.NODES_READ,
    rows=lambda actor: Node.objects.select_related("cluster").defer(*UNREAD),
    represent=node_rows,
    order=Order("cluster__name", "name"),
    max_page_size=500,
    filters=(
        search_in("name", placeholder=_("Part of a name, or state:down model:h100")),
        Filter(
            "state",
            _one_of_these("state", _STATES),
            help="ready, drained or down; out for the last two.",
            label=pgettext("filter", "State"),
            chips=(
                ("", pgettext("choice of a filter", "All")),
                *_capitalized(NODE.choices),
                ("out", pgettext("choice of a filter", "Out of service")),
            ),
            is_multiple=True,
        ),
        Filter(
            "health",
            _one_of_these("health", _HEALTH),
            help="healthy, warning, draining, quarantined, or unhealthy for any of the last three.",
            label=pgettext("filter", "Health"),
            values=_healths,
            is_multiple=True,
        ),
        Filter(
            "cluster",
            one_of("cluster__name"),
            help="Names of clusters.",
            label=pgettext("filter", "Cluster"),
            values=_clusters,
            field="cluster__name",
            is_multiple=True,
        ),
        Filter(
            "model",
            matching(_with_model),
            help="GPU models, such as h100.",
            label=pgettext("filter", "GPU model"),
            values=_models,
            is_multiple=True,
            aliases=("gpu",),
        ),
    ),
    columns=(
        Column("name", pgettext("column", "Node")),
        Column("cluster", None),
        Column("state", pgettext("column", "State")),
        Column("health", None, value=lambda row: row["health"]["state"]),
        Column("gpus", pgettext("column", "GPUs"), value=lambda row: len(row["gpus"])),
        Column("gpu_utilization", _("GPU util (5 min)")),
        Column(
            "cpus",
            pgettext("column", "CPU allocated"),
            "num",
            value=lambda row: row["cpus"]["held"],
        ),
        Column("cpus_total", None, value=lambda row: row["cpus"]["total"]),
        Column("cpu_used", pgettext("column", "CPU usage"), "num", value=None),
        Column("memory", pgettext("column", "Memory used"), "num", value=None),
        Column(
            "jobs",
            pgettext("column", "Jobs"),
            value=lambda row: [job["number"] for job in row["jobs"]],
        ),
        Column("seen_at", pgettext("column, of a node", "Last seen"), "num"),
    ),
    row_template="monitoring/_node_row.html",
)


def _throttled() -> Q:
    """Match GPUs whose clocks are lowered now."""
    devices = Device.objects.filter(node__is_gone=False).order_by()
    owners = [f"node:{pk.hex}" for pk in devices.values_list("node", flat=True).distinct()]
    since = clock.now_ms() - FRESH_MS
    found = Q(pk=None)
    for owner, _name, labels, _value in series.latest_at_least(owners, {"gpu.throttled": 1}, since):
        if (index := labels.get("gpu", "")).isdecimal():
            found |= Q(node=owner.removeprefix("node:"), index=int(index))
    return found


def _in_states(states: list[str], actor: Actor) -> Q:
    known = _DEVICE_STATES | ({"throttled": _throttled()} if "throttled" in states else {})
    return _condition(states, "state", known)


_DEVICE_STATES = {
    "lost": Q(is_lost=True),
    "ready": Q(is_lost=False, node__is_ready=True, node__is_drained=False),
    "drained": Q(is_lost=False, node__is_ready=True, node__is_drained=True),
    "down": Q(is_lost=False, node__is_ready=False),
}


def _device_types(actor: Actor) -> list[tuple[str, str]]:
    kinds = Device.objects.order_by("type").values_list("type", flat=True).distinct()
    return _named_kinds(kinds)


def _in_racks(racks: list[str], actor: Actor) -> Q:
    """Match GPUs of nodes whose label "rack" has one of these values."""
    labels = Node.objects.filter(is_gone=False).values_list("id", "labels")
    return Q(node__in=[node for node, found in labels if rack_of(found) in racks])


def _racks(actor: Actor) -> list[tuple[str, str]]:
    labels = Node.objects.filter(is_gone=False).values_list("labels", flat=True)
    racks = {rack_of(one) for one in labels} - {""}
    return [(rack, "") for rack in sorted(racks)]


def _in_pools(names: list[str], actor: Actor) -> Q:
    """Match GPUs of nodes of pools that the actor may see."""
    visible = {pool.name: pool for pool in pools_visible_to(actor)}
    if not set(names) <= set(visible):
        raise InvalidInput.at("pool", Message("is none that you can see"))
    found: list[UUID] = []
    for pool in (visible[name] for name in names):
        types: dict[UUID, set[str]] = defaultdict(set)
        for node_id, kind in Gpu.objects.filter(node__cluster=pool.cluster_id).values_list(
            "node_id", "type"
        ):
            types[node_id].add(kind)
        nodes = Node.objects.filter(cluster=pool.cluster_id).only("id", "labels", "partitions")
        found += [node.id for node in nodes if is_in(pool, node, types[node.id])]
    return Q(node__in=found)


def _pools(actor: Actor) -> list[tuple[str, str]]:
    return [(name, "") for name in sorted(pool.name for pool in pools_visible_to(actor))]


DEVICES = ListView(
    name="gpus",
    permission=P.NODES_READ,
    rows=lambda actor: Device.objects.select_related("node__cluster").filter(node__is_gone=False),
    represent=device_rows,
    order=Order("node__cluster__name", "node__name", "index", "id"),
    filters=(
        search_in("node__name", "uuid", placeholder=_("Node or UUID, or model:h100 rack:r1")),
        Filter(
            "state",
            matching(_in_states),
            help="ready, drained, down, lost or throttled.",
            label=pgettext("filter", "State"),
            chips=(
                ("", pgettext("choice of a filter", "All")),
                ("ready", pgettext("choice of a filter", "Ready")),
                ("drained", pgettext("state of a node", "Drained")),
                ("down", pgettext("state of a node", "Down")),
                ("lost", pgettext("choice of a filter", "Not responding")),
                ("throttled", pgettext("choice of a filter", "Throttled")),
            ),
            is_multiple=True,
        ),
        Filter(
            "node",
            one_of("node__name"),
            help="Names of nodes.",
            label=pgettext("filter", "Node"),
            is_multiple=True,
        ),
        Filter(
            "cluster",
            one_of("node__cluster__name"),
            help="Names of clusters.",
            label=pgettext("filter", "Cluster"),
            values=_clusters,
            field="node__cluster__name",
            is_multiple=True,
        ),
        Filter(
            "model",
            one_of("type"),
            help="GPU models, such as h100.",
            label=pgettext("filter", "GPU model"),
            values=_device_types,
            field="type",
            is_multiple=True,
            aliases=("gpu",),
        ),
        Filter(
            "rack",
            matching(_in_racks),
            help="Values of the node's label rack.",
            label=pgettext("filter", "Rack"),
            values=_racks,
            is_multiple=True,
        ),
        Filter(
            "pool",
            matching(_in_pools),
            help="Names of pools.",
            label=pgettext("filter", "Pool"),
            values=_pools,
            is_multiple=True,
        ),
    ),
    columns=(
        Column("node", pgettext("column", "GPU")),
        Column("cluster", None),
        Column("uuid", None),
        Column("state", pgettext("column", "State")),
        Column("type", pgettext("column, of a GPU", "Model")),
        Column(
            "mig",
            None,
            value=lambda row: [p["profile"] for p in row["mig"] or ()],
        ),
        Column("utilization", pgettext("column", "Utilization")),
        Column("memory_used", pgettext("column", "Memory used"), "num"),
        Column("memory", None),
        Column("temperature", pgettext("column", "Temperature"), "num"),
        Column("power", pgettext("column, electricity", "Power"), "num"),
        Column(
            "jobs",
            pgettext("column", "Jobs"),
            value=lambda row: [job["number"] for job in row["jobs"]],
        ),
    ),
    row_template="monitoring/_gpu_row.html",
)
