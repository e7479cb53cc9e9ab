"""Recording facts. An event is written in the transaction of the change that it tells, or not at all.

Who asked, from where and with what is context: a door sets `request_id` and `caller`, and every fact below it carries them.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from portal.core import clock
from portal.core.bulk import insert_rows
from portal.core.ids import uuid7
from portal.core.models import Event


@dataclass(frozen=True)
class Caller:
    """`address`: the client's, as the door knows it. `via`: what they came with (`session`, `token <id> <name>`).
    `on_behalf_of`: the e-mail of the person for whom the actor acts, where that is somebody else. `acts`: the e-mail of who acts in that
    person's place; what services tell as done by the person was done by them."""

    address: str = ""
    via: str = ""
    on_behalf_of: str = ""
    acts: str = ""

    def who(self, actor: str) -> str:
        """Whose doing it was that services tell of `actor`."""
        return self.acts if self.acts and actor == self.on_behalf_of else actor


request_id: ContextVar[str] = ContextVar("request_id", default="")
caller: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039  frozen

_COLUMNS = (
    "id",
    "at",
    "kind",
    "org_id",
    "actor",
    "on_behalf_of",
    "via",
    "address",
    "subject_type",
    "subject_id",
    "data",
    "request_id",
)


@dataclass(frozen=True)
class Fact:
    """What is to be recorded: `kind` in the past tense (`job.submitted`), `actor` an e-mail or a part's name. What changed stands
    in `data` as `before` and `after`, each by name. Never a secret."""

    kind: str
    org_id: UUID | None
    subject_type: str
    subject_id: UUID | None
    actor: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


def record(fact: Fact) -> None:
    """Write one event."""
    record_all([fact])


def record_all(facts: Iterable[Fact]) -> None:
    """Write many events in one statement, in order."""
    at, request, by = clock.now(), request_id.get(), caller.get()
    rows = [
        (
            uuid7(),
            at,
            f.kind,
            f.org_id,
            by.who(f.actor),
            by.on_behalf_of,
            by.via,
            by.address,
            f.subject_type,
            f.subject_id,
            dict(f.data),
            request,
        )
        for f in facts
    ]
    if rows:
        insert_rows(Event, _COLUMNS, rows)


def came_with(via: str) -> None:
    """The door has found out what the caller came with. Holds until the door's own context ends."""
    caller.set(replace(caller.get(), via=via[:150]))


def acts_for(operator: str, person: str) -> None:
    """The door has found out that an operator acts as that person. Holds until the door's own context ends."""
    caller.set(replace(caller.get(), on_behalf_of=person, acts=operator))


@contextmanager
def on_behalf_of(email: str) -> Iterator[None]:
    """What is recorded inside was done for that person."""
    token = caller.set(replace(caller.get(), on_behalf_of=email))
    try:
        yield
    finally:
        caller.reset(token)


def clean_address(text: object) -> str:
    """An IP address in its usual form; empty for anything else. (The doors have already settled which header may be believed.)"""
    try:
        return str(ipaddress.ip_address(str(text).partition("%")[0]))
    except ValueError:
        return ""


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What differs between the two, as an event keeps it."""
    moved = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {
        "before": {n: before[n] for n in moved if n in before},
        "after": {n: after[n] for n in moved if n in after},
    }
