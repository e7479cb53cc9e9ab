"""Live topics: what they are about, and whose access they depend on.

Apps declare theirs in `live_topics.py`. Forbidden topics count as missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.models import Organization


@dataclass(frozen=True)
class SubscriptionGrant:
    """The result of authorizing a subscription.

    `bus_topics` are the topics on the bus; `log_key` is the stored log behind a log topic. Access
    depends on the members and roles of `org_id`, or on any organization if None.
    """

    bus_topics: tuple[str, ...]
    log_key: str = ""
    org_id: UUID | None = None


# Authorize an actor to watch the object of an id, by the whole name of the topic.
Topic = Callable[[Actor, UUID, str], SubscriptionGrant]


def enter(actor: Actor, org_id: UUID) -> Actor:
    """Return the actor inside an organization. Raises NotFound."""
    org = Organization.objects.filter(id=org_id).first()
    if org is None:
        raise no_topic()
    return actor.enter(org)


def no_topic() -> NotFound:
    """Return the error for a topic that is missing or not visible."""
    return NotFound(Message("This topic does not exist, or you may not see it."))
