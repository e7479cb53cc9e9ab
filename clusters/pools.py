"""Read pools: which there are, who may use them, and which nodes are in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from django.db.models import Q

from clusters.models import Cluster, Node, Pool, PoolGrant
from clusters.node_capacity import NodeRow
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Team
from workspaces.tenancy.scope import current


def find_pool(name: str) -> Pool:
    """Return the pool with this name. Raises NotFound."""
    row = (
        Pool.objects.select_related("cluster").filter(name=name).first()
        if name.isprintable()
        else None
    )
    if row is None:
        raise NotFound(Message("There is no pool {x}.", x=repr(name[:80])))
    return row


def pools_for(team: Team) -> list[Pool]:
    """Return the pools of enabled clusters that are open or granted to the team."""
    granted = PoolGrant.objects.filter(team=team).values("pool_id")
    return list(
        Pool.objects.select_related("cluster")
        .filter(Q(is_open=True) | Q(id__in=granted), cluster__is_enabled=True)
        .order_by("cluster__created_at", "name")
    )


def pools_of(cluster: Cluster) -> list[Pool]:
    """Return the pools of one cluster by name."""
    return list(Pool.objects.filter(cluster=cluster).order_by("name"))


def pools_visible_to(actor: Actor) -> list[Pool]:
    """Return all pools for operators, else those open or granted in the current organization."""
    rows = Pool.objects.select_related("cluster").order_by("cluster__name", "name")
    if actor.may(Permission.CLUSTERS_READ):
        return list(rows)
    return list(rows.filter(Q(is_open=True) | Q(id__in=PoolGrant.objects.values("pool_id"))))


def names_visible_to(actor: Actor) -> set[str]:
    """Return the names of the visible pools and of clusters without pools."""
    return {pool.name for pool in pools_visible_to(actor)} | set(
        Cluster.objects.filter(pools=None).values_list("name", flat=True)
    )


def teams_of(pools: Iterable[Pool]) -> dict[Any, list[str]]:
    """Return the slugs of granted teams by pool, in the current organization."""
    assert current().org_id is not None, "grants of other organizations are not told"
    found: dict[Any, list[str]] = {pool.id: [] for pool in pools}
    for pool_id, slug in (
        PoolGrant.objects.filter(pool__in=found)
        .order_by("team__slug")
        .values_list("pool_id", "team__slug")
    ):
        found[pool_id].append(slug)
    return found


class IdentityShape(TypedDict):
    user: str
    account: str
    qos: str


def identities_of(pools: Iterable[Pool]) -> dict[Any, dict[str, IdentityShape]]:
    """Return the identities by pool and team slug, in the current organization. For operators."""
    found: dict[Any, dict[str, IdentityShape]] = {pool.id: {} for pool in pools}
    for row in (
        PoolGrant.objects.filter(pool__in=found).select_related("team").order_by("team__slug")
    ):
        given: IdentityShape = {"user": row.run_as, "account": row.account, "qos": row.qos}
        if any(given.values()):
            found[row.pool_id][row.team.slug] = given
    return found


def is_in(pool: Pool, node: NodeRow | Node, gpu_types: Iterable[str]) -> bool:
    """Return whether the node matches the pool's rule."""
    return (
        (not pool.partition or pool.partition in node.partitions)
        and (not pool.gpu_type or pool.gpu_type in gpu_types)
        and all(node.labels.get(name) == value for name, value in pool.labels.items())
    )
