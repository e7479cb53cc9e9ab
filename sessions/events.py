"""How the events of sessions read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark
from sessions.models import InteractiveSession


def _sessions(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = InteractiveSession.objects.select_related("org").filter(id__in=ids)
    return {r.id: (f"#{r.number} {r.name}", f"/{r.org.slug}/sessions/{r.number}") for r in rows}


EVENTS = (
    EventKind(
        "interactive.started",
        (
            Message("{actor} started the session {subject} with {template}"),
            Message("{actor} started the session {subject}"),
        ),
        mark=Mark.PULSE,
    ),
    EventKind(
        "interactive.resumed",
        (Message("{actor} started the session {subject} again"),),
        mark=Mark.PULSE,
    ),
    EventKind(
        "interactive.restarted",
        (Message("{actor} restarted the session {subject}"),),
        mark=Mark.PULSE,
    ),
    EventKind(
        "interactive.stopped", (Message("{actor} stopped the session {subject}"),), mark=Mark.BAR
    ),
)
GROUPS = {"interactive": Message("Interactive sessions", context="way to group")}
SUBJECTS = (Subject("interactive", Message("a session", context="subject of events"), _sessions),)
