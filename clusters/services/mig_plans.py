"""Plan how GPUs are partitioned: draft, check, apply, undo. `mig_progress` does the work.

Operators only. A plan changes one cluster; one plan is applied there at a time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from clusters.backends import backend_of
from clusters.mig.layouts import (
    Stored,
    as_stored,
    gpu_layouts,
    gpu_state,
    stored_layout,
    why_unknown,
)
from clusters.models import Cluster, Device, MigPlan, MigPlanNode, MigSettings, Node
from clusters.node_capacity import node_usage_of
from clusters.reserved_gpus import reserved_in
from clusters.services.drain import may_drain
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers import backends, mig
from schedulers.contract import (
    Capability,
    Rejected,
    SupportsGpuFiles,
    SupportsMigLabels,
    Unavailable,
)
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

State, NodeState, Method = MigPlan.State, MigPlanNode.State, MigSettings.Method
ADVANCE = "clusters.advance_mig_plans"  # the task
MOST_WISHES, MOST_GPUS, MOST_NODES = 10, 100_000, 2_000
_LIMITS = {"nodes_at_once": 100, "drain_minutes": 30 * 1440, "change_minutes": 1440}
_PROFILES = {one.name for model in mig.MODELS.values() for one in model.profiles} | {mig.FULL}


def settings_of(cluster: Cluster) -> MigSettings:
    """Return the settings of a cluster; without a row MIG is off."""
    return MigSettings.objects.filter(cluster=cluster).first() or MigSettings(cluster=cluster)


def methods_of(cluster: Cluster) -> list[str]:
    """Return the ways in which the GPUs of this cluster can be partitioned."""
    kind = backends().get(cluster.backend)
    has_labels = kind is not None and Capability.MIG_LABELS in kind.capabilities
    by_node = [Method.AGENT, Method.HAND] if may_drain(cluster) else []
    return [str(one) for one in (Method.OFF, *by_node, *([Method.LABEL] if has_labels else []))]


def has_gpu_files(cluster: Cluster) -> bool:
    """Return whether files of the scheduler name the GPUs."""
    kind = backends().get(cluster.backend)
    return kind is not None and Capability.GPU_FILES in kind.capabilities


@transaction.atomic
def change_settings(*, actor: Actor, cluster: Cluster, **given: Any) -> MigSettings:
    """Change how GPUs of a cluster may be partitioned. Raises NotPermitted, InvalidInput."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    Cluster.objects.select_for_update().get(id=cluster.id)
    row = settings_of(cluster)
    names = ("method", *_LIMITS, "may_reconfigure")
    before = {name: getattr(row, name) for name in names}
    if given.get("method", row.method) not in methods_of(cluster):
        raise InvalidInput.at("method", "is not possible on this cluster")
    for name, most in _LIMITS.items():
        if not 0 < given.get(name, 1) <= most:
            raise InvalidInput.at(name, Message("must be from 1 to {n}", n=most))
    for name in names:
        setattr(row, name, given.get(name, before[name]))
    row.save()
    after = {name: getattr(row, name) for name in names}
    _record("settings_changed", actor.email, cluster, cluster.id, changes(before, after))
    return row


@transaction.atomic
def draft_plan(
    *, actor: Actor, cluster: Cluster, wish: Mapping[str, int], nodes: Sequence[str] = ()
) -> MigPlan:
    """Plan the changes after which the nodes offer at least the wish; nothing is changed yet.

    `wish` counts instances by profile ("1g.10gb", "mig-1g.10gb") and whole GPUs as "full". No
    `nodes`: any node. Raises NotPermitted, InvalidInput, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    wished = _checked_wish(wish)
    devices = _devices_of(cluster, nodes)
    used, avoided = _used_nodes(cluster), _avoided_nodes(cluster)
    states = [
        gpu_state(device, is_used=device.node_id in used, is_avoided=device.node.name in avoided)
        for device in devices
    ]
    known = [state for state in states if state is not None]
    if not known:
        raise Conflict(
            Message("No GPU with MIG is reported there. Run muster-agent on the nodes."),
            code="no_mig",
        )
    found = mig.plan(known, wished)
    plan = MigPlan.objects.create(
        cluster=cluster,
        wish=wished,
        missing=dict(found.missing),
        only_nodes=sorted(nodes),
        created_by=actor.email,
    )
    changed = {change.gpu.uuid: change for change in found.changes}
    _add_nodes(plan, devices, {uuid: as_stored(one.after) for uuid, one in changed.items()}, used)
    _record("planned", actor.email, cluster, plan.id, {"after": _facts(plan)})
    return plan


@transaction.atomic
def undo_plan(*, actor: Actor, plan_id: UUID) -> MigPlan:
    """Draft the plan back to the layout before. Raises NotPermitted, NotFound, Conflict."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    former = _locked(plan_id)
    if former.state not in (State.DONE, State.FAILED):
        raise Conflict(Message("Only a finished plan can be undone."))
    rows = former.nodes.select_related("node")
    targets = {gpu["uuid"]: gpu["before"] for row in rows for gpu in row.changes}
    devices = _devices_of(former.cluster, sorted(row.node.name for row in rows))
    back = {
        device.uuid: targets[device.uuid]
        for device in devices
        if device.uuid in targets and stored_layout(device) != targets[device.uuid]
    }
    if not back:
        raise Conflict(Message("The GPUs have the layout from before already."))
    used = _used_nodes(former.cluster)
    plan = MigPlan.objects.create(
        cluster=former.cluster, undoes=former, created_by=actor.email, wish={}
    )
    _add_nodes(plan, devices, back, used)
    _record("planned", actor.email, former.cluster, plan.id, {"after": _facts(plan)})
    return plan


def apply_plan(*, actor: Actor, plan_id: UUID) -> MigPlan:
    """Start to apply a draft, node by node. Raises NotPermitted, NotFound, Conflict."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    plan = find_plan(plan_id)
    # This asks the cluster, so it is done before the transaction
    if plan.state == State.DRAFT and (found := _missing_configs(plan)):
        raise Conflict(found[0], code="cannot_apply")
    return _start(actor, plan_id)


@transaction.atomic
def _start(actor: Actor, plan_id: UUID) -> MigPlan:
    plan = _locked(plan_id)
    Cluster.objects.select_for_update().get(id=plan.cluster_id)
    if plan.state != State.DRAFT:
        raise Conflict(Message("This plan was applied already."))
    if found := _stored_obstacles(plan):
        raise Conflict(found[0], code="cannot_apply")
    plan.state, plan.method = State.APPLYING, settings_of(plan.cluster).method
    plan.started_at, plan.started_by = clock.now(), actor.email
    plan.save()
    _record("applied", actor.email, plan.cluster, plan.id, {"after": _facts(plan)})
    wake_worker(ADVANCE)
    return plan


@transaction.atomic
def stop_plan(*, actor: Actor, plan_id: UUID) -> MigPlan:
    """Leave out the nodes that have not been changed; those being changed are finished.

    Raises NotPermitted, NotFound, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    plan = _locked(plan_id)
    if plan.state != State.APPLYING:
        raise Conflict(Message("This plan isn't being applied."))
    why, now = Message("Stopped by {who}.", who=actor.email), clock.now()
    plan.nodes.filter(state=NodeState.WAITING).update(state=NodeState.SKIPPED, since=now)
    plan.nodes.filter(state=NodeState.DRAINING).update(
        state=NodeState.RESUMING, since=now, error=why, is_restored=True
    )
    _record("stopped", actor.email, plan.cluster, plan.id, {})
    wake_worker(ADVANCE)
    return plan


@transaction.atomic
def confirm_node(*, actor: Actor, plan_id: UUID, node: str) -> MigPlan:
    """Say that an administrator has done the step that a node waits for.

    Raises NotPermitted, NotFound, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    plan = _locked(plan_id)
    row = plan.nodes.filter(node__name=node).first() if node.isprintable() else None
    if row is None or plan.state != State.APPLYING:
        raise NotFound(Message("There is no such node in this plan."))
    is_by_hand = row.state == NodeState.CHANGING and plan.method == Method.HAND
    if not is_by_hand and row.state != NodeState.CONFIGURING:
        raise Conflict(Message("This node doesn't wait for anybody."))
    after = NodeState.CONFIGURING if is_by_hand else NodeState.RESUMING
    plan.nodes.filter(id=row.id).update(state=after, since=clock.now(), note="")
    _record("confirmed", actor.email, plan.cluster, plan.id, {"node": node, "step": row.state})
    wake_worker(ADVANCE)
    return plan


@transaction.atomic
def discard_plan(*, actor: Actor, plan_id: UUID) -> None:
    """Delete a draft. Raises NotPermitted, NotFound, Conflict."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    plan = _locked(plan_id)
    if plan.state != State.DRAFT:
        raise Conflict(Message("Only a draft can be discarded."))
    _record("discarded", actor.email, plan.cluster, plan.id, {"before": _facts(plan)})
    plan.delete()


def find_plan(plan_id: UUID) -> MigPlan:
    """Return a plan. Raises NotFound."""
    row = MigPlan.objects.select_related("cluster", "undoes").filter(id=plan_id).first()
    if row is None:
        raise NotFound(Message("There is no such MIG plan."))
    return row


def plans(*, most: int = 100) -> list[MigPlan]:
    """Return the latest plans of all clusters, newest first."""
    rows = MigPlan.objects.select_related("cluster").prefetch_related("nodes")
    return list(rows.order_by("-created_at")[:most])


def obstacles(plan: MigPlan) -> list[Message]:
    """Return why a draft cannot be applied now; empty if it can. Asks the cluster."""
    return _stored_obstacles(plan) + _missing_configs(plan)


def _stored_obstacles(plan: MigPlan) -> list[Message]:
    cluster, settings, found = plan.cluster, settings_of(plan.cluster), list[Message]()
    rows = list(plan.nodes.select_related("node"))
    if plan.missing:
        wish = ", ".join(f"{n} × {name}" for name, n in sorted(plan.missing.items()))
        found.append(Message("{wish} don't fit. Ask for less, or select more nodes.", wish=wish))
    if not rows:
        found.append(Message("There is nothing to change."))
    if settings.method == Method.OFF:
        found.append(
            Message("{name} doesn't allow partitioning. Choose a method first.", name=cluster.name)
        )
    if MigPlan.objects.filter(cluster=cluster, state=State.APPLYING).exists():
        found.append(Message("Another plan is being applied on this cluster."))
    if stale := _stale(rows):
        found.append(
            Message("GPUs of {nodes} have changed since this was planned. Plan again.", nodes=stale)
        )
    if settings.method == Method.AGENT:
        closed = [row.node.name for row in rows if row.node.reported.get("mig") != "allowed"]
        if closed:
            found.append(
                Message(
                    "The agent of {nodes} may not partition GPUs. Start it with --allow-mig, as root.",
                    nodes=_few(closed),
                )
            )
    return found


def configs_of(plan: MigPlan) -> dict[str, str]:
    """Return the configurations that the GPU operator needs for the plan: text by name."""
    if Method.LABEL not in methods_of(plan.cluster):
        return {}
    backend = cast(SupportsMigLabels, backend_of(plan.cluster))
    return dict(backend.mig_config(gpu_layouts(row.gpus)) for row in plan.nodes.all())


def files_of(plan: MigPlan) -> dict[str, str]:
    """Return the lines for the scheduler's files after the plan, by file name."""
    if not has_gpu_files(plan.cluster):
        return {}
    backend = cast(SupportsGpuFiles, backend_of(plan.cluster))
    rows = plan.nodes.select_related("node").order_by("node__name")
    return dict(backend.gpu_files({row.node.name: gpu_layouts(row.gpus) for row in rows}))


def _missing_configs(plan: MigPlan) -> list[Message]:
    """Return which configurations the GPU operator lacks, where it partitions the GPUs."""
    if settings_of(plan.cluster).method != Method.LABEL:
        return []
    backend = cast(SupportsMigLabels, backend_of(plan.cluster))
    needed = {backend.mig_config(gpu_layouts(row.gpus))[0] for row in plan.nodes.all()}
    try:
        missing = sorted(needed - backend.mig_configs())
    except (Rejected, Unavailable) as error:
        return [Message("The MIG configurations could not be read: {error}", error=str(error))]
    if not missing:
        return []
    return [
        Message(
            "Add the configuration {names} to the GPU operator first; it is shown below.",
            names=", ".join(missing),
        )
    ]


def _stale(rows: Sequence[MigPlanNode]) -> str:
    devices = Device.objects.filter(node__in=[row.node_id for row in rows])
    now = {(d.node_id, d.uuid): stored_layout(d) for d in devices if not why_unknown(d)}
    return _few(
        [
            row.node.name
            for row in rows
            if any(now.get((row.node_id, g["uuid"]), "gone") != g["before"] for g in row.gpus)
        ]
    )


def _add_nodes(
    plan: MigPlan, devices: Sequence[Device], after: Mapping[str, Stored], used: set[UUID]
) -> None:
    """Add the nodes on which a GPU changes, with all of their GPUs."""
    by_node: dict[UUID, list[Device]] = {}
    for device in devices:
        by_node.setdefault(device.node_id, []).append(device)
    MigPlanNode.objects.bulk_create(
        MigPlanNode(
            plan=plan,
            node_id=node,
            gpus=[_gpu(one, after, is_used=node in used) for one in inside if not one.is_lost],
        )
        for node, inside in by_node.items()
        if any(one.uuid in after for one in inside)
    )


def _gpu(device: Device, after: Mapping[str, Stored], *, is_used: bool) -> dict[str, Any]:
    before = stored_layout(device)
    model = mig.model_of(device.model, device.memory)
    return {
        "uuid": device.uuid,
        "index": device.index,
        "model": model.name if model else "",
        "type": device.type,
        "before": before,
        "after": after.get(device.uuid, before),
        "is_used": is_used,
    }


def _used_nodes(cluster: Cluster) -> set[UUID]:
    """Return the nodes on which jobs use GPUs or shares of them."""
    nodes = node_usage_of(cluster)
    return {m.node.id for m in nodes if m.used("gpu") > 0 or m.node.used_shares > 0}


def _avoided_nodes(cluster: Cluster) -> set[str]:
    """Return the nodes that are kept for somebody, or are not in order."""
    kept = {one for cluster_id, one in reserved_in([cluster.id]) if cluster_id == cluster.id}
    rows = Node.objects.filter(cluster=cluster, is_gone=False)
    unwell = rows.filter(Q(is_ready=False) | (~Q(note="") & Q(is_drained=False)))
    return kept | set(unwell.values_list("name", flat=True))


def _devices_of(cluster: Cluster, nodes: Sequence[str]) -> list[Device]:
    """Return the devices of these nodes, or of all. Raises InvalidInput."""
    if len(nodes) > MOST_NODES or not all(name.isprintable() for name in nodes):
        raise InvalidInput.at("nodes", Message("must be at most {n} names", n=MOST_NODES))
    rows = Node.objects.filter(cluster=cluster, is_gone=False)
    if nodes:
        rows = rows.filter(name__in=nodes)
        if unknown := sorted(set(nodes) - set(rows.values_list("name", flat=True))):
            raise InvalidInput.at(
                "nodes", Message("{name} is not a node of this cluster", name=unknown[0][:80])
            )
    devices = Device.objects.filter(node__in=rows).select_related("node")
    return list(devices.order_by("node__name", "index"))


def _checked_wish(wish: Mapping[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, number in wish.items():
        profile = name.strip().lower().removeprefix("mig-")
        if profile not in _PROFILES:
            raise InvalidInput.at(
                "wish", Message("{x} is not a MIG profile of NVIDIA", x=repr(name[:40]))
            )
        if not isinstance(number, int) or not 0 < number <= MOST_GPUS:
            raise InvalidInput.at("wish", Message("counts must be from 1 to {n}", n=MOST_GPUS))
        found[profile] = found.get(profile, 0) + number
    if not 0 < len(found) <= MOST_WISHES:
        raise InvalidInput.at("wish", Message("must name 1 to {n} profiles", n=MOST_WISHES))
    return found


def parse_wish(text: str) -> dict[str, int]:
    """Parse "14 × 1g.10gb, 2 full" as people write it. Raises InvalidInput."""
    found: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in re.split(r"[,\n;]", text))):
        match = re.fullmatch(r"(\d{1,6})\s*[x×*]?\s*(\S+)", part)
        if match is None:
            raise InvalidInput.at("wish", "must be such as: 14 x 1g.10gb, 2 x full")
        found[match[2]] = found.get(match[2], 0) + int(match[1])
    return found


def _locked(plan_id: UUID) -> MigPlan:
    row = (
        MigPlan.objects.select_for_update(of=("self",))
        .select_related("cluster")
        .filter(id=plan_id)
        .first()
    )
    if row is None:
        raise NotFound(Message("There is no such MIG plan."))
    return row


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")


def _facts(plan: MigPlan) -> dict[str, Any]:
    return {
        "wish": plan.wish,
        "nodes": sorted(plan.nodes.values_list("node__name", flat=True)),
        **({"method": plan.method} if plan.method else {}),
    }


def _record(what: str, who: str, cluster: Cluster, subject: UUID, data: Mapping[str, Any]) -> None:
    kind = "cluster" if subject == cluster.id else "mig_plan"
    record(EventRecord(f"mig.{what}", None, kind, subject, who, {"name": cluster.name, **data}))
