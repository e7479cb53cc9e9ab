"""What operators do about the health of nodes: quarantine, return, settings, and the breaker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from clusters.health.checks import (
    OPERATOR,
    Action,
    HealthState,
    checked_changes,
)
from clusters.health.evaluation import health_event, policy_of
from clusters.health.presets import preset_named
from clusters.models import Cluster, HealthPolicy, Node, NodeHealth
from clusters.services import drain
from portal.core import clock, errors
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

_LIMITS = {"most_percent": (1, 100), "most_per_hour": (1, 10_000)}


def quarantine_node(*, actor: Actor, node: Node, why: str, was: str | None = None) -> Node:
    """Take a node out of service until an operator returns it; no rule returns it.

    `was` as for `drain_node`. Raises NotPermitted, InvalidInput, Conflict, Unavailable.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    drain.drain_node(actor=actor, node=node, why=why, was=was)
    policy_of(node.cluster)  # creates it if there is none
    with transaction.atomic():
        # Not while an evaluation judges what it has read before
        HealthPolicy.objects.select_for_update().get(cluster=node.cluster_id)
        row, _ = NodeHealth.objects.select_for_update().get_or_create(node=node)
        before = row.state
        row.state, row.since, row.check_code = HealthState.QUARANTINED, clock.now(), OPERATOR
        row.gpu, row.params, row.blocked = None, {"reason": why.strip(), "by": actor.email}, ""
        row.is_drained_by_rule = False
        row.save()
        row.node = node
        record(health_event(row, before, actor.email))
    return node


def return_node(*, actor: Actor, node: Node, was: str | None = None) -> Node:
    """Return a node to service. What its checks still find only warns until it ends.

    `was` as for `drain_node`. Raises NotPermitted, Conflict, Unavailable.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    row = NodeHealth.objects.select_related("node__cluster").filter(node=node).first()
    before = row.state if row else HealthState.HEALTHY
    if not HealthState(before).is_out and not node.is_drained:
        raise errors.Conflict(
            Message("{name} is in service.", name=node.name), code="not_quarantined"
        )
    drain.resume_node(actor=actor, node=node, was=was)
    if row and HealthState(before).is_out:
        row.refresh_from_db()
        record(health_event(row, before, actor.email))
    return node


@transaction.atomic
def change_health_policy(
    *,
    actor: Actor,
    cluster: Cluster,
    checks: Mapping[str, Any] | None = None,
    preset: str = "",
    is_acting: bool | None = None,
    **limits: int,
) -> HealthPolicy:
    """Change settings of checks (others keep theirs), and how much rules may take out of service.

    A `preset` sets all checks before others are changed. A check is {"action", "threshold",
    "minutes", "returns"}, each optional; null restores its defaults. Raises NotPermitted,
    InvalidInput.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    policy_of(cluster)
    row = HealthPolicy.objects.select_for_update().get(cluster=cluster)
    before = _settings(row)
    if preset:
        row.checks = checked_changes(preset_named(preset).checks())
    if checks is not None:
        row.checks = checked_changes(_merged(row.checks, checks))
    for name, value in limits.items():
        low, high = _LIMITS[name]
        if not low <= value <= high:
            raise errors.InvalidInput.at(name, f"must be from {low} to {high}")
        setattr(row, name, value)
    if is_acting is not None:
        row.is_acting = is_acting
    row.save()
    after = _settings(row)
    changed = [name for name in after if after[name] != before[name]]
    _record(
        "health_policy_changed",
        cluster,
        actor,
        {
            "before": {name: before[name] for name in changed},
            "after": {name: after[name] for name in changed},
        },
    )
    return row


@transaction.atomic
def reset_breaker(*, actor: Actor, cluster: Cluster) -> HealthPolicy:
    """Let rules act again after they took too many nodes at once; their limits count from now.

    Raises NotPermitted, Conflict.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    policy_of(cluster)
    row = HealthPolicy.objects.select_for_update().get(cluster=cluster)
    if row.stopped_at is None:
        raise errors.Conflict(Message("The rules are not stopped."), code="not_stopped")
    before, row.stopped_at, row.stopped_for = row.stopped_at, None, {}
    row.reset_at = clock.now()
    row.save(update_fields=["stopped_at", "stopped_for", "reset_at"])
    _record(
        "health_reset",
        cluster,
        actor,
        {"before": {"stopped_at": before.isoformat()}, "after": {"stopped_at": None}},
    )
    return row


def _merged(now: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    found = {**now}
    for code, values in given.items():
        if values is None:
            found.pop(code, None)
        elif isinstance(values, Mapping):
            found[code] = {**found.get(code, {}), **values}
        else:
            found[code] = values
    return found


def _settings(row: HealthPolicy) -> dict[str, Any]:
    return {
        "checks": {
            code: {k: _plain(v) for k, v in own.items()} for code, own in row.checks.items()
        },
        "is_acting": row.is_acting,
        "most_percent": row.most_percent,
        "most_per_hour": row.most_per_hour,
    }


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Action) else value


def _record(what: str, cluster: Cluster, actor: Actor, data: Mapping[str, Any]) -> None:
    record(
        EventRecord(
            f"cluster.{what}",
            None,
            "cluster",
            cluster.id,
            actor.email,
            {"name": cluster.name, **data},
        )
    )
