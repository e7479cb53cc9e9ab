"""Recording facts. An event is written in the transaction of the change that it tells, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from portal.core import clock
from portal.core.bulk import insert_rows
from portal.core.ids import uuid7
from portal.core.models import Event

request_id: ContextVar[str] = ContextVar("request_id", default="")

_COLUMNS = ("id", "at", "kind", "org_id", "actor", "subject_type", "subject_id", "data", "request_id")


@dataclass(frozen=True)
class Fact:
    """What is to be recorded: `kind` in the past tense (`job.submitted`), `actor` an e-mail or a part's name."""

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
    at, request = clock.now(), request_id.get()
    rows = [(uuid7(), at, f.kind, f.org_id, f.actor, f.subject_type, f.subject_id, dict(f.data), request) for f in facts]
    if rows:
        insert_rows(Event, _COLUMNS, rows)
