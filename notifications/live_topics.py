"""The live topics of this app, and who may watch them."""

from __future__ import annotations

from uuid import UUID

from workspaces.access.actors import Actor
from workspaces.access.subscriptions import SubscriptionGrant, no_topic


def _of_person(actor: Actor, pk: UUID, topic: str) -> SubscriptionGrant:
    """Authorize only the person; the messages say that something changed, not what."""
    if actor.user_id != pk:
        raise no_topic()
    return SubscriptionGrant((topic,))


TOPICS = {
    "notifications": _of_person,
}
