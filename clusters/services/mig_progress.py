"""Apply MIG plans node by node: drain, change, verify, resume.

`advance_plans` runs every few seconds and after each report. A step can be repeated, and states
change by compare-and-set, so a portal or an agent that is killed goes on where it was. After a
failure no further node is started; a node whose layout is not the former one stays drained.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast
from uuid import UUID

from django.db import transaction

from clusters.backends import backend_of
from clusters.health.checks import HealthState
from clusters.mig.layouts import gpu_layouts, stored_layout, why_unknown
from clusters.models import (
    Cluster,
    Device,
    MigPlan,
    MigPlanNode,
    MigSettings,
    Node,
    NodeHealth,
)
from clusters.services.drain import drain_node, resume_by_rule
from clusters.services.mig_plans import (
    ADVANCE,
    Method,
    NodeState,
    State,
    has_gpu_files,
    settings_of,
)
from clusters.workload import workload
from portal.core import clock
from portal.core.errors import PortalError
from portal.core.errors import Unavailable as NoAnswer
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers import capabilities_of
from schedulers.contract import (
    Capability,
    Rejected,
    SupportsGpuFiles,
    SupportsMigLabels,
    Unavailable,
)
from workspaces.access.actors import Actor
from workspaces.organizations.bootstrap import PLATFORM

log = logging.getLogger(__name__)
ACTIVE = (NodeState.DRAINING, NodeState.CHANGING, NodeState.CONFIGURING, NodeState.RESUMING)
MOST_ERROR = 1000


def advance_plans() -> None:
    """Do the next step of each plan that is being applied. Safe to run twice, and at once."""
    for plan in MigPlan.objects.filter(state=State.APPLYING).select_related("cluster"):
        settings = settings_of(plan.cluster)
        _start_next(plan, settings)
        for row in plan.nodes.filter(state__in=ACTIVE).select_related("node__cluster"):
            try:
                _steps(plan, row, settings)
            except (NoAnswer, Unavailable) as error:
                _note(row, Message("The scheduler doesn't respond: {error}", error=str(error)))
            except (PortalError, Rejected) as error:
                is_unchanged = row.state == NodeState.DRAINING
                why = Message("The scheduler refused: {error}", error=str(error))
                _fail(row, why, is_restored=is_unchanged)
            except Exception as error:
                log.exception("MIG plan %s, node %s", plan.id, row.node.name)
                _fail(row, f"{type(error).__name__}: {error}")
        _start_next(plan, settings)
        _finish(plan)


def work_for(node: Node) -> dict[str, Any] | None:
    """Return what the agent of a node is to do now; see `muster_agent.mig.carry_out`."""
    row = (
        MigPlanNode.objects.filter(
            node=node,
            state=NodeState.CHANGING,
            plan__method=Method.AGENT,
            plan__state=State.APPLYING,
            node__is_drained=True,
        )
        .order_by("id")
        .first()
    )
    if row is None:
        return None
    names = ("uuid", "before", "after")
    gpus = [{name: gpu[name] for name in names} for gpu in row.changes]
    return {"id": str(row.work_id), "gpus": gpus}


def take_report(node: Node, report: Any) -> None:
    """Take an agent's report on its work; one that is not expected (any more) is ignored.

    Reports are repeated with each batch, so a lost one does no harm.
    """
    if not isinstance(report, Mapping):
        return
    try:
        work_id = UUID(str(report.get("id")))
    except ValueError:
        return
    row = MigPlanNode.objects.filter(
        node=node, work_id=work_id, state=NodeState.CHANGING, plan__method=Method.AGENT
    ).first()
    if row is None:
        return
    layouts = report.get("layouts")
    layouts = layouts if isinstance(layouts, Mapping) else {}
    is_there = all(
        gpu["uuid"] in layouts and layouts[gpu["uuid"]] == gpu["after"] for gpu in row.changes
    )
    if report.get("state") == "done" and is_there:
        _changed(row)
    else:
        said = str(report.get("error") or "the agent reports another layout than planned")
        is_restored = report.get("is_restored") is True and all(
            gpu["uuid"] in layouts and layouts[gpu["uuid"]] == gpu["before"] for gpu in row.changes
        )
        _fail(row, _printable(said), is_restored=is_restored)
    wake_worker(ADVANCE)


def _start_next(plan: MigPlan, settings: MigSettings) -> None:
    """Start as many nodes as may be changed at once; after a failure, leave out the others."""
    with transaction.atomic():
        MigPlan.objects.select_for_update().get(id=plan.id)
        waiting = plan.nodes.filter(state=NodeState.WAITING)
        if plan.nodes.exclude(error="").exists():
            waiting.update(state=NodeState.SKIPPED, since=clock.now())
            return
        free = settings.nodes_at_once - plan.nodes.filter(state__in=ACTIVE).count()
        for row in waiting.select_related("node").order_by("node__name")[: max(free, 0)]:
            row.was_drained = row.node.is_drained
            row.state, row.since = NodeState.DRAINING, clock.now()
            row.save(update_fields=["was_drained", "state", "since"])


def _steps(plan: MigPlan, row: MigPlanNode, settings: MigSettings) -> None:
    """Do steps as long as they lead on."""
    before = ""
    while row.state in ACTIVE and row.state != before:
        before = row.state
        _step(plan, row, settings)


def _step(plan: MigPlan, row: MigPlanNode, settings: MigSettings) -> None:
    actor = replace(PLATFORM, email=plan.started_by)
    if row.state == NodeState.DRAINING:
        _drain(plan, row, settings, actor)
    elif row.state == NodeState.CHANGING:
        _change(plan, row, settings)
    elif row.state == NodeState.CONFIGURING:
        _configure(plan, row, settings)
    elif row.state == NodeState.RESUMING:
        _resume(row, actor)


def _drain(plan: MigPlan, row: MigPlanNode, settings: MigSettings, actor: Actor) -> None:
    """Drain the node, and wait until no job uses its GPUs."""
    node, cluster = row.node, plan.cluster
    if not node.is_drained:
        drain_node(actor=actor, node=node, why=f"MIG plan {str(plan.id)[-8:]}")
    if row.drained_at is None:
        row.drained_at = clock.now()
        row.save(update_fields=["drained_at"])
    # What was in use before the drain says nothing: a job may have started since
    if cluster.counted_at is None or cluster.counted_at <= row.drained_at:
        _note(row, Message("Waiting for the next inventory of the cluster"))
    elif not (busy := _gpus_in_use(plan.cluster, node)) and node.used_shares == 0:
        _move(row, NodeState.CHANGING)
    elif clock.now() > row.since + timedelta(minutes=settings.drain_minutes):
        why = Message("Jobs still use its GPUs after the time allowed. Nothing was changed.")
        _fail(row, why, is_restored=True)
    else:
        _note(row, Message("Waiting for jobs to end: {n} GPUs in use", n=busy))


def _gpus_in_use(cluster: Cluster, node: Node) -> int:
    """Count the GPUs that jobs use; those that the portal assigned are in no inventory."""
    if Capability.PLACES not in capabilities_of(cluster.backend):
        return node.used_gpus
    placed = workload().reserved_by_node([cluster.id]).get((cluster.id, node.name))
    return len(placed[2]) if placed else 0


def _change(plan: MigPlan, row: MigPlanNode, settings: MigSettings) -> None:
    """Have the GPUs partitioned, and wait until they are."""
    if not row.node.is_drained:
        _fail(row, Message("Somebody resumed the node while it was being changed."))
        return
    if plan.method == Method.LABEL and _is_labeled(plan, row):
        _changed(row)
        return
    if plan.method == Method.HAND:
        if _is_as_planned(row):
            _changed(row)
        else:
            _note(row, Message("Waiting for an administrator to partition the GPUs"))
        return
    if row.state != NodeState.CHANGING:
        return
    if plan.method == Method.AGENT and (lost := _lost(row)):
        _fail(row, Message("GPU {uuid} no longer responds.", uuid=lost))
    elif clock.now() > row.since + timedelta(minutes=settings.change_minutes):
        _fail(row, Message("The new layout isn't there after {n} min.", n=settings.change_minutes))
    elif plan.method == Method.AGENT:
        _note(row, Message("Waiting for the node's agent"))


def _is_labeled(plan: MigPlan, row: MigPlanNode) -> bool:
    """Ask the GPU operator by the node's label; return whether it is done."""
    backend = cast(SupportsMigLabels, backend_of(plan.cluster))
    name, _ = backend.mig_config(gpu_layouts(row.gpus))
    backend.set_mig_config(row.node.name, name)
    asked, state = backend.mig_state(row.node.name)
    if asked != name:
        _fail(row, Message("Somebody has set another MIG configuration: {name}.", name=asked))
    elif state == "failed":
        why = "The GPU operator failed to apply {name}. See the log of its mig-manager on the node."
        _fail(row, Message(why, name=name))
    else:
        _note(
            row,
            Message(
                "GPU operator: {state}",
                context="text, clusters",
                state=state or Message("waiting", context="part of a sentence"),
            ),
        )
    return asked == name and state == "success"


def _configure(plan: MigPlan, row: MigPlanNode, settings: MigSettings) -> None:
    """Make the scheduler know the new GPUs, where its files name them."""
    if not has_gpu_files(plan.cluster):
        _move(row, NodeState.RESUMING)
    elif settings.may_reconfigure:
        try:
            cast(SupportsGpuFiles, backend_of(plan.cluster)).reconfigure()
        except Rejected as error:
            why = Message("{error} Reconfigure the scheduler yourself, then confirm.", error=error)
            _note(row, why)
            return
        _move(row, NodeState.RESUMING)
    else:
        _note(row, Message("Waiting for the scheduler's files: install them, then confirm"))


def _resume(row: MigPlanNode, actor: Actor) -> None:
    """Return the node to service, unless it was drained before or a health rule wants it drained."""
    if not row.was_drained and row.node.is_drained:
        # The rule returns it later
        is_kept = NodeHealth.objects.filter(
            node=row.node, state__in=(HealthState.DRAINING, HealthState.QUARANTINED)
        ).update(is_drained_by_rule=True)
        if not is_kept:
            resume_by_rule(row.node, actor.email)
    _move(row, NodeState.FAILED if row.error else NodeState.DONE)


def _changed(row: MigPlanNode) -> None:
    _move(row, NodeState.CONFIGURING)


def _fail(row: MigPlanNode, why: str, *, is_restored: bool = False) -> None:
    """End the node with an error. With its former layout it returns to service."""
    after = NodeState.RESUMING if is_restored else NodeState.FAILED
    if row.state == NodeState.RESUMING:
        after = NodeState.FAILED  # it could not be resumed
    error, was = row.error or why, row.state
    if not isinstance(error, Message):
        error = error[:MOST_ERROR]
    row.state, row.error, row.is_restored = after, error, is_restored or row.is_restored
    MigPlanNode.objects.filter(id=row.id, state=was).update(
        state=after, since=clock.now(), note="", error=error, is_restored=row.is_restored
    )


def _move(row: MigPlanNode, after: str) -> None:
    """Change the state, unless somebody else has: then no step of it follows here."""
    changed = MigPlanNode.objects.filter(id=row.id, state=row.state).update(
        state=after, since=clock.now(), note=""
    )
    if changed:
        row.state = after


def _note(row: MigPlanNode, note: Message) -> None:
    if row.note != note:
        MigPlanNode.objects.filter(id=row.id, state=row.state).update(note=note)


def _finish(plan: MigPlan) -> None:
    """End the plan when no node is left."""
    with transaction.atomic():
        locked = MigPlan.objects.select_for_update().get(id=plan.id)
        rows = plan.nodes.all()
        if (
            locked.state != State.APPLYING
            or rows.filter(state__in=(*ACTIVE, NodeState.WAITING)).exists()
        ):
            return
        is_done = not rows.exclude(state=NodeState.DONE).exists()
        locked.state, locked.finished_at = State.DONE if is_done else State.FAILED, clock.now()
        locked.save(update_fields=["state", "finished_at"])
        if is_done and locked.undoes_id:
            MigPlan.objects.filter(id=locked.undoes_id).update(state=State.UNDONE)
        data = {
            "name": plan.cluster.name,
            "before": {"state": str(State.APPLYING)},
            "after": {"state": str(locked.state)},
        }
        record(EventRecord("mig.finished", None, "mig_plan", plan.id, plan.started_by, data))


def _is_as_planned(row: MigPlanNode) -> bool:
    """Return whether the node's agent reports the planned layout."""
    devices = {d.uuid: d for d in Device.objects.filter(node=row.node) if not why_unknown(d)}
    return all(
        gpu["uuid"] in devices and stored_layout(devices[gpu["uuid"]]) == gpu["after"]
        for gpu in row.changes
    )


def _lost(row: MigPlanNode) -> str:
    """Return a GPU of the plan that no longer responds, or an empty string."""
    uuids = [gpu["uuid"] for gpu in row.changes]
    lost = Device.objects.filter(node=row.node, uuid__in=uuids, is_lost=True)
    return lost.values_list("uuid", flat=True).first() or ""


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)
