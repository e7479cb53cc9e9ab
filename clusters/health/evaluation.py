"""Judge the nodes of a cluster, and take them out of service or return them.

What is wanted is written first, in one transaction; then the scheduler is asked node by node, so a
slow scheduler locks nothing. A rule drains at most a share of the nodes, and a number an hour. If one
evaluation wants more than is left, it drains none and stops until an operator resets it: so many at
once are more likely a false alarm.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from clusters.health import findings
from clusters.health.checks import (
    OPERATOR,
    STATE_OF,
    Action,
    HealthCheck,
    HealthState,
    checks_with,
    why_text,
)
from clusters.health.findings import NODE, Findings, Key
from clusters.models import Cluster, HealthFinding, HealthPolicy, Node, NodeHealth
from clusters.services import drain
from portal.core import clock
from portal.core.errors import PortalError
from portal.core.events import EventRecord, record, record_all
from portal.core.messages import Message

log = logging.getLogger(__name__)
ACTOR = "health"
BATCH = 500
# The inventory may still show the state before a drain; only later a ready node was resumed.
SETTLED = timedelta(minutes=3)
STOPPED, PAUSED, CANNOT_DRAIN = "stopped", "paused", "cannot_drain"
_ACTING = ("state", "since", "check_code", "gpu", "params", "blocked")


@dataclass(frozen=True)
class _Change:
    """A node whose state or reason changes."""

    health: NodeHealth
    before: str
    to: HealthState
    finding: HealthFinding | None


def saved_policy(cluster: Cluster) -> HealthPolicy:
    """Return the policy of a cluster, or the defaults if none is stored."""
    return HealthPolicy.objects.filter(cluster=cluster).first() or HealthPolicy(cluster=cluster)


def policy_of(cluster: Cluster) -> HealthPolicy:
    """Return the policy of a cluster. XIDs from before it is first made are not counted."""
    row, _ = HealthPolicy.objects.get_or_create(
        cluster=cluster, defaults={"last_event": findings.last_position()}
    )
    return row


def evaluate_cluster(cluster: Cluster) -> None:
    """Update the health of the cluster's nodes and act on it."""
    policy_of(cluster)
    drains, returns = _judge(cluster)
    for change in drains:
        _drain(change)
    for health in returns:
        _resume(health)


@transaction.atomic
def _judge(cluster: Cluster) -> tuple[list[_Change], list[NodeHealth]]:
    """Write findings and states; return the nodes to drain and those to resume."""
    policy = HealthPolicy.objects.select_for_update().get(cluster=cluster)
    checks, nodes = checks_with(policy.checks), findings.ready_nodes(cluster.id)
    found = findings.findings_on(nodes, checks)
    policy.last_event = findings.read_xids(found, nodes, checks, policy.last_event or 0)
    policy.evaluated_at = clock.now()
    known = _store(cluster, found, checks)
    drains, returns = _set_states(cluster, policy, known, checks)
    policy.save(update_fields=["last_event", "evaluated_at", "stopped_at", "stopped_for"])
    return drains, returns


def _store(
    cluster: Cluster, found: Findings, checks: Mapping[str, HealthCheck]
) -> dict[UUID, list[HealthFinding]]:
    """Update the findings; return those of each node that count."""
    now = clock.now()
    rows: dict[Key, HealthFinding] = {
        (row.node_id, row.gpu, row.check_code): row
        for row in HealthFinding.objects.filter(node__cluster=cluster, node__is_gone=False)
    }
    fresh, changed, dropped = [], [], []
    for key, params in found.present.items():
        row = rows.get(key)
        if row is None:
            rows[key] = HealthFinding(
                node_id=key[0], gpu=key[1], check_code=key[2], params=params, since=now
            )
            fresh.append(rows[key])
        elif row.ended_at or row.params != params:
            row.params, row.ended_at = params, None
            changed.append(row)
    for key, (at, params) in found.xids.items():
        row = rows.get(key)
        if row is None:
            rows[key] = HealthFinding(
                node_id=key[0], gpu=key[1], check_code=key[2], params=params, since=at, ended_at=at
            )
            fresh.append(rows[key])
        else:
            row.params, row.ended_at, row.is_muted = params, at, False
            changed.append(row)
    for key, row in rows.items():
        check = checks.get(row.check_code)
        is_xid = check is not None and bool(check.xids)
        if key not in found.present and not row.ended_at and not is_xid and found.is_known(key):
            row.ended_at = now
            changed.append(row)
        if check is None or check.action is Action.OFF or _is_over(row, check, now):
            dropped.append(row)
    HealthFinding.objects.bulk_create(fresh, batch_size=BATCH)
    HealthFinding.objects.bulk_update(changed, ["params", "ended_at", "is_muted"], batch_size=BATCH)
    HealthFinding.objects.filter(id__in=[row.id for row in dropped]).delete()
    gone = {id(row) for row in dropped}
    counting: dict[UUID, list[HealthFinding]] = defaultdict(list)
    for row in rows.values():
        if id(row) not in gone and _has_lasted(row, checks[row.check_code], now):
            counting[row.node_id].append(row)
    return counting


def _has_lasted(row: HealthFinding, check: HealthCheck, now: datetime) -> bool:
    return (row.ended_at or now) - row.since >= timedelta(minutes=check.minutes)


def _is_over(row: HealthFinding, check: HealthCheck, now: datetime) -> bool:
    """Return whether an ended finding is dropped: at once if it never counted or is muted."""
    if row.ended_at is None:
        return False
    if row.is_muted or not _has_lasted(row, check, now):
        return True
    return not check.needs_operator and now - row.ended_at >= timedelta(minutes=check.returns)


def deciding(
    rows: Sequence[HealthFinding], checks: Mapping[str, HealthCheck]
) -> tuple[HealthState, HealthFinding | None]:
    """Return the state that these findings ask for, and the one that decides."""

    def rank(row: HealthFinding) -> tuple[int, bool, float]:
        check = checks[row.check_code]
        action = Action.WARN if row.is_muted else check.action
        return action.rank, check.is_critical, -row.since.timestamp()

    worst = max(rows, key=rank, default=None)
    if worst is None:
        return HealthState.HEALTHY, None
    return STATE_OF[Action.WARN if worst.is_muted else checks[worst.check_code].action], worst


def _set_states(
    cluster: Cluster,
    policy: HealthPolicy,
    known: Mapping[UUID, list[HealthFinding]],
    checks: Mapping[str, HealthCheck],
) -> tuple[list[_Change], list[NodeHealth]]:
    rows = {
        row.node_id: row
        for row in NodeHealth.objects.select_related("node__cluster").filter(
            Q(node__in=list(known)) | ~Q(state=HealthState.HEALTHY) | Q(is_drained_by_rule=True),
            node__cluster=cluster,
            node__is_gone=False,
        )
    }
    missing = Node.objects.select_related("cluster").filter(id__in=known.keys() - rows.keys())
    rows |= {node.id: NodeHealth(node=node, state=HealthState.HEALTHY) for node in missing}
    _note_resumed(rows.values(), known)
    changes = []
    for node_id, row in rows.items():
        if row.check_code == OPERATOR and row.state == HealthState.QUARANTINED:
            continue
        state, finding = deciding(known.get(node_id, ()), checks)
        changes.append(_Change(row, row.state, state, finding))
    wanted = [c for c in changes if c.to.is_out and not HealthState(c.before).is_out]
    # Who is drained already needs no drain: no limit applies
    blocked = _limit(cluster, policy, [c for c in wanted if not c.health.node.is_drained])
    now, drains, written = clock.now(), [], []
    for change in changes:
        is_wanted = change.to.is_out and not HealthState(change.before).is_out
        if not is_wanted:
            is_changed = _apply(change, change.to, now, "")
        elif blocked and not change.health.node.is_drained:
            is_changed = _apply(change, HealthState.WARNING, now, blocked)
        else:
            is_changed = _apply(change, HealthState(change.before), now, "")
            drains.append(change)
        if is_changed or change.health.pk is None:
            written.append(change)
    _write(written)
    resumed = [c.health for c in changes if not c.to.is_out and c.health.is_drained_by_rule]
    return drains, resumed


def _node_count(cluster: Cluster) -> int:
    return Node.objects.filter(cluster=cluster, is_gone=False).count()


def _note_resumed(rows: Any, known: Mapping[UUID, list[HealthFinding]]) -> None:
    """Mute the findings of nodes that somebody resumed at the scheduler: a person's word counts."""
    for row in rows:
        is_settled = clock.now() - row.since > SETTLED
        if not HealthState(row.state).is_out or row.node.is_drained or not is_settled:
            continue
        row.is_drained_by_rule, row.check_code = False, ""
        for finding in known.get(row.node_id, ()):
            finding.is_muted = True
        HealthFinding.objects.filter(node=row.node_id).update(is_muted=True)


def _limit(cluster: Cluster, policy: HealthPolicy, wanted: Sequence[_Change]) -> str:
    """Return why these nodes are not drained, or "". Opens the circuit breaker if they are too many."""
    if not wanted:
        return ""
    if not drain.may_drain(cluster):
        return CANNOT_DRAIN
    if not policy.is_acting:
        return PAUSED
    if policy.stopped_at:
        return STOPPED
    mine = NodeHealth.objects.filter(node__cluster=cluster, acted_at__isnull=False)
    if policy.reset_at:
        mine = mine.filter(acted_at__gt=policy.reset_at)
    out = mine.filter(is_drained_by_rule=True, node__is_gone=False).count()
    within_hour = mine.filter(acted_at__gt=clock.now() - timedelta(hours=1)).count()
    most = max(_node_count(cluster) * policy.most_percent // 100, 1)
    for limit, taken, allowed in (
        ("share", out, most),
        ("hour", within_hour, max(policy.most_per_hour, 1)),
    ):
        if taken + len(wanted) > allowed:
            policy.stopped_at = clock.now()
            policy.stopped_for = {
                "limit": limit,
                "wanted": len(wanted),
                "out": taken,
                "most": allowed,
            }
            record(
                EventRecord(
                    "cluster.health_stopped",
                    None,
                    "cluster",
                    cluster.id,
                    ACTOR,
                    {"name": cluster.name, **policy.stopped_for},
                )
            )
            return STOPPED
    return ""


def _apply(change: _Change, state: HealthState, at: datetime, blocked: str) -> bool:
    """Set the fields on the object; return whether any changed."""
    row, finding = change.health, change.finding
    before = [getattr(row, name) for name in _ACTING]
    if row.state != state:
        row.state, row.since = state, at
    row.blocked = blocked
    row.check_code = finding.check_code if finding else ""
    row.gpu = finding.gpu if finding and finding.gpu != NODE else None
    row.params = finding.params if finding else {}
    return before != [getattr(row, name) for name in _ACTING]


def _write(changes: Sequence[_Change]) -> None:
    NodeHealth.objects.bulk_create(
        [change.health for change in changes],
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["node"],
        update_fields=[*_ACTING, "is_drained_by_rule"],
    )
    record_all(
        health_event(change.health, change.before, ACTOR)
        for change in changes
        if change.health.state != change.before
    )


def health_event(row: NodeHealth, before: str, actor: str) -> EventRecord:
    """Return the event of a change of state."""
    return EventRecord(
        "node.health_changed",
        None,
        "node",
        row.node_id,
        actor,
        {
            "cluster": row.node.cluster.name,
            "name": row.node.name,
            "check": row.check_code,
            "gpu": row.gpu,
            "params": row.params,
            "before": {"state": str(before)},
            "after": {"state": str(row.state)},
        },
    )


def _drain(change: _Change) -> None:
    """Drain one node at its scheduler; a failure is noted and tried again by the next evaluation."""
    health, node, now = change.health, change.health.node, clock.now()
    mine = NodeHealth.objects.filter(node=node.id)
    is_ours = not Node.objects.filter(id=node.id, is_drained=True).exists()
    acted = {"is_drained_by_rule": True, "acted_at": now} if is_ours else {}
    # Of two evaluations at once, one gets the node
    if not mine.filter(state=change.before).update(state=change.to, since=now, blocked="", **acted):
        return
    health.state = change.to
    try:
        if is_ours:
            why = why_text(health.check_code, health.gpu, health.params)
            drain.drain_by_rule(
                node, Message("Health: {why}", context="text, clusters", why=why), ACTOR
            )
    except PortalError as error:
        health.state = HealthState.WARNING
        mine.update(
            state=health.state, is_drained_by_rule=False, acted_at=None, blocked=error.message
        )
        log.warning("health: %s was not drained: %s", node.name, error.message)
    if health.state != change.before:
        record(health_event(health, change.before, ACTOR))


def _resume(health: NodeHealth) -> None:
    """Return one node to service, unless somebody else has drained it since."""
    if not NodeHealth.objects.filter(node=health.node_id, is_drained_by_rule=True).exists():
        return
    node = Node.objects.select_related("cluster").get(id=health.node_id)
    try:
        if node.is_drained:
            drain.resume_by_rule(node, ACTOR)
    except PortalError as error:
        NodeHealth.objects.filter(node=node.id).update(blocked=error.message)
        log.warning("health: %s was not resumed: %s", node.name, error.message)
        return
    NodeHealth.objects.filter(node=node.id).update(is_drained_by_rule=False)
