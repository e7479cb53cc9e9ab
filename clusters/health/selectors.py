"""Health for pages and the API: of nodes, of a cluster, and in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, NotRequired, TypedDict
from uuid import UUID

from django.db.models import Count, F

from clusters.health.checks import (
    BY_CODE,
    CHECKS,
    Action,
    HealthState,
    advice_for,
    checks_with,
    stopped_text,
    why_text,
)
from clusters.health.evaluation import CANNOT_DRAIN, PAUSED, STOPPED, saved_policy
from clusters.health.findings import NODE
from clusters.health.presets import PRESETS, HealthPresetShape, preset_of
from clusters.models import Cluster, HealthFinding, Node, NodeHealth
from clusters.services.drain import may_drain
from clusters.states import HEALTH
from portal.core.messages import Message
from portal.core.shapes import Time

UNHEALTHY = tuple(state for state in HealthState if state is not HealthState.HEALTHY)
OUT = tuple(state for state in HealthState if state.is_out)
_BLOCKED = {
    STOPPED: Message("Not drained: the rules of this cluster are stopped, see its health."),
    PAUSED: Message("Not drained: the rules of this cluster only warn."),
    CANNOT_DRAIN: Message("Not drained: the scheduler of this cluster can't drain nodes."),
}


class HealthShape(TypedDict):
    state: Annotated[str, "healthy, warning, draining or quarantined"]
    word: Annotated[str, "The state in words."]
    shape: Annotated[str, "The state of a job whose mark it has."]
    since: Time | None
    why: Annotated[str, "Empty for a healthy node."]
    advice: str
    check: Annotated[str, "The code of the check that found it."]
    gpu: NotRequired[int | None]
    params: NotRequired[dict[str, Any]]
    blocked: NotRequired[Annotated[str, "Why the node was not drained; else empty."]]
    is_drained_by_rule: NotRequired[bool]


class FindingShape(TypedDict):
    check: str
    label: str
    gpu: Annotated[int | None, "null: the whole node."]
    why: str
    advice: str
    action: Annotated[str, "off, warn, drain or quarantine"]
    is_critical: bool
    is_muted: bool
    since: Time
    ended_at: Time | None
    returns: Annotated[int, "Minutes after its end; 0: an operator returns the node."]


class NodeHealthShape(HealthShape):
    node: str
    cluster: str
    findings: Annotated[list[FindingShape], "The worst first."]
    is_watched: Annotated[bool, "Whether the rules were evaluated."]


class HealthCheckShape(TypedDict):
    code: str
    label: str
    is_critical: bool
    action: Annotated[str, "off, warn, drain or quarantine"]
    threshold: float | None
    unit: str
    minutes: int
    returns: Annotated[int, "Minutes after its end; 0: an operator returns the node."]
    is_changed: bool
    has_threshold: bool


class HealthPolicyShape(TypedDict):
    cluster: str
    is_acting: Annotated[bool, "False: rules only warn."]
    can_drain: bool
    most_percent: Annotated[int, "Most nodes that rules drain."]
    most_per_hour: int
    stopped_at: Time | None
    stopped: Annotated[str, "Why the rules stopped; else empty."]
    evaluated_at: Time | None
    preset: Annotated[str, "The preset that the settings are; empty if they are its own."]
    presets: list[HealthPresetShape]
    counts: Annotated[dict[str, int], "Nodes by health."]
    checks: list[HealthCheckShape]


def health_rows(nodes: Iterable[UUID]) -> dict[UUID, HealthShape]:
    """Return the health of the unhealthy nodes among these, by node. One statement."""
    rows = NodeHealth.objects.filter(node__in=list(nodes), state__in=UNHEALTHY)
    return {row.node_id: health_row(row) for row in rows}


def unhealthy_nodes(
    states: Collection[HealthState] = UNHEALTHY,
) -> dict[UUID, HealthShape]:
    """Return the health of all nodes in these states, also of those that are gone, by node."""
    rows = NodeHealth.objects.filter(state__in=states)
    return {row.node_id: health_row(row) for row in rows}


def health_row(row: NodeHealth | None) -> HealthShape:
    """Return state, since, why and what to do. None: a healthy node."""
    state = HealthState(row.state) if row else HealthState.HEALTHY
    shown: HealthShape = {
        "state": str(state),
        "word": HEALTH[state].word,
        "shape": str(HEALTH[state].mark),
        "since": row.since if row else None,
        "why": "",
        "advice": "",
        "check": "",
    }
    if row is None or state is HealthState.HEALTHY:
        return shown
    return {
        **shown,
        "check": row.check_code,
        "gpu": row.gpu,
        "params": row.params,
        "why": why_text(row.check_code, row.gpu, row.params),
        "advice": advice_for(row.check_code),
        "blocked": _BLOCKED.get(row.blocked) or row.blocked,
        "is_drained_by_rule": row.is_drained_by_rule,
    }


def finding_text(row: Mapping[str, Any]) -> Message:
    """Return the reason of an unhealthy node without its GPU, so that equal ones can be counted."""
    return why_text(row["check"], None, row["params"])


def node_health(node: Node) -> NodeHealthShape:
    """Return the health of one node with all findings, the worst first."""
    row = NodeHealth.objects.filter(node=node).first()
    policy = saved_policy(node.cluster)
    checks = checks_with(policy.checks)
    found = [
        finding_row(one, checks[one.check_code])
        for one in HealthFinding.objects.filter(node=node).order_by("since")
        if one.check_code in checks
    ]
    found.sort(key=lambda one: -Action(one["action"]).rank)
    return {
        **health_row(row),
        "node": node.name,
        "cluster": node.cluster.name,
        "findings": found,
        "is_watched": policy.evaluated_at is not None,
    }


def finding_row(row: HealthFinding, check: Any) -> FindingShape:
    """Return one finding."""
    gpu = None if row.gpu == NODE else row.gpu
    return {
        "check": row.check_code,
        "label": check.label,
        "gpu": gpu,
        "why": why_text(row.check_code, gpu, row.params),
        "advice": check.advice,
        "action": str(Action.WARN if row.is_muted else check.action),
        "is_critical": check.is_critical,
        "is_muted": row.is_muted,
        "since": row.since,
        "ended_at": row.ended_at,
        "returns": 0 if check.needs_operator else check.returns,
    }


def device_findings(nodes: Iterable[UUID]) -> dict[tuple[UUID, int], list[str]]:
    """Return why GPUs of these nodes are unhealthy, by node and index. One statement."""
    found: dict[tuple[UUID, int], list[str]] = {}
    rows = HealthFinding.objects.filter(node__in=list(nodes)).exclude(gpu=NODE).order_by("since")
    for row in rows:
        if row.check_code in BY_CODE:
            text = why_text(row.check_code, None, row.params)
            found.setdefault((row.node_id, row.gpu), []).append(text)
    return found


def policy_row(cluster: Cluster) -> HealthPolicyShape:
    """Return the checks of a cluster with their settings, its limits, and its breaker."""
    policy = saved_policy(cluster)
    checks = checks_with(policy.checks)
    counts = state_counts([cluster.id])
    return {
        "cluster": cluster.name,
        "is_acting": policy.is_acting,
        "can_drain": may_drain(cluster),
        "most_percent": policy.most_percent,
        "most_per_hour": policy.most_per_hour,
        "stopped_at": policy.stopped_at,
        "stopped": stopped_text(policy.stopped_for) if policy.stopped_at else "",
        "evaluated_at": policy.evaluated_at,
        "preset": preset_of(policy.checks),
        "presets": [{"name": one.name, "title": one.title, "about": one.about} for one in PRESETS],
        "counts": counts,
        "checks": [
            {
                "code": check.code,
                "label": check.label,
                "is_critical": check.is_critical,
                "action": str(check.action),
                "threshold": check.threshold,
                "unit": check.unit,
                "minutes": check.minutes,
                "returns": check.returns,
                "is_changed": check.code in policy.checks,
                "has_threshold": check.threshold is not None and check.unit != "",
            }
            for check in (checks[known.code] for known in CHECKS)
        ],
    }


def unhealthy_by_cluster() -> list[dict[str, Any]]:
    """Return the unhealthy nodes and their GPUs by cluster and state, the worst state first."""
    rows = NodeHealth.objects.filter(state__in=UNHEALTHY, node__is_gone=False).order_by()
    found = rows.values("state", cluster=F("node__cluster__name")).annotate(
        nodes=Count("node", distinct=True), gpus=Count("node__gpus")
    )
    order = {str(state): n for n, state in enumerate(reversed(UNHEALTHY))}
    counted: list[dict[str, Any]] = [{**row} for row in found]
    return sorted(counted, key=lambda row: (order[row["state"]], row["cluster"]))


def state_counts(clusters: Iterable[UUID] | None = None) -> dict[str, int]:
    """Return the number of nodes by health, of these clusters or of all."""
    nodes = Node.objects.filter(is_gone=False)
    if clusters is not None:
        nodes = nodes.filter(cluster__in=list(clusters))
    rows = NodeHealth.objects.filter(node__in=nodes, state__in=UNHEALTHY).order_by()
    counts = Counter(dict(rows.values_list("state").annotate(n=Count("id"))))
    unhealthy = {str(state): counts[state] for state in UNHEALTHY}
    total = sum(unhealthy.values())
    return {"healthy": nodes.count() - total, **unhealthy, "unhealthy": total}
