"""A sealed chain of the events of one organization."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from portal.core.audit.anchors import Anchorer
from portal.core.audit.sealing import Sealer
from portal.core.events import EventRecord, record_all

ORG = UUID("0190aaaa-0000-7000-8000-000000000001")
OTHER = UUID("0190aaaa-0000-7000-8000-000000000002")
Write = Callable[..., None]


def write(count: int = 1, org: UUID | None = ORG, **data: object) -> None:
    record_all(
        EventRecord(
            "thing.changed" if n else "org.created",
            org,
            "thing",
            ORG,
            "ada@atlas.example",
            {"n": n, "before": {"a": n}, "after": {"a": n + 1}, **data},
        )
        for n in range(count)
    )


def seal(sealer: Sealer | None = None, *, is_anchored: bool = True) -> int:
    """Run the sealer once, and anchor every chain."""
    sealer = sealer or Sealer()
    count = sealer.look()
    if is_anchored:
        Anchorer().look(sealer.touched)
    return count


@pytest.fixture
def sealed(db) -> UUID:
    """Create twenty events, sealed and anchored."""
    write(20)
    seal()
    return ORG
