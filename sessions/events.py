"""How the events of sessions read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from uuid import UUID

from portal.core.event_texts import Data, EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark
from sessions.models import InteractiveSession
from sessions.templates import title_of


def _sessions(ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
    rows = InteractiveSession.objects.select_related("org").filter(id__in=ids)
    return {r.id: (f"#{r.number} {r.name}", f"/{r.org.slug}/sessions/{r.number}") for r in rows}


def _started(data: Data) -> Data:
    return {"template": title_of(str(data["template"]))} if "template" in data else {}


def _shared(data: Data) -> Data:
    access = (data.get("after") or {}).get("access", "")
    return {"access": _ACCESS[access]} if access in _ACCESS else {}


_ACCESS = {
    "read": Message("to look at only", context="access to a session"),
    "write": Message("to work in it", context="access to a session"),
}
EVENTS = (
    EventKind(
        "interactive.started",
        (
            Message("{actor} started the session {subject} with {template}"),
            Message("{actor} started the session {subject}"),
        ),
        _started,
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
        "interactive.token_shown",
        (Message("{actor} read the token of the session {subject}"),),
        mark=Mark.HOLLOW,
    ),
    EventKind(
        "interactive.stopped", (Message("{actor} stopped the session {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "interactive.shared",
        (
            Message("{actor} shared the session {subject} with {who}, {access}"),
            Message("{actor} shared the session {subject}"),
        ),
        _shared,
    ),
    EventKind(
        "interactive.unshared",
        (
            Message("{actor} no longer shares the session {subject} with {who}"),
            Message("{actor} no longer shares the session {subject}"),
        ),
        mark=Mark.BAR,
    ),
)
GROUPS = {"interactive": Message("Interactive sessions", context="way to group")}
SUBJECTS = (Subject("interactive", Message("a session", context="subject of events"), _sessions),)
