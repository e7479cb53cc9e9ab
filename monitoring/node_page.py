"""What the page of one node shows beside its row: resources, pools, and what happened to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusters.health.checks import STATE_WORDS, HealthState, check_of_xid, why_text
from clusters.health.selectors import SHAPES
from clusters.models import Node
from clusters.services.pools import is_in, pools_visible_to
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
            word = Message("Health: {state}", state=STATE_WORDS[state])
            why = ""
            if data.get("check"):
                why = why_text(data["check"], data.get("gpu"), data.get("params") or {})
            return {"shape": SHAPES[state], "text": Message.joined(". ", (word, why))}
        case "node.xid":
            text, action, is_fault = _xid_words(data)
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
        case _:
            return {"shape": "queued", "text": str(data.get("kind", kind))}


def _xid_words(data: Mapping[str, Any]) -> tuple[Message, str, bool]:
    """Return what happened, what to do, and whether the hardware is at fault."""
    told, code = str(data.get("meaning", "")), data.get("code")
    known = xid_of(code if isinstance(code, int) else 0, told, str(data.get("action", "")))
    text = Message(
        "XID {code} on GPU {gpu}: {meaning}",
        code=data.get("code", "?"),
        gpu=data.get("gpu", "?"),
        meaning=told or known.meaning,
    )
    check = check_of_xid(known.code, known.kind)
    advice = check.advice if check else _BY_PROGRAM if known.kind is XidClass.PROGRAM else ""
    return text, advice, known.kind.is_hardware
