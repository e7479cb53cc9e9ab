"""The topics of live updates, which the apps declare in `live_topics.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from uuid import UUID

from portal.core.declarations import declarations
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.access.subscriptions import SubscriptionGrant, Topic
from workspaces.tenancy.scope import platform_scope

TOPICS: Mapping[str, Topic] = {
    name: topic
    for _, found in declarations("live_topics", "TOPICS")
    for name, topic in found.items()
}
_TOPIC = re.compile(r"([a-z:]+):([0-9a-f]{32})\Z")


def grant(actor: Actor, topic: str) -> SubscriptionGrant:
    """Authorize a subscription. Raises NotFound for a topic that is missing or not visible."""
    found = _TOPIC.match(topic)
    if found is None or found[1] not in TOPICS:
        raise NotFound(Message("There is no such topic."))
    with platform_scope("a topic names its organization only by what it is about"):
        return TOPICS[found[1]](actor, UUID(found[2]), topic)
