"""The live topics of this app, and who may watch them."""

from __future__ import annotations

from uuid import UUID

from clusters.models import Node
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.access.subscriptions import SubscriptionGrant, enter, no_topic
from workspaces.models import Organization
from workspaces.organizations.selectors import orgs_of


def _node_list(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    if not enter(actor, pk).may(Permission.NODES_READ):
        raise no_topic()
    return SubscriptionGrant((topic,), org_id=pk)


def _of_node(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    """Authorize anyone who may see nodes in some organization, because nodes have no owner."""
    if not Node.objects.filter(id=pk).exists() or not any(
        enter(actor, org_id).may(Permission.NODES_READ) for org_id in _orgs_of(actor)
    ):
        raise no_topic()
    return SubscriptionGrant((topic,))


def _orgs_of(actor: Actor) -> list[UUID]:
    slugs = [org["slug"] for org in orgs_of(actor)]
    return list(Organization.objects.filter(slug__in=slugs).values_list("id", flat=True)[:20])


TOPICS = {
    "nodes": _node_list,
    "metrics:node": _of_node,
}
