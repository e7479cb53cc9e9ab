"""Record audit events in the transaction of the change that they describe.

The entry point sets `request_id` and `caller`; every event below it carries them.
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
    """Who made the request.

    `address` is the client's IP address. `via` names the credential (`session`, `token <id>
    <name>`). `on_behalf_of` is the e-mail of the person for whom the actor acts, if that is
    somebody else. `acts` is the e-mail of the operator who impersonates that person: events that
    services attribute to the person are attributed to the operator.
    """

    address: str = ""
    via: str = ""
    on_behalf_of: str = ""
    acts: str = ""

    def who(self, actor: str) -> str:
        """Return who performed an action that services attribute to `actor`."""
        return self.acts if self.acts and actor == self.on_behalf_of else actor


request_id: ContextVar[str] = ContextVar("request_id", default="")
caller: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039  # frozen

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
class EventRecord:
    """An event to record.

    `kind` is in the past tense (`job.submitted`); `actor` is an e-mail or the name of a component.
    `data` holds changed values by name under `before` and `after`, and never a secret.
    """

    kind: str
    org_id: UUID | None
    subject_type: str
    subject_id: UUID | None
    actor: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


def record(fact: EventRecord) -> None:
    """Write one event."""
    record_all([fact])


def record_all(facts: Iterable[EventRecord]) -> None:
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


def set_credential(via: str) -> None:
    """Set the caller's credential until the context of the entry point ends."""
    caller.set(replace(caller.get(), via=via[:150]))


def set_impersonation(operator: str, person: str) -> None:
    """Set that an operator impersonates a person, until the context of the entry point ends."""
    caller.set(replace(caller.get(), on_behalf_of=person, acts=operator))


@contextmanager
def on_behalf_of(email: str) -> Iterator[None]:
    """Record events inside the block as done on behalf of that person."""
    token = caller.set(replace(caller.get(), on_behalf_of=email))
    try:
        yield
    finally:
        caller.reset(token)


def clean_address(text: object) -> str:
    """Return an IP address in canonical form, or "" for anything else.

    Entry points have already decided which proxy header to trust.
    """
    try:
        return str(ipaddress.ip_address(str(text).partition("%")[0]))
    except ValueError:
        return ""


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the differing values as `before` and `after`, as events store them."""
    moved = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {
        "before": {n: before[n] for n in moved if n in before},
        "after": {n: after[n] for n in moved if n in after},
    }
