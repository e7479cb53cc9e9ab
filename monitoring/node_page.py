"""What the page of one node shows beside its row: resources, pools, and what happened to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clusters.models import Device, Node
from clusters.pools import is_in, pools_visible_to
from monitoring.nodes import measured
from portal.core.formatting import gpu_text
from portal.core.models import Event
from schedulers.capacity import ReservedGpus
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.audit.event_links import EventLine, event_lines
from workspaces.tenancy.scope import platform_scope

MOST_EVENTS = 20


def pools_of_node(node: Node, actor: Actor) -> list[str]:
    """Return the names of the pools with this node that the actor may see."""
    types = set(node.gpus.values_list("type", flat=True))
    return [
        pool.name
        for pool in pools_visible_to(actor)
        if pool.cluster_id == node.cluster_id and is_in(pool, node, types)
    ]


def gpu_tables(row: Mapping[str, Any], devices: Sequence[Device]) -> dict[str, Any]:
    """Return `whole`, GPUs with those that MIG partitions, and `instances` of MIG.

    `row` is of `nodes.node_row`. A partitioned GPU is not handed out itself, but has a temperature.
    Only a scheduler that knows instances by UUID tells who uses them.
    """
    latest, by_index = row["latest"], {device.index: device.uuid for device in devices}
    parted = {device.index for device in devices if device.mig is not None}
    whole = [
        gpu | {"device": by_index.get(gpu["index"], "")}
        for gpu in row["gpus"]
        if not gpu["type"].startswith("mig-") and gpu["index"] not in parted  # until an inventory
    ]
    given = {gpu["uuid"]: gpu for gpu in row["gpus"] if gpu["type"].startswith("mig-")}
    instances = []
    for device in devices:
        if device.mig is None:
            continue
        one = {name: getattr(device, name) for name in ("index", "uuid", "model", "type", "memory")}
        found = measured(latest, f"gpu={device.index}")
        whole.append(one | found | {"device": device.uuid, "parts": len(device.mig)})
        for at, part in enumerate(device.mig):
            number = at if part.get("index") is None else part["index"]
            instances.append(
                {"is_known": part["uuid"] in given, **given.pop(part["uuid"], {})}
                | {"gpu": device.index, "device": device.uuid, "number": number}
                | {"type": f"mig-{part['profile']}", "memory": part["memory"]}
                | measured(latest, f"gpu={device.index},mig={number}")
            )
    if not instances:  # no agent tells where they are
        instances = [gpu | {"gpu": None, "is_known": True} for gpu in given.values()]
    kinds = Counter(gpu["model"] for gpu in whole if "parts" not in gpu)
    kinds.update(gpu_text(gpu["type"]) for gpu in instances)
    return {
        "whole": sorted(whole, key=lambda gpu: gpu["index"]),
        "instances": instances,
        "gpu_kinds": list(kinds.items()),
        "has_sm_activity": any(gpu["sm_active"] is not None for gpu in whole),
        "has_types": len({gpu["type"] for gpu in whole}) > 1,
        "has_instance_activity": any(gpu.get("sm_active") is not None for gpu in instances),
        "has_users": any(gpu["is_known"] for gpu in instances),
    }


def mark_reserved(gpus: list[dict[str, Any]], reserved: Iterable[ReservedGpus]) -> None:
    """Mark the last unused GPUs as kept for single teams, as the overview of all GPUs does."""
    for kept in reserved:
        alike = [
            gpu
            for gpu in gpus
            if gpu["type"] == kept.gpu_type and not (gpu["is_held"] or gpu.get("is_reserved"))
        ]
        for gpu in alike[-kept.gpus :] if kept.gpus else []:
            gpu["is_reserved"] = True


def disks_of(latest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the file systems that the agent reports: name, used and total bytes."""
    found = []
    for point in latest.values():
        if point["name"] == "disk.total" and point["value"]:
            labels = ",".join(f"{k}={v}" for k, v in sorted(point["labels"].items()))
            used = latest.get(f"disk.used{{{labels}}}" if labels else "disk.used")
            if used:
                name = next(iter(point["labels"].values()), "/")
                found.append({"name": name, "used": used["value"], "total": point["value"]})
    return found


@platform_scope("nodes belong to no organization")
def node_events(node: Node, actor: Actor) -> list[EventLine]:
    """Return what happened to the node, newest first. Only operators are told who did it."""
    rows = Event.objects.filter(subject_id=node.id, kind__startswith="node.")
    return lines_of(rows.order_by("-position")[:MOST_EVENTS], actor)


@platform_scope("nodes belong to no organization")
def lines_of(events: Iterable[Event], actor: Actor) -> list[EventLine]:
    """Return the lines of events of a node or of one of its GPUs."""
    may_know = actor.may(Permission.CLUSTERS_READ)
    return event_lines(list(events), None, names_actors=may_know, has_links=may_know)
