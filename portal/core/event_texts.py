"""Events in words: each app declares in `events.py` how the events read that it records.

The words follow from the stored event alone, so old events read well, and the API, files and the CLI
say the same. Pages add links (`workspaces.audit.links`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import Any
from uuid import UUID

from portal.core.declarations import declarations, declared
from portal.core.messages import Message
from portal.core.models import Event
from portal.core.states import Mark

Data = Mapping[str, Any]
MOST = 300  # characters of a parameter
# Components that record events as actors
_COMPONENTS = {
    "agent": Message("The node agent", context="text, portal"),
    "health": Message("A health rule", context="text, portal"),
    "idle rule": Message("The idle rule", context="text, portal"),
}
_MUSTER = frozenset({"", "muster", "platform", "system", "trash", "watcher"})


@dataclass(frozen=True)
class EventKind:
    """How events of a kind read.

    `texts` are sentences with named parameters, the fullest first: the first one counts whose
    parameters the event has, so the last one takes {actor} and {subject} only. A parameter is a value
    of `facts(data)`, else of the event's data, or of what is `after` and `before` in it; {was_NAME}
    is the value before. `mark` is the mark in histories.
    """

    kind: str
    texts: tuple[Message, ...]
    facts: Callable[[Data], Data] | None = None
    mark: Mark | Callable[[Data], Mark] = Mark.HOLLOW


@dataclass(frozen=True)
class Subject:
    """A type of what events are about: its name, and where its page is.

    `find(ids)` returns name and address of those that exist, in the scope of the reader.
    """

    type: str
    title: Message
    find: Callable[[Collection[UUID]], Mapping[UUID, tuple[str, str]]] | None = None


@cache
def kinds() -> Mapping[str, EventKind]:
    """Return the declared kinds by name."""
    return {each.kind: each for each in declared("events", "EVENTS")}


@cache
def subjects() -> Mapping[str, Subject]:
    """Return the declared types of subjects by name."""
    return {each.type: each for each in declared("events", "SUBJECTS")}


@cache
def groups() -> tuple[tuple[str, Message], ...]:
    """Return the groups of kinds, such as `member`, with what a menu calls them."""
    titles = {
        prefix: title
        for _, found in declarations("events", "GROUPS")
        for prefix, title in found.items()
    }
    return tuple(sorted(titles.items(), key=lambda pair: str(pair[1])))


def event_text(event: Event, actor: Message | None = None) -> Message:
    """Return an event as a sentence; one of an unknown kind, such as of an older version, names it.

    `actor` is shown instead of who did it.
    """
    kind = kinds().get(event.kind) or _unknown(event.kind)
    values = _Values(event, kind, actor)
    text = next((t for t in kind.texts if values.has(t)), kind.texts[-1])
    return text.format(**{name: values[name] for name in names(text)})


def mark_of(kind: str, data: Data) -> Mark:
    """Return the mark of an event in a history."""
    mark = (kinds().get(kind) or _unknown(kind)).mark
    return mark if isinstance(mark, Mark) else mark(data)


def subject_of(event: Event) -> str:
    """Return the display name of the event's subject, "" if the event does not say."""
    data = event.data
    name = next((data[n] for n in ("name", "email", "slug", "client_id") if data.get(n)), "")
    number = data.get("number")
    return f"#{number}" if event.subject_type == "job" and number else str(name)


def actor_name(email: str) -> Message | str:
    """Return an actor in words: an e-mail address as it is, a component by its name."""
    return (
        Message("Muster", context="text, portal")
        if email in _MUSTER
        else _COMPONENTS.get(email, email)
    )


@cache
def names(text: Message) -> tuple[str, ...]:
    """Return the parameters of a sentence."""
    return tuple(name for _, name, _, _ in Formatter().parse(text.template) if name)


def _unknown(kind: str) -> EventKind:
    what = kind.replace("_", " ").replace(".", " ")
    return EventKind(kind, (Message("{actor}: {what}, {subject}"),), lambda data: {"what": what})


class _Values:
    """The values of parameters."""

    def __init__(self, event: Event, kind: EventKind, actor: Message | None):
        data = event.data
        self._event, self._who = event, actor
        self._facts = dict(kind.facts(data)) if kind.facts else {}
        self._after, self._before = (
            part if isinstance(part, Mapping) else {}
            for part in (data.get("after"), data.get("before"))
        )

    def has(self, text: Message) -> bool:
        return all(self[name] != "" for name in names(text))

    def __getitem__(self, name: str) -> str:
        if name in self._facts:
            return _shown(self._facts[name])
        if name == "actor":
            return self._actor()
        if name == "subject":
            named = subject_of(self._event) or self._after.get("name") or self._before.get("name")
            return _shown(named) or self._nameless()
        if name.startswith("was_"):
            return _shown(self._before.get(name.removeprefix("was_")))
        for part in (self._event.data, self._after, self._before):
            if text := _shown(part.get(name)):
                return text
        return ""

    def _actor(self) -> str:
        who = self._who if self._who and "@" in self._event.actor else actor_name(self._event.actor)
        if person := self._event.on_behalf_of:
            return Message(
                "{actor} (for {person})", context="text, portal", actor=who, person=person
            )
        return who

    def _nameless(self) -> str:
        known = subjects().get(self._event.subject_type)
        return known.title if known else self._event.subject_type or "–"


def _shown(value: object) -> str:
    """Return a value as text; "" for what a sentence can't say."""
    if isinstance(value, Message):
        return value
    if isinstance(value, list | tuple):
        return ", ".join(str(one) for one in value)[:MOST]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)[:MOST]
