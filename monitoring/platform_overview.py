"""Numbers of the whole installation for operators."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import orjson
from django.db.models import Q, Sum

from clusters.models import Node
from jobs.models import AttemptUtilization, GpuTime
from jobs.selectors.gpu_use import allocated_by
from monitoring.gpu_grid import current_gpus
from portal.core import clock
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization
from workspaces.tenancy.scope import platform_scope

IDLE = 10  # percent of use below which an allocated GPU counts as idle, as in gpu-grid.js
MOST_NODES, MOST_ORGS = 10, 10
HOUR_MS = 3_600_000
_REASON = "operators see who uses the GPUs of the installation"


def gpu_counts(actor: Actor) -> dict[str, Any]:
    """Return the number of GPUs by state as the GPU wall shows them, in all and by cluster.

    The states: total, free, reserved, allocated (busy, idle and unmeasured), off. `use` is the
    mean utilization of the measured allocated GPUs, None if none is measured. Raises NotPermitted.
    """
    authorize(actor, Permission.CLUSTERS_READ)
    gpus_now = current_gpus()
    nodes, use = orjson.loads(gpus_now.nodes), orjson.loads(gpus_now.use)
    names = [cluster.name for cluster in gpus_now.clusters]
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    for at, (_name, cluster, state, gpus, bits, *_) in enumerate(nodes):
        mine = counts[names[cluster]]
        allocated = 0 if state == 2 else bits & ((1 << gpus) - 1)
        taken = allocated.bit_count()
        measured = [n for gpu, n in enumerate(use[at]) if allocated >> gpu & 1 and n >= 0]
        idle = sum(percent < IDLE for percent in measured)
        mine["total"] += gpus
        kept = 0 if state else min(gpus_now.reserved.get(at, 0), gpus - taken)
        mine["off" if state else "free"] += gpus - taken - kept
        mine["reserved"] += kept
        mine["allocated"] += taken
        mine["unmeasured"] += taken - len(measured)
        mine["idle"] += idle
        mine["busy"] += len(measured) - idle
        mine["percent"] += sum(measured)
    whole = sum(counts.values(), Counter())
    return _with_use(whole) | {"clusters": {name: _with_use(n) for name, n in counts.items()}}


def _with_use(counts: Counter[str]) -> dict[str, Any]:
    measured = counts["busy"] + counts["idle"]
    names = ("total", "free", "reserved", "off", "allocated", "busy", "idle", "unmeasured")
    return {name: counts[name] for name in names} | {
        "use": counts["percent"] / measured / 100 if measured else None
    }


def nodes_out_of_service() -> tuple[list[Node], int]:
    """Return nodes that are down or drained, the last change first, and how many there are."""
    rows = (
        Node.objects.filter(is_gone=False)
        .filter(Q(is_ready=False) | Q(is_drained=True))
        .select_related("cluster")
        .order_by("is_ready", "-seen_at")
    )
    found = list(rows[:MOST_NODES])
    return found, rows.count() if len(found) == MOST_NODES else len(found)


def organizations_by_use(actor: Actor) -> list[dict[str, Any]]:
    """Return organizations that used GPUs within 24 hours, those that wasted most first.

    `gpus` are allocated now, `idle` those of them that have been idle for long. Of the last 24
    hours: `allocated` and `wasted` GPU hours (measured, but not used), `use` the share that was
    used. Raises NotPermitted.
    """
    authorize(actor, Permission.CLUSTERS_READ)
    now = clock.now()
    with platform_scope(_REASON):
        allocated = allocated_by("org_id")
        times = {
            row["org_id"]: row
            for row in GpuTime.objects.filter(start__gte=now - timedelta(hours=24))
            .order_by()
            .values("org_id")
            .annotate(Sum("allocated"), Sum("measured"), Sum("used"))
        }
        idle = _idle_now()
        orgs = Organization.objects.in_bulk([*{*allocated, *times}])
    rows = [_org_row(org, allocated[pk], idle[pk], times.get(pk, {})) for pk, org in orgs.items()]
    rows.sort(key=lambda row: (-row["wasted"], -row["gpus"], row["name"]))
    return rows[:MOST_ORGS]


def _org_row(org: Organization, gpus: int, idle: int, time: dict[str, Any]) -> dict[str, Any]:
    measured, used = time.get("measured__sum", 0), time.get("used__sum", 0)
    return {
        "slug": org.slug,
        "name": org.name,
        "gpus": gpus,
        "idle": idle,
        "allocated": time.get("allocated__sum", 0) / HOUR_MS,
        "wasted": (measured - used) / HOUR_MS,
        "use": used / measured if measured else None,
    }


def _idle_now() -> Counter[Any]:
    """Return the number of GPUs that have been idle for long, by organization."""
    found: Counter[Any] = Counter()
    rows = AttemptUtilization.objects.filter(idle_since__isnull=False)
    for org_id, gpus in rows.values_list("org_id", "gpus"):
        found[org_id] += sum(1 for gpu in gpus.values() if gpu.get("idle_since"))
    return found
