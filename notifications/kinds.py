"""The kinds of notifications, and which events lead to them: what the apps declare in `notices.py`.

An event that no app names notifies nobody. The defaults of kinds are quiet: in the portal what one
would look for, by e-mail only what needs somebody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from portal.core.declarations import declarations, declared
from portal.core.models import Event
from workspaces.recipients import Notice, NoticeKind

Mapper = Callable[[Event], Iterable[Notice]]
KINDS: tuple[NoticeKind, ...] = tuple(
    sorted(declared("notices", "KINDS"), key=lambda kind: kind.order)
)
BY_NAME: Mapping[str, NoticeKind] = {kind.name: kind for kind in KINDS}
MAPPERS: Mapping[str, Mapper] = {
    event: mapper
    for _, found in declarations("notices", "MAPPERS")
    for event, mapper in found.items()
}


def notices_of(event: Event) -> list[Notice]:
    """Return the notices of an event. Run in a platform scope."""
    mapper = MAPPERS.get(event.kind)
    return list(mapper(event)) if mapper else []
