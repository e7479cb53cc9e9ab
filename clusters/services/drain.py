"""Drain nodes and return them to service.

The scheduler is asked; the row changes at once and the next inventory confirms it.
"""

from __future__ import annotations

from typing import cast

from django.db import transaction
from django.db.models import F

from clusters.backends import backend_of
from clusters.health.overrides import release_findings, take_over
from clusters.models import Cluster, Node
from portal.core import errors
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from schedulers import backends
from schedulers.contract import Capability, Rejected, SupportsDrain, Unavailable
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission


def may_drain(cluster: Cluster) -> bool:
    """Return whether the cluster's backend can drain nodes."""
    kind = backends().get(cluster.backend)
    return kind is not None and Capability.DRAIN in kind.capabilities


def drain_node(*, actor: Actor, node: Node, why: str, was: str | None = None) -> Node:
    """Drain a node: it takes no new jobs, running ones continue.

    `was` is why it was drained when a person saw it, "" if it was not. Raises NotPermitted,
    InvalidInput, Conflict, Unavailable.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    why = why.strip()
    if not 0 < len(why) <= 200 or not why.isprintable():
        raise errors.InvalidInput.at("reason", "is required: a reason of up to 200 characters")
    _check_unchanged(node, was)
    _call_scheduler(node, lambda backend: backend.drain(node.name, f"{why} ({actor.email})"))
    take_over(node)
    return _write(actor.email, node, is_drained=True, note=f"{why} ({actor.email})", reason=why)


def resume_node(*, actor: Actor, node: Node, was: str | None = None) -> Node:
    """Return a drained node to service; `was` as for `drain_node`.

    Raises NotPermitted, Conflict, Unavailable.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    _check_unchanged(node, was)
    _call_scheduler(node, lambda backend: backend.resume(node.name))
    release_findings(node)
    return _write(actor.email, node, is_drained=False, note="", reason="")


def drain_by_rule(node: Node, why: str, who: str) -> Node:
    """Drain a node for its health. Raises Conflict, Unavailable."""
    _call_scheduler(node, lambda backend: backend.drain(node.name, why))
    return _write(who, node, is_drained=True, note=why, reason=why)


def resume_by_rule(node: Node, who: str) -> Node:
    """Return a node that a rule drained to service. Raises Conflict, Unavailable."""
    _call_scheduler(node, lambda backend: backend.resume(node.name))
    return _write(who, node, is_drained=False, note="", reason="")


def find_node(cluster: Cluster, name: str) -> Node:
    """Return a node of the cluster by name. Raises NotFound."""
    row = (
        Node.objects.select_related("cluster").filter(cluster=cluster, name=name).first()
        if name.isprintable()
        else None
    )
    if row is None:
        raise errors.NotFound(
            Message("There is no node {x} in {name}.", x=repr(name[:80]), name=cluster.name)
        )
    return row


def _check_unchanged(node: Node, was: str | None) -> None:
    """Raise Conflict if somebody else has drained or resumed the node in the meantime."""
    if was is None:
        return
    row = Node.objects.get(id=node.id)
    now = row.note if row.is_drained else ""
    # The scheduler may add to a reason, or cut it
    is_same = (was in now or now in was) if was and now else was == now
    if not is_same:
        raise errors.Conflict(
            Message("Somebody else has drained or resumed {name} in the meantime.", name=node.name),
            code="changed",
        )


def _call_scheduler(node: Node, call) -> None:  # type: ignore[no-untyped-def]
    cluster = node.cluster
    if not may_drain(cluster):
        raise errors.Conflict(
            Message(
                "{name} has no scheduler that can drain nodes. Disable the cluster instead.",
                name=cluster.name,
            ),
            code="cannot_drain",
        )
    try:
        call(cast(SupportsDrain, backend_of(cluster)))
    except Rejected as error:
        raise errors.Conflict(
            f"{cluster.name} refused: {error}", code="refused_by_cluster"
        ) from None
    except Unavailable as error:
        raise errors.Unavailable(
            Message("{name} does not respond: {error}. Try again.", name=cluster.name, error=error)
        ) from None


@transaction.atomic
def _write(who: str, node: Node, *, is_drained: bool, note: str, reason: str) -> Node:
    was_drained = node.is_drained
    Node.objects.filter(id=node.id).update(is_drained=is_drained, note=note[:300])
    Cluster.objects.filter(id=node.cluster_id).update(inventory=F("inventory") + 1)
    node.is_drained, node.note = is_drained, note[:300]
    record(
        EventRecord(
            "node.drained" if is_drained else "node.resumed",
            None,
            "node",
            node.id,
            who,
            {
                "cluster": node.cluster.name,
                "name": node.name,
                **({"why": reason} if reason else {}),
                "before": {"is_drained": was_drained},
                "after": {"is_drained": is_drained},
            },
        )
    )
    return node
