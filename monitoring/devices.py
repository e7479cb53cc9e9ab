"""Physical GPUs: what they are, how they are partitioned, and which jobs use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from clusters.health.selectors import device_findings
from clusters.models import Device
from clusters.workload import JobsByNode
from jobs.models import Attempt, Job
from jobs.models.attempt import placed_on
from jobs.scheduling.cluster_load import jobs_visible_to
from jobs.selectors.jobs import visible_jobs
from jobs.utilization.selectors import gpu_utilization_of_nodes
from monitoring.nodes import FRESH_MS
from portal import series
from portal.core import clock
from portal.core.errors import NotFound
from portal.core.messages import Message
from portal.core.models import Event
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

MOST_PAST_JOBS = 20
MOST_EVENTS = 30
# Metric of the agent → key of the answer
_MEASURED = {
    "gpu.sm.active": "sm_active",
    "gpu.sm.occupancy": "sm_occupancy",
    "gpu.engine.active": "engine_active",
    "gpu.tensor.active": "tensor_active",
    "gpu.memory.used": "memory_used",
    "gpu.memory.bandwidth": "memory_bandwidth",
    "gpu.memory.utilization": "memory_utilization",
    "gpu.power": "power",
    "gpu.temperature": "temperature",
    "gpu.memory.temperature": "memory_temperature",
    "gpu.clock.sm": "clock_sm",
    "gpu.clock.memory": "clock_memory",
    "gpu.pcie.sent": "pcie_sent",
    "gpu.pcie.received": "pcie_received",
    "gpu.nvlink.sent": "nvlink_sent",
    "gpu.nvlink.received": "nvlink_received",
    "gpu.nvlink.errors": "nvlink_errors",
    "gpu.throttled": "is_throttled",
    "gpu.ecc.corrected": "ecc_corrected",
    "gpu.ecc.uncorrected": "ecc_uncorrected",
    "gpu.rows.corrected": "rows_corrected",
    "gpu.rows.uncorrected": "rows_uncorrected",
    "gpu.rows.pending": "rows_pending",
    "gpu.rows.failed": "rows_failed",
}
THROTTLE_REASONS = {
    "power_cap": Message("power limit", context="why a GPU is throttled"),
    "hw_slowdown": Message("hardware slowdown", context="why a GPU is throttled"),
    "sw_thermal": Message("temperature, slowed by the driver"),
    "hw_thermal": Message("temperature, slowed by the hardware"),
    "power_brake": Message("power brake of the machine"),
}


def device_rows(
    devices: Sequence[Device], actor: Actor, jobs: JobsByNode | None = None
) -> list[dict[str, Any]]:
    """Return GPUs with their latest measurements and the jobs that the actor may see."""
    nodes = {device.node_id: device.node for device in devices}
    names = {node.name for node in nodes.values()}
    mine = jobs_visible_to(actor, names) if jobs is None else jobs
    latest = series.latest_of([f"node:{node.hex}" for node in nodes])
    used = gpu_utilization_of_nodes(list(nodes))
    found = device_findings(nodes)
    may_see_serial = actor.may(Permission.CLUSTERS_READ)
    return [
        {
            "id": str(device.id),
            "uuid": device.uuid,
            "node": device.node.name,
            "cluster": device.node.cluster.name,
            "index": device.index,
            "model": device.model,
            "type": device.type,
            "memory": device.memory,
            "serial": device.serial if may_see_serial else "",
            "pci": device.pci,
            "numa": device.numa,
            "links": device.links,
            "driver": device.driver,
            "compute": device.compute,
            "mig": device.mig,
            "state": state_of(device),
            "health": found.get((device.node_id, device.index), []),
            "utilization": used.get(device.node_id, {}).get(str(device.index)),
            **measured(latest[f"node:{device.node_id.hex}"], device.index),
            "throttle_reasons": throttle_reasons(
                latest[f"node:{device.node_id.hex}"], device.index
            ),
            "jobs": [
                job
                for job in mine.get((device.node.cluster_id, device.node.name), ())
                if device.index in (job["gpus"] or ())
            ],
            "seen_at": device.seen_at,
        }
        for device in devices
    ]


def state_of(device: Device) -> str:
    """Return "lost", "drained" or "down" as its node is, else "ready"."""
    return "lost" if device.is_lost else device.node.state


def measured(latest: Mapping[str, Any], index: int) -> dict[str, float | None]:
    """Return the current measurements of a GPU; None for what is missing or old."""
    oldest, found = clock.now_ms() - FRESH_MS, dict[str, float | None]()
    for name, key in _MEASURED.items():
        labels = f"counter=volatile,gpu={index}" if name.startswith("gpu.ecc") else f"gpu={index}"
        point = latest.get(f"{name}{{{labels}}}")
        found[key] = point["value"] if point and point["at"] >= oldest else None
    return found


def throttle_reasons(latest: Mapping[str, Any], index: int) -> list[str]:
    """Return why the clocks of a GPU are throttled now, in words."""
    state = latest.get(f"gpu.throttled{{gpu={index}}}")
    if not state or not state["value"] or state["at"] < clock.now_ms() - FRESH_MS:
        return []
    points = {
        reason: latest.get(f"gpu.throttle{{gpu={index},reason={reason}}}")
        for reason in THROTTLE_REASONS
    }
    return [
        THROTTLE_REASONS[reason]
        for reason, point in points.items()
        if point and point["at"] >= state["at"]
    ]


def find_device(uuid: str, cluster: str = "") -> Device:
    """Return the GPU with this UUID, or NODE:INDEX, as in `cluster`. Raises NotFound."""
    rows = Device.objects.select_related("node__cluster").order_by("is_lost", "-seen_at")
    rows = rows.filter(node__cluster__name=cluster) if cluster.isprintable() and cluster else rows
    node, _, index = uuid.rpartition(":")
    if not uuid.isprintable():
        row = None
    elif node and index.isascii() and index.isdigit() and len(index) < 4:
        row = rows.filter(node__name=node, index=int(index)).first()
    else:
        row = rows.filter(uuid=uuid).first()
    if row is None:
        raise NotFound(f"There is no GPU {uuid[:80]!r}.")
    return row


def past_jobs(device: Device, actor: Actor) -> list[dict[str, Any]]:
    """Return the latest ended jobs on this GPU that the actor may see.

    Known where the portal assigns GPUs; other schedulers do not say which GPU a job had.
    """
    rows = (
        Attempt.objects.filter(
            Q(node=device.node.name) | Q(nodes__isnull=False),
            job__in=visible_jobs(actor),
            state__gte=State.SUCCEEDED,
        )
        .exclude(placement=None)
        .select_related("job", "job__team", "job__owner", "job__org")
        .order_by("-finished_at")
    )
    found = [
        _past(attempt.job, attempt)
        for attempt in rows[: MOST_PAST_JOBS * 10]
        if any(device.uuid in part["uuids"] for part in placed_on(attempt.placement))
    ]
    return found[:MOST_PAST_JOBS]


def _past(job: Job, attempt: Attempt) -> dict[str, Any]:
    return {
        "number": job.number,
        "name": job.name,
        "org": job.org.slug,
        "team": job.team.slug,
        "owner": job.owner.name or job.owner.email,
        "state": State(attempt.state).label,
        "started_at": attempt.started_at,
        "finished_at": attempt.finished_at,
    }


@platform_scope("nodes belong to no organization")
def device_events(node: UUID, index: int) -> list[Event]:
    """Return what the agent reported about a GPU, newest first."""
    rows = Event.objects.filter(subject_id=node, kind__in=("node.xid", "node.noted"))
    return [row for row in rows.order_by("-position")[:300] if row.data.get("gpu") == index][
        :MOST_EVENTS
    ]
