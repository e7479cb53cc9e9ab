"""States of things: one declaration of each for pages, lists, the API and the CLI.

An app declares the states of its things in `states.py` as `STATES`. A page shows one by
`<c-state of="node" value="down" />`, so the same state has the same word and mark everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

from portal.core.declarations import declared
from portal.core.messages import Message


class Mark(StrEnum):
    """The mark of a state and its colour: a class of static/css/components.css."""

    HOLLOW = "queued"  # waits, or has not begun
    HALF = "starting"  # is about to begin
    PULSE = "running"
    SQUARE = "stopping"  # needs attention
    CHECK = "succeeded"
    CROSS = "failed"
    BAR = "canceled"  # ended, or taken out on purpose
    DASHED = "unknown"


@dataclass(frozen=True)
class State:
    """A state: `key` as the API has it, and the word, the mark and the sentence that people see.

    A thing in an `is_active` state works or is used now; from an `is_final` one it does not come back
    by itself.
    """

    key: str
    word: Message
    mark: Mark
    meaning: Message
    is_active: bool = False
    is_final: bool = False


@dataclass(frozen=True)
class States:
    """The states of one kind of thing; `title` is the description of its fields in the API."""

    of: str
    title: str  # "State of a node."
    states: tuple[State, ...]

    @cached_property
    def by_key(self) -> Mapping[str, State]:
        return {state.key: state for state in self.states}

    def __getitem__(self, key: str) -> State:
        """Return a state; one that nobody declared, such as of a newer backend, shows its key."""
        known = self.by_key.get(key)
        return known or State(key, Message(key), Mark.DASHED, Message(""))

    @property
    def described(self) -> str:
        """Return what each state means, as Markdown for the API's documentation."""
        return "\n".join(
            [self.title, "", *(f"* `{s.key}`: {s.word}. {s.meaning}" for s in self.states)]
        )

    @property
    def choices(self) -> tuple[tuple[str, Message], ...]:
        """Return key and word of each state, for the menu or the chips of a filter."""
        return tuple((state.key, state.word) for state in self.states)


def state_of(of: str, key: str) -> State:
    """Return a state of a kind of thing. Raises LookupError for an unknown kind."""
    return _by_name()[of][key]


def titled(title: str) -> States | None:
    """Return the states whose fields have this description in the API."""
    return next((each for each in _by_name().values() if each.title == title), None)


@cache
def _by_name() -> Mapping[str, States]:
    return {each.of: each for each in declared("states", "STATES")}
