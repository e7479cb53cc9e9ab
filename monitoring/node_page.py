"""What the page of one node shows beside its row: resources, pools, and what happened to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from clusters.health.checks import HealthState, check_of_xid, why_text
from clusters.models import Device, Node
from clusters.pools import is_in, pools_visible_to
from clusters.states import HEALTH
from monitoring.nodes import measured
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.core.models import Event
from schedulers.xids import XidClass, xid_of
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

MOST_EVENTS = 20
_BY_PROGRAM = Message("The program on this GPU caused it.")


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
def node_events(node: Node, actor: Actor) -> list[dict[str, Any]]:
    """Return what happened to the node, newest first: `at`, `shape`, `text`, and `who`.

    Only operators are told who did it.
    """
    rows = Event.objects.filter(subject_id=node.id, kind__startswith="node.")
    return [
        {"at": event.at, "who": event.actor if actor.may(Permission.CLUSTERS_READ) else ""}
        | event_line(event.kind, event.data)
        for event in rows.order_by("-position")[:MOST_EVENTS]
    ]


def event_line(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return `shape` and `text` of an event of a node."""
    match kind:
        case "node.drained":
            return {"shape": "canceled", "text": Message("Drained: {why}", why=data.get("why", ""))}
        case "node.resumed":
            return {"shape": "succeeded", "text": Message("Resumed")}
        case "node.health_changed":
            state = HealthState(data.get("after", {}).get("state", HealthState.HEALTHY))
            label = Message("Health: {state}", state=HEALTH[state].word)
            why = ""
            if data.get("check"):
                why = why_text(data["check"], data.get("gpu"), data.get("params") or {})
            return {"shape": HEALTH[state].shape, "text": Message.joined(". ", (label, why))}
        case "node.xid":
            text, action, is_fault = _xid_text(data)
            return {
                "shape": "failed" if is_fault else "unknown",
                "text": Message.joined(". ", (text, action)) if action else text,
            }
        case "node.noted" if data.get("kind") == "gpu_lost":
            return {
                "shape": "failed",
                "text": Message("GPU {gpu} stopped responding", gpu=data.get("gpu", "?")),
            }
        case "node.noted" if data.get("kind") == "driver_lost":
            return {"shape": "failed", "text": Message("The NVIDIA driver stopped responding")}
        case "node.noted" if data.get("kind") == "impossible_value":
            return {
                "shape": "unknown",
                "text": Message(
                    "{name}: {value} {unit} is not possible, and was not stored",
                    name=data.get("metric", "?"),
                    value=data.get("value", "?"),
                    unit=data.get("unit", ""),
                ),
            }
        case _:
            return {"shape": "queued", "text": str(data.get("kind", kind))}


def _xid_text(data: Mapping[str, Any]) -> tuple[Message, str, bool]:
    """Return what happened, what to do, and whether the hardware is at fault."""
    meaning, code = str(data.get("meaning", "")), data.get("code")
    known = xid_of(code if isinstance(code, int) else 0, meaning, str(data.get("action", "")))
    text = Message(
        "XID {code} on GPU {gpu}: {meaning}",
        code=data.get("code", "?"),
        gpu=data.get("gpu", "?"),
        meaning=meaning or known.meaning,
    )
    check = check_of_xid(known.code, known.kind)
    advice = check.advice if check else _BY_PROGRAM if known.kind is XidClass.PROGRAM else ""
    return text, advice, known.kind.is_hardware
