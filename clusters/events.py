"""How the events of clusters, nodes, pools and plans read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from clusters.health.checks import stopped_text, why_text
from clusters.models import Cluster, MigPlan, Node, Pool, PoolRequest
from clusters.services.pool_requests import KIND as POOL_REQUESTS
from clusters.states import HEALTH
from portal.core.event_texts import EventKind, Subject
from portal.core.formatting import span_text
from portal.core.messages import Message
from portal.core.states import Mark
from workspaces.approvals.events import approval_events

_NODE = "/platform/nodes/{}?cluster={}"
_POOL = "/platform/pools/{}"


def _clusters(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Cluster.objects.filter(id__in=ids)
    return {row.id: (row.name, f"/platform/clusters/{row.name}") for row in rows}


def _nodes(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Node.objects.select_related("cluster").filter(id__in=ids, is_gone=False)
    return {row.id: (row.name, _NODE.format(row.name, row.cluster.name)) for row in rows}


def _pools(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = Pool.objects.filter(id__in=ids)
    return {row.id: (row.name, _POOL.format(row.name)) for row in rows}


def _requests(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = PoolRequest.objects.select_related("org", "team").filter(id__in=ids)
    return {row.id: (str(POOL_REQUESTS.text(row)), POOL_REQUESTS.path(row)) for row in rows}


def _plans(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = MigPlan.objects.select_related("cluster").filter(id__in=ids)
    return {row.id: (row.cluster.name, f"/platform/mig/{row.id}") for row in rows}


def _tested(data: Mapping[str, Any]) -> Mapping[str, Any]:
    if "is_ok" not in data:
        return {}
    return {
        "result": Message("succeeded", context="part of a sentence")
        if data["is_ok"]
        else Message("failed", context="part of a sentence")
    }


def _tested_mark(data: Mapping[str, Any]) -> Mark:
    return Mark.CHECK if data.get("is_ok") else Mark.CROSS


def _answered(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"span": span_text(data["seconds"])} if "seconds" in data else {}


def _stopped(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"stopped": stopped_text(data)}


def _health(data: Mapping[str, Any]) -> Mapping[str, Any]:
    facts: dict[str, Any] = {}
    if key := (data.get("after") or {}).get("state"):
        facts["state"] = HEALTH[key].word
    if data.get("check"):
        facts["reason"] = why_text(data["check"], data.get("gpu"), data.get("params") or {})
    return facts


def _health_mark(data: Mapping[str, Any]) -> Mark:
    return HEALTH[(data.get("after") or {}).get("state", "healthy")].mark


EVENTS = (
    EventKind("cluster.connected", (Message("{actor} connected the cluster {subject}"),)),
    EventKind(
        "cluster.changed",
        (
            Message("{actor} changed {options} of the cluster {subject}"),
            Message("{actor} changed the cluster {subject}"),
        ),
    ),
    EventKind(
        "cluster.tested",
        (
            Message("{actor} tested the connection to {subject}, which {result}"),
            Message("{actor} tested a connection"),
        ),
        facts=_tested,
        mark=_tested_mark,
    ),
    EventKind(
        "cluster.enabled", (Message("{actor} enabled the cluster {subject}"),), mark=Mark.CHECK
    ),
    EventKind(
        "cluster.disabled", (Message("{actor} disabled the cluster {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "cluster.removed", (Message("{actor} deleted the cluster {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "cluster.silent",
        (
            Message("The cluster {subject} stopped responding: {said}"),
            Message("The cluster {subject} stopped responding"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "cluster.answered",
        (
            Message("The cluster {subject} responds again after {span}: {said}"),
            Message("The cluster {subject} responds again"),
        ),
        facts=_answered,
        mark=Mark.CHECK,
    ),
    EventKind(
        "cluster.credential_used",
        (
            Message("{actor} used the credential of the cluster {subject}: {use}"),
            Message("{actor} used the credential of the cluster {subject}"),
        ),
    ),
    EventKind(
        "cluster.health_stopped",
        (
            Message("The health rules of {subject} stopped: {stopped}"),
            Message("The health rules of {subject} stopped"),
        ),
        facts=_stopped,
        mark=Mark.CROSS,
    ),
    EventKind(
        "cluster.health_reset",
        (Message("{actor} let the health rules of {subject} act again"),),
        mark=Mark.CHECK,
    ),
    EventKind(
        "cluster.health_policy_changed", (Message("{actor} changed the health rules of {subject}"),)
    ),
    EventKind(
        "node.drained",
        (
            Message("{actor} drained {subject}: {why}", context="event"),
            Message("{actor} drained {subject}", context="event"),
        ),
        mark=Mark.BAR,
    ),
    EventKind("node.resumed", (Message("{actor} returned {subject} to service"),), mark=Mark.CHECK),
    EventKind(
        "node.health_changed",
        (
            Message("{subject} changed to {state}: {reason}", context="event"),
            Message("{subject} changed to {state}", context="event"),
            Message("The health of {subject} changed"),
        ),
        facts=_health,
        mark=_health_mark,
    ),
    EventKind(
        "pool.created",
        (
            Message("{actor} created the pool {subject} of {cluster}"),
            Message("{actor} created the pool {subject}"),
        ),
    ),
    EventKind("pool.changed", (Message("{actor} changed the pool {subject}"),)),
    EventKind("pool.deleted", (Message("{actor} deleted the pool {subject}"),), mark=Mark.BAR),
    EventKind(
        "pool.granted",
        (
            Message("{actor} granted the pool {subject} to {team}"),
            Message("{actor} granted the pool {subject} to a team"),
        ),
    ),
    EventKind(
        "pool.revoked",
        (
            Message("{actor} took the pool {subject} from {team}"),
            Message("{actor} took the pool {subject} from a team"),
        ),
        mark=Mark.BAR,
    ),
    EventKind(
        "pool.reserved",
        (
            Message("The reservation {reservation} is active: {subject}"),
            Message("The reservation of {subject} is active"),
        ),
        mark=Mark.CHECK,
    ),
    EventKind(
        "pool.reservation_failed",
        (
            Message("The reservation {reservation} failed: {note}"),
            Message("The reservation of {subject} failed"),
        ),
        mark=Mark.CROSS,
    ),
    EventKind(
        "pool.released",
        (
            Message("The reservation {reservation} ended: {subject}"),
            Message("The reservation of {subject} ended"),
        ),
        mark=Mark.BAR,
    ),
    EventKind("pool.ends_soon", (Message("{subject}: the access ends soon"),), mark=Mark.SQUARE),
    EventKind(
        "mig.settings_changed", (Message("{actor} changed how GPUs of {subject} are partitioned"),)
    ),
    EventKind(
        "mig.planned",
        (
            Message("{actor} planned to partition GPUs of {nodes} in {subject}"),
            Message("{actor} planned to partition GPUs of {subject}"),
        ),
    ),
    EventKind(
        "mig.applied",
        (
            Message("{actor} started to partition GPUs of {nodes} in {subject}"),
            Message("{actor} started to partition GPUs of {subject}"),
        ),
        mark=Mark.PULSE,
    ),
    EventKind(
        "mig.stopped", (Message("{actor} stopped the partitioning of {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "mig.confirmed",
        (
            Message("{actor} confirmed a step on {node} in {subject}"),
            Message("{actor} confirmed a step in {subject}"),
        ),
    ),
    EventKind(
        "mig.discarded", (Message("{actor} discarded the plan for {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "mig.finished",
        (
            Message("The partitioning of {subject} ended: {state}"),
            Message("The partitioning of {subject} ended"),
        ),
    ),
    *approval_events(POOL_REQUESTS),
)
GROUPS = {
    "cluster": Message("Clusters", context="way to group"),
    "node": Message("Nodes", context="way to group"),
    "pool": Message("Pools", context="way to group"),
    "mig": Message("GPU partitioning", context="way to group"),
}
SUBJECTS = (
    Subject("cluster", Message("a cluster", context="subject of an event"), _clusters),
    Subject("node", Message("a node", context="subject of an event"), _nodes),
    Subject("pool", Message("a pool", context="subject of an event"), _pools),
    Subject("pool_request", Message("a request for GPUs"), _requests),
    Subject("pool_reservation", Message("reserved GPUs", context="subject of an event")),
    Subject("mig_plan", Message("a plan of partitioning"), _plans),
)
