"""What the checks find on the nodes of one cluster now, in a fixed number of statements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Max

from clusters.health.checks import Action, HealthCheck, check_of_xid
from clusters.models import Device, Node
from portal import series
from portal.core import clock
from portal.core.models import Event
from schedulers.xids import xid_of
from workspaces.tenancy.scope import platform_scope

FRESH_MS = 120_000  # an older measurement says nothing about now
SETTLED = 5.0  # seconds after which no transaction still adds an event before those already read
NODE = -1  # "GPU" of a finding about the whole node
_REPORTS = ("memory.used", "gpu.temperature")  # of every agent, and of exporters of GPUs only
Key = tuple[UUID, int, str]  # node, GPU, check


@dataclass
class Findings:
    """Present conditions by key, and XIDs since the last evaluation with their times.

    `measured` are nodes whose agent reports now, `lost` GPUs that do not respond: of all others it is
    unknown whether an earlier condition has ended.
    """

    present: dict[Key, dict[str, Any]] = field(default_factory=dict)
    xids: dict[Key, tuple[datetime, dict[str, Any]]] = field(default_factory=dict)
    measured: set[UUID] = field(default_factory=set)
    lost: set[tuple[UUID, int]] = field(default_factory=set)

    def is_known(self, key: Key) -> bool:
        """Return whether an absent condition has ended, rather than is not measured."""
        node, gpu, code = key
        if code == "silent":
            return True
        return node in self.measured and ((node, gpu) not in self.lost or code == "device_lost")


def findings_on(nodes: Mapping[UUID, bool], checks: Mapping[str, HealthCheck]) -> Findings:
    """Return the conditions on these nodes; `nodes`: whether each is ready, by id."""
    found = Findings()
    owners = {f"node:{node.hex}": node for node in nodes}
    now = clock.now_ms()
    reported = {
        owners[owner]: at
        for owner, at in series.latest_times(list(owners), _REPORTS).items()
        if owner in owners
    }
    found.measured = {node for node, at in reported.items() if at >= now - FRESH_MS}
    _find_metrics(found, owners, checks, now)
    devices = Device.objects.filter(node__in=list(nodes)).order_by()
    found.lost = set(devices.filter(is_lost=True).values_list("node_id", "index"))
    for node, gpu in found.lost:
        found.present[node, gpu, "device_lost"] = {}
    _find_links(found, devices)
    _find_counts(found, devices)
    _find_drivers(found, devices)
    silent = checks["silent"].threshold or 0
    for node, at in reported.items():
        minutes = (now - at) // 60_000
        if nodes[node] and minutes >= silent:
            found.present[node, NODE, "silent"] = {"value": minutes}
    for key in [key for key in found.present if checks[key[2]].action is Action.OFF]:
        del found.present[key]
    return found


def _find_metrics(
    found: Findings, owners: Mapping[str, UUID], checks: Mapping[str, HealthCheck], now: int
) -> None:
    compared = [c for c in checks.values() if c.metric and c.action is not Action.OFF]
    least: dict[str, float] = {}
    for check in compared:
        least[check.metric] = min(check.threshold or 0, least.get(check.metric, float("inf")))
    by_metric: dict[str, list[HealthCheck]] = defaultdict(list)
    for check in compared:
        by_metric[check.metric].append(check)
    for owner, name, labels, value in series.latest_at_least(list(owners), least, now - FRESH_MS):
        gpu = labels.get("gpu", "")
        for check in by_metric[name]:
            is_meant = not check.labels or check.labels in labels.values()
            if is_meant and gpu.isdecimal() and len(gpu) < 4 and value >= (check.threshold or 0):
                found.present[owners[owner], int(gpu), check.code] = {"value": round(value, 1)}


def _find_links(found: Findings, devices: Any) -> None:
    counts = devices.exclude(links=None).values_list("model", "links").annotate(n=Count("id"))
    for model, expected in _usual(counts).items():
        rows = devices.filter(model=model, links__lt=expected, is_lost=False)
        for node, gpu, links in rows.values_list("node_id", "index", "links"):
            found.present[node, gpu, "nvlink_down"] = {"found": links, "expected": expected}


def _find_counts(found: Findings, devices: Any) -> None:
    rows = list(
        devices.filter(is_lost=False).values_list("node_id", "model").annotate(n=Count("id"))
    )
    numbers = Counter((model, n) for _, model, n in rows)
    usual = _usual((model, n, times) for (model, n), times in numbers.items())
    for node, model, n in rows:
        if n < usual.get(model, 0):
            found.present[node, NODE, "gpu_count"] = {"found": n, "expected": usual[model]}


def _find_drivers(found: Findings, devices: Any) -> None:
    known = devices.exclude(driver="").filter(is_lost=False)
    counts = known.values_list("model", "driver").annotate(n=Count("node_id", distinct=True))
    for model, expected in _usual(counts).items():
        rows = known.filter(model=model).exclude(driver=expected)
        for node, driver in rows.values_list("node_id", "driver").distinct():
            found.present[node, NODE, "driver"] = {"found": driver, "expected": expected}


def _usual(counts: Any) -> dict[str, Any]:
    """Return the value of more than half, by model, from rows of (model, value, number)."""
    by_model: dict[str, Counter[Any]] = defaultdict(Counter)
    for model, value, number in counts:
        by_model[model][value] += number
    return {
        model: value
        for model, numbers in by_model.items()
        for value, number in numbers.most_common(1)
        if number * 2 > numbers.total()
    }


def last_position() -> int:
    """Return the position of the newest event."""
    return Event.objects.aggregate(at=Max("position"))["at"] or 0


@platform_scope("nodes belong to no organization")
def read_xids(
    found: Findings, nodes: Collection[UUID], checks: Mapping[str, HealthCheck], after: int
) -> int:
    """Add the XIDs that agents reported after this event; return the position to go on from."""
    rows = Event.objects.filter(position__gt=after).order_by("position")
    # Up to the first young event: a clock that is behind dates later ones earlier
    now, settled = clock.now(), timedelta(seconds=SETTLED)
    young = rows.filter(at__gt=now - settled, at__lt=now + settled).first()
    newest = young.position - 1 if young else rows.aggregate(at=Max("position"))["at"]
    if newest is None or newest <= after:
        return after
    for event in rows.filter(position__lte=newest, kind="node.xid"):
        node, code = event.subject_id, event.data.get("code")
        if node is None or node not in nodes or not isinstance(code, int) or isinstance(code, bool):
            continue
        xid = xid_of(code, str(event.data.get("meaning", "")), str(event.data.get("action", "")))
        check = check_of_xid(code, xid.kind)
        if check is None or checks[check.code].action is Action.OFF:
            continue
        gpu = event.data.get("gpu")
        index = gpu if isinstance(gpu, int) and 0 <= gpu < 1000 else NODE
        params = {"xid": code, "meaning": str(xid.meaning)}
        found.xids[node, index, check.code] = (event.at, params)
    return int(newest)


def ready_nodes(cluster_id: UUID) -> dict[UUID, bool]:
    """Return whether each node of a cluster is ready, by id."""
    rows = Node.objects.filter(cluster=cluster_id, is_gone=False)
    return dict(rows.values_list("id", "is_ready"))
