"""MIG plans as people and programs see them: slots before and after, jobs that must end, progress."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count

from clusters.mig.layouts import Stored
from clusters.models import Cluster, Device, MigPlan, MigPlanNode, MigSettings
from clusters.services import mig_plans
from clusters.services.pool_requests import reservations_of_nodes
from clusters.workload import workload
from portal.core.messages import Message
from schedulers import mig
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission

MOST_NODES = 100  # of a plan on its page
State, Method = MigPlanNode.State, MigSettings.Method
METHODS = {
    Method.OFF: (
        Message("Not allowed", context="how GPUs are partitioned"),
        Message("GPUs keep their layout."),
    ),
    Method.AGENT: (
        Message("Node agent", context="how GPUs are partitioned"),
        Message(
            "The agent of each node changes instances through NVIDIA's driver. It must run as "
            "root with --allow-mig, and asks the portal for its work."
        ),
    ),
    Method.LABEL: (
        Message("GPU operator", context="how GPUs are partitioned"),
        Message(
            "The portal sets the node label nvidia.com/mig.config, and NVIDIA's GPU operator "
            "applies the configuration. It chooses the placements itself."
        ),
    ),
    Method.HAND: (
        Message("By hand", context="how GPUs are partitioned"),
        Message(
            "The portal drains a node, waits until you have partitioned its GPUs, and returns it to "
            "service."
        ),
    ),
}


def title_of(plan: MigPlan) -> Message | str:
    """Return what a plan is for: "14 × 1g.10gb, 2 × full GPU"."""
    if plan.undoes_id:
        return Message("Undo", context="text, clusters")
    names = {mig.FULL: Message("full GPU", context="part of a sentence")}
    return Message.joined(
        ", ",
        [
            Message("{n} × {what}", n=n, what=names.get(name, name))
            for name, n in sorted(plan.wish.items())
        ],
    )


def node_rows(plan: MigPlan, actor: Actor, most: int = MOST_NODES) -> list[dict[str, Any]]:
    """Return the nodes of a plan in the order of names, with slots and running jobs."""
    rows = list(plan.nodes.select_related("node").order_by("node__name")[:most])
    may_see = bool(rows) and actor.may(Permission.CLUSTERS_READ)
    jobs = workload().jobs_of_all(actor, {row.node.name for row in rows}) if may_see else {}
    kept = reservations_of_nodes(plan.cluster_id, {row.node.name for row in rows}, actor)
    return [
        _node(row, jobs.get((plan.cluster_id, row.node.name), ()), plan)
        | {"reservations": kept.get(row.node.name, [])}
        for row in rows
    ]


def _node(row: MigPlanNode, jobs: Sequence[Mapping[str, Any]], plan: MigPlan) -> dict[str, Any]:
    is_by_hand = row.state == State.CHANGING and plan.method == Method.HAND
    return {
        "name": row.node.name,
        "state": row.state,
        "since": row.since,
        "note": row.note,
        "error": row.error,
        "is_restored": row.is_restored,
        "is_drained": row.node.is_drained,
        "waits_for_person": is_by_hand or (row.state == State.CONFIGURING and bool(row.note)),
        "jobs": [job for job in jobs if row.state in (State.WAITING, State.DRAINING)],
        "unchanged": len(row.gpus) - len(row.changes),
        "gpus": [
            {
                "index": gpu["index"],
                "uuid": gpu["uuid"],
                "type": gpu["type"],
                "before": slots(gpu["model"], gpu["before"], gpu["after"], "removed"),
                "after": slots(gpu["model"], gpu["after"], gpu["before"], "created"),
            }
            for gpu in sorted(row.changes, key=lambda gpu: int(gpu["index"]))
        ],
    }


def slots(model: str, layout: Stored, other: Stored, changed: str) -> dict[str, Any]:
    """Return the instances of a layout as places on the memory slices of the GPU.

    `changed` is what an instance is called that is not in the other layout.
    """
    known = mig.MODELS.get(model)
    count = known.slices if known else 8
    if layout is None:
        mark = "kept" if other is None else changed
        whole = {"profile": "", "start": 1, "size": count, "mark": mark}
        return {"slices": count, "parts": [whole]}
    kept = [] if other is None else other
    parts: list[dict[str, Any]] = []
    taken: set[int] = set()
    for one in layout:
        profile = known.profile(one["profile"]) if known else None
        size = profile.size if profile else 1
        taken |= set(range(one["start"], one["start"] + size))
        mark = "kept" if one in kept else changed
        parts.append(
            {"profile": one["profile"], "start": one["start"] + 1, "size": size, "mark": mark}
        )
    free = [
        {"profile": "", "start": at + 1, "size": 1, "mark": "free"}
        for at in range(count)
        if at not in taken
    ]
    for part in parts:
        part["compute"], _, part["memory"] = part["profile"].partition(".")
    return {"slices": count, "parts": sorted([*parts, *free], key=lambda part: part["start"])}


def settings_rows() -> list[dict[str, Any]]:
    """Return every cluster with GPUs that agents report: its settings and what it offers."""
    gpus, models = Counter[UUID](), defaultdict[UUID, set[str]](set)
    partitioned, instances = Counter[UUID](), defaultdict[UUID, Counter[str]](Counter)
    devices = Device.objects.filter(node__is_gone=False, is_lost=False)
    alike = devices.values_list("node__cluster_id", "model", "memory").annotate(n=Count("id"))
    for cluster_id, name, memory, n in alike:
        if model := mig.model_of(name, memory):
            gpus[cluster_id] += n
            models[cluster_id].add(model.name)
    cut = devices.filter(mig__isnull=False)
    for cluster_id, parts in cut.values_list("node__cluster_id", "mig"):
        partitioned[cluster_id] += 1
        instances[cluster_id].update(part["profile"] for part in parts or ())
    return [
        {
            "cluster": cluster,
            "gpus": gpus[cluster.id],
            "partitioned": partitioned[cluster.id],
            "models": models[cluster.id],
            "settings": (settings := mig_plans.settings_of(cluster)),
            "method": METHODS[Method(settings.method)][0],
            "instances": sorted(instances[cluster.id].items(), reverse=True),
        }
        for cluster in Cluster.objects.filter(id__in=gpus).order_by("name")
    ]


def as_dict(plan: MigPlan, actor: Actor, *, is_whole: bool = True) -> dict[str, Any]:
    """Return a plan as the API does; `is_whole` with its nodes, configurations and obstacles."""
    found: dict[str, Any] = {
        "id": plan.id,
        "cluster": plan.cluster.name,
        "state": plan.state,
        "wish": plan.wish,
        "missing": plan.missing,
        "method": plan.method or mig_plans.settings_of(plan.cluster).method,
        "undoes": plan.undoes_id,
        "created_at": plan.created_at,
        "created_by": plan.created_by,
        "started_at": plan.started_at,
        "started_by": plan.started_by,
        "finished_at": plan.finished_at,
    }
    if not is_whole:
        return found
    jobs = {row["name"]: row["jobs"] for row in node_rows(plan, actor, most=10_000)}
    rows = plan.nodes.select_related("node").order_by("node__name")
    is_draft = plan.state == MigPlan.State.DRAFT
    return found | {
        "obstacles": [str(one) for one in mig_plans.obstacles(plan)] if is_draft else [],
        "files": mig_plans.files_of(plan),
        "configs": mig_plans.configs_of(plan),
        "nodes": [
            {
                "name": row.node.name,
                "state": row.state,
                "note": row.note,
                "error": row.error,
                "is_restored": row.is_restored,
                "since": row.since,
                "jobs": [
                    {"org": job["org"], "number": job["number"]} for job in jobs[row.node.name]
                ],
                "gpus": [
                    {name: gpu[name] for name in ("index", "uuid", "type", "before", "after")}
                    for gpu in row.changes
                ],
            }
            for row in rows
        ],
    }


def settings_dict(settings: MigSettings) -> dict[str, Any]:
    """Return the settings of a cluster as the API does."""
    return {
        "cluster": settings.cluster.name,
        "method": settings.method,
        "methods": mig_plans.methods_of(settings.cluster),
        "nodes_at_once": settings.nodes_at_once,
        "drain_minutes": settings.drain_minutes,
        "change_minutes": settings.change_minutes,
        "may_reconfigure": settings.may_reconfigure,
    }
