"""Measure the audit trail on a durable PostgreSQL.

Compares recording an event, while the sealer runs, with a plain INSERT of the same columns into a
table without an index, and measures the verification of a chain of a million events
(`python -m bench.audit 200000` uses fewer and scales the result).
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

from bench import setting
from bench.table import Row, report
from tests.rig.processes import Folder

SECONDS, MILLION, CHUNK = 8.0, 1_000_000, 5000
EVENTS = int(sys.argv[1]) if sys.argv[1:] and __name__ == "__main__" else MILLION
ORG = UUID(int=7)
DATA = {
    "name": "vision",
    "email": "ben@atlas.example",
    "before": {"role": "member"},
    "after": {"role": "lead"},
}
TABLE = """
CREATE TABLE raw_event (
    id uuid, at timestamptz, kind text, org_id uuid, actor text, on_behalf_of text, via text,
    address text, subject_type text, subject_id uuid, data jsonb, request_id text
)"""
INSERT = """
INSERT INTO raw_event VALUES (
    %s, now(), 'team_member.changed', %s, 'ada@atlas.example', '', 'session', '203.0.113.9',
    'team', %s, %s, %s
)"""


def main() -> int:
    folder = Folder()
    try:
        setting.begin(folder)
        raw, ours = _appends()
        sealed, seconds = _million()
    finally:
        folder.close()
    report(
        [
            Row(
                "audit append, one transaction each, while the sealer runs",
                f"{raw:.0f} plain INSERTs/s",
                "–",
                f"{ours:.0f} facts/s: {ours / raw:.2f} of raw",
                "≥ 0.5 of raw",
                ours >= 0.5 * raw,
            ),
            Row(
                "sealing",
                "–",
                "–",
                f"{sealed:,.0f} events/s",
                "faster than they are written",
                sealed > ours,
            ),
            Row(
                "verify 1,000,000 events",
                "–",
                "–",
                f"{seconds:.1f} s",
                "≤ 60 s",
                seconds <= 60,
                f"{EVENTS:,} were looked through",
            ),
        ]
    )
    return 0


def _appends() -> tuple[float, float]:
    """Alternate every second, so that both use the disk under the same conditions."""
    from django.db import connection

    from portal.core.audit.sealing import Sealer
    from portal.core.ids import uuid7

    with connection.cursor() as cursor:
        cursor.execute(TABLE)
    stop = threading.Event()
    sealer = threading.Thread(target=_seal, args=(Sealer(), stop))
    sealer.start()

    def plain() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                INSERT,
                [uuid7(), ORG, ORG, json.dumps(DATA), "0190aaaa-0000-7000-8000-000000000001"],
            )

    counts = [0, 0]
    for _ in range(int(SECONDS)):
        for which, work in enumerate((plain, _append)):
            counts[which] += _count(work)
    stop.set()
    sealer.join()
    return counts[0] / SECONDS, counts[1] / SECONDS


def _append() -> None:
    from portal.core.events import EventRecord, record

    record(EventRecord("team_member.changed", ORG, "team", ORG, "ada@atlas.example", DATA))


def _count(work: Callable[[], None]) -> int:
    count, end = 0, time.perf_counter() + 1.0
    while time.perf_counter() < end:
        work()
        count += 1
    return count


def _seal(sealer: Any, stop: threading.Event) -> None:
    from django.db import connection

    while not stop.is_set():
        sealer.look()
        stop.wait(0.25)
    connection.close()


def _million() -> tuple[float, float]:
    from portal.core.audit.sealing import Sealer
    from portal.core.audit.verify import verify
    from portal.core.events import EventRecord, record_all
    from portal.core.models import Event

    sealer = Sealer()
    sealer.look()
    there = Event.objects.filter(org_id=ORG).count()
    for _ in range((EVENTS - there) // CHUNK + 1):
        record_all(
            EventRecord("team_member.changed", ORG, "team", ORG, "ada@atlas.example", DATA)
            for _ in range(CHUNK)
        )
    began = time.perf_counter()
    count = sealer.look()
    rate = count / (time.perf_counter() - began)
    found = verify(ORG)
    faults = [
        fault for fault in found.faults if fault.kind != "unanchored"
    ]  # no anchors are created here
    assert found.events >= EVENTS and not faults, (found.words, faults)
    return rate, found.seconds * MILLION / found.events


if __name__ == "__main__":
    sys.exit(main())
