"""The notifications of this app: their kinds, and which events notify whom.

A function gets an event and returns notices; it reads what the event is about, so that a deleted
object notifies nobody either.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clusters.models import Node
from clusters.services.pool_requests import KIND as POOL_REQUESTS
from clusters.services.pool_requests import asked
from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.permissions import Permission as P
from workspaces.recipients import Notice, NoticeKind, active, operators, people_who_may

KINDS = (
    NoticeKind(
        "pool_ending",
        70,
        Message("Pool ending", context="kind of notification"),
        Message("GPUs that your team was granted end soon, or have ended."),
        permissions=(P.NODES_READ,),
        email=True,
    ),
    NoticeKind(
        "gpu_unhealthy",
        100,
        Message("Unhealthy hardware", context="kind of notification"),
        Message("A GPU, a node or a cluster has a problem."),
        for_team=False,
        operators_only=True,
    ),
)


def _pool_ending(event: Event) -> Iterable[Notice]:
    row = POOL_REQUESTS.row_of(event)
    if row is None:
        return
    facts: dict[str, Any] = {**asked(row), "pool": row.pool.name if row.pool else ""}
    if event.kind == "pool.ends_soon":
        title = Message("{gpus} × {type} for {team} end soon", **facts)
        body = Message(
            "They end on {date} UTC. Renew them, or let them end: running jobs continue, new jobs "
            "can't use the pool {pool}.",
            date=f"{row.ends_at:%Y-%m-%d %H:%M}",
            **facts,
        )
    else:
        title = Message("{gpus} × {type} for {team} have ended", **facts)
        body = Message("Running jobs continue; new jobs can't use the pool {pool}.", **facts)
    leads = people_who_may(P.JOBS_ADMIN, row.org_id, row.team_id)
    users = {user.id: user for user in (*active([row.asker]), *leads)}
    yield Notice(
        "pool_ending",
        row.org_id,
        list(users.values()),
        title,
        POOL_REQUESTS.path(row),
        body,
        P.NODES_READ,
        row.team_id,
    )


def _node(event: Event) -> Node | None:
    return Node.objects.filter(id=event.subject_id).first() if event.subject_id else None


def _xid(event: Event) -> Iterable[Notice]:
    node = _node(event)
    if node and event.data.get("action") == "drain":
        facts = {name: event.data.get(name, "?") for name in ("code", "gpu", "meaning")}
        title = Message("GPU {gpu} on {node} reported XID {code}", node=node.name, **facts)
        yield _of_node(node, title, Message("{meaning}", **facts))


def _node_unhealthy(event: Event) -> Iterable[Notice]:
    node = _node(event)
    after = event.data.get("after")
    state = after.get("state") if isinstance(after, dict) else event.data.get("state")
    if node and state != "healthy":
        check = str(event.data.get("check") or event.data.get("why") or "")
        gpu = event.data.get("gpu")
        where = f"GPU {gpu}" if gpu not in (None, "") else ""
        title = Message(
            "{node} is unhealthy: {state}",
            context="text, clusters",
            node=node.name,
            state=state or "?",
        )
        yield _of_node(node, title, Message.joined(" · ", (check, where)))


def _of_node(node: Node, title: Message, body: Message) -> Notice:
    path = f"/platform/nodes/{node.name}"
    return Notice("gpu_unhealthy", None, operators(), title, path, body)


def _cluster_silent(event: Event) -> Iterable[Notice]:
    name = str(event.data.get("name", ""))
    title = Message("Cluster {name} does not respond", name=name)
    body = Message.joined("", [str(event.data.get("said", ""))])
    yield Notice("gpu_unhealthy", None, operators(), title, f"/platform/clusters/{name}", body)


def _health_stopped(event: Event) -> Iterable[Notice]:
    name = str(event.data.get("name", ""))
    title = Message("Health rules of cluster {name} have stopped acting", name=name)
    body = Message("Too many nodes failed at once. Check whether it is a false alarm.")
    yield Notice("gpu_unhealthy", None, operators(), title, f"/platform/clusters/{name}", body)


MAPPERS = {
    "pool.ends_soon": _pool_ending,
    "pool.expired": _pool_ending,
    "node.xid": _xid,
    "node.health_changed": _node_unhealthy,
    "node.quarantined": _node_unhealthy,
    "cluster.silent": _cluster_silent,
    "cluster.health_stopped": _health_stopped,
}
