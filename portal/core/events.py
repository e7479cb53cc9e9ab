"""Recording facts. An event is written in the transaction of the change that it tells, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from portal.core.models import Event

request_id: ContextVar[str] = ContextVar("request_id", default="")


@dataclass(frozen=True)
class Fact:
    """What is to be recorded: `kind` in the past tense (`job.submitted`), `actor` an e-mail or a part's name."""

    kind: str
    org_id: UUID | None
    subject_type: str
    subject_id: UUID | None
    actor: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


def record(fact: Fact) -> Event:
    """Write one event."""
    return record_all([fact])[0]


def record_all(facts: Iterable[Fact]) -> list[Event]:
    """Write many events in one statement, in order."""
    return Event.objects.bulk_create([
        Event(kind=f.kind, org_id=f.org_id, subject_type=f.subject_type, subject_id=f.subject_id, actor=f.actor,
              data=dict(f.data), request_id=request_id.get())
        for f in facts
    ], batch_size=500)
