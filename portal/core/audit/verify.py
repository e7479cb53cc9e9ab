"""Verify a chain from its beginning, and describe each fault and its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection, models
from django.db.models import Exists, Max, Min, OuterRef

from portal.core import clock
from portal.core.audit.anchors import EVERY, WITHIN, is_genuine
from portal.core.audit.canonical import (
    COLUMNS,
    NO_ORG,
    canonical,
    columns,
    event_table,
    initial_hash,
    next_hash,
    read,
)
from portal.core.audit.models import AuditAnchor, AuditCheck, AuditLink
from portal.core.messages import Message
from portal.core.models import Event

PAGE = 5000
KEPT = 200  # faults kept in full; further ones are only counted
# An event may be older than its neighbors by as much as a transaction lasts.
BACKDATED = timedelta(hours=1)
LATE = timedelta(minutes=10)  # an event without a link for so long is a fault
_AT = COLUMNS.index("at")


@dataclass(frozen=True)
class ChainFault:
    """A fault of one event or anchor.

    `kind` is changed, missing, reordered, backdated, broken, rewritten, cut_off, unsealed, forged
    or unanchored.
    """

    kind: str
    seq: int
    text: str

    def as_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "seq": self.seq, "text": self.text}


@dataclass
class VerificationReport:
    """The result of verifying one chain; `unsealed` counts events too new to be sealed."""

    chain: UUID
    first: int = 0
    last: int = 0
    events: int = 0
    unsealed: int = 0
    seconds: float = 0.0
    fault_count: int = 0
    faults: list[ChainFault] = field(default_factory=list)

    def add(self, kind: str, seq: int, text: str) -> None:
        self.fault_count += 1
        if len(self.faults) < KEPT:
            self.faults.append(ChainFault(kind, seq, text))

    @property
    def words(self) -> str:
        """Summarize the result in one sentence."""
        if not self.events and not self.fault_count:
            return (
                Message("Nothing is sealed yet.")
                if self.unsealed
                else Message("There are no events.")
            )
        found = Message.plural(
            self.fault_count,
            "{n} fault",
            "{n} faults",
            context="number of things",
            n=self.fault_count,
        )
        waits = Message("; {n} not sealed yet", n=self.unsealed) if self.unsealed else ""
        if not self.events:
            return Message("There are no sealed events: {found}{waits}.", found=found, waits=waits)
        return Message(
            "{events} events, #{first} to #{last}: {found}{waits}.",
            events=f"{self.events:,}",
            first=f"{self.first:,}",
            last=f"{self.last:,}",
            found=found,
            waits=waits,
        )


@dataclass
class _Mismatch:
    """A link whose hash does not follow; classified once all links have been read."""

    seq: int
    position: int
    kind: str
    event: bytes
    before: bytes
    hash: bytes


def verify(
    chain: UUID, progress: Callable[[int], object] = lambda count: None
) -> VerificationReport:
    """Verify one chain. Reads it once, in pages, and keeps only the faults."""
    began, report = clock.monotonic(), VerificationReport(chain)
    anchors = _anchors(report)
    _check_links(report, anchors, progress)
    _check_beginning(report)
    _check_anchors(report, anchors)
    _check_unsealed(report)
    report.seconds = clock.monotonic() - began
    return report


def store_report(report: VerificationReport) -> AuditCheck:
    """Store the report as the last verification."""
    row, _ = AuditCheck.objects.update_or_create(
        chain=report.chain,
        defaults={
            "at": clock.now(),
            "seconds": report.seconds,
            "events": report.events,
            "fault_count": report.fault_count,
            "faults": [fault.as_dict() for fault in report.faults],
        },
    )
    return row


def _check_links(
    report: VerificationReport, anchors: dict[int, bytes], progress: Callable[[int], object]
) -> None:
    at_hash, expected = start_of(report.chain)
    report.first, report.last = expected, expected - 1
    mismatches: list[_Mismatch] = []
    before: list[datetime] = []
    for seq, stored, position, values in links_behind(report.chain, expected - 1):
        if seq != expected:
            which = f"#{expected:,}" if seq == expected + 1 else f"#{expected:,}–#{seq - 1:,}"
            report.add(
                "missing",
                expected,
                Message("{which}: the links are missing, and so are their events.", which=which),
            )
        elif values is None:
            report.add(
                "missing",
                seq,
                Message(
                    "#{seq}: the event at position {position} is missing; its link still exists.",
                    seq=f"{seq:,}",
                    position=f"{position:,}",
                ),
            )
        else:
            event = canonical(values)
            if next_hash(at_hash, event) != stored:
                mismatches.append(_Mismatch(seq, position, str(values[3]), event, at_hash, stored))
            _check_time(report, seq, values[_AT], before)
        if seq in anchors and anchors[seq] != stored:
            report.add(
                "rewritten",
                seq,
                Message(
                    "#{seq}: the chain up to here differs from its anchor: it was recomputed.",
                    seq=f"{seq:,}",
                ),
            )
        at_hash, expected = stored, seq + 1
        report.events += 1
        report.last = seq
        if not report.events % PAGE:
            progress(report.events)
    _classify_mismatches(report, mismatches)


def _check_beginning(report: VerificationReport) -> None:
    """Report a missing creation event: without a cut, every trail begins with `org.created`."""
    if (
        report.chain != NO_ORG
        and report.first == 1
        and not Event.objects.filter(**_of(report.chain), kind="org.created").exists()
    ):
        report.add(
            "missing",
            1,
            Message(
                "#1: the event org.created, which starts every audit trail, is missing, and so "
                "may be "
                "events after it."
            ),
        )


def start_of(chain: UUID) -> tuple[bytes, int]:
    """Return the hash and the number at which the chain begins."""
    cut = (
        AuditAnchor.objects.filter(chain=chain, kind=AuditAnchor.Kind.CUT)
        .order_by("-number")
        .first()
    )
    return (bytes(cut.hash), cut.seq + 1) if cut else (initial_hash(chain), 1)


def links_behind(chain: UUID, after: int) -> Iterator[tuple[int, bytes, int, list[Any] | None]]:
    """Yield (seq, hash, position, event or None) in order.

    Pages are ranges of numbers: without statistics of the tables, PostgreSQL would read the rest of
    the chain for each page.
    """
    name = AuditLink._meta.get_field("chain").get_db_prep_value(chain, connection)
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_page(), [name, after, after + PAGE])
            rows = cursor.fetchall()
        for values in read(rows, behind=3):
            yield (
                values[0],
                bytes(values[1]),
                values[2],
                values[3:] if values[3] is not None else None,
            )
        after += PAGE
        if len(rows) < PAGE:
            left = AuditLink.objects.filter(chain=chain, seq__gt=after).aggregate(next=Min("seq"))[
                "next"
            ]
            if left is None:
                return
            after = left - 1


@cache
def _page() -> str:
    links = connection.ops.quote_name(AuditLink._meta.db_table)
    return (
        f"SELECT l.seq, l.hash, l.position, {columns()} FROM {links} l "  # noqa: S608  # identifiers only
        f"LEFT JOIN {event_table()} e ON e.position = l.position "
        "WHERE l.chain = %s AND l.seq > %s AND l.seq <= %s ORDER BY l.seq"
    )


def _classify_mismatches(report: VerificationReport, mismatches: list[_Mismatch]) -> None:
    """Report whether the event was changed, or is intact and in the wrong place."""
    hashes = {one.hash for one in mismatches}
    befores = {one.before for one in mismatches} | hashes
    for one in mismatches[:KEPT]:
        is_whole = (
            any(next_hash(before, one.event) in hashes for before in befores)
            if len(mismatches) <= KEPT
            else False
        )
        if is_whole:
            report.add(
                "reordered",
                one.seq,
                Message(
                    "#{seq}: the event here ({kind}) is intact, but belongs elsewhere in the chain.",
                    seq=f"{one.seq:,}",
                    kind=one.kind,
                ),
            )
        else:
            report.add(
                "changed",
                one.seq,
                Message(
                    "#{seq}: the event at position {position} ({kind}) differs from what was "
                    "sealed.",
                    seq=f"{one.seq:,}",
                    position=f"{one.position:,}",
                    kind=one.kind,
                ),
            )
    report.fault_count += max(len(mismatches) - KEPT, 0)


def _check_time(report: VerificationReport, seq: int, at: datetime, before: list[datetime]) -> None:
    """Report an event that claims to be much older than the two sealed before it."""
    if len(before) == 2 and at < min(before) - BACKDATED:
        report.add(
            "backdated",
            seq,
            Message(
                "#{seq}: inserted later: it is dated {at}, but was sealed after events of "
                "{before}.",
                seq=f"{seq:,}",
                at=_time_text(at),
                before=_time_text(min(before)),
            ),
        )
        return
    before.append(at)
    del before[:-2]


def _anchors(report: VerificationReport) -> dict[int, bytes]:
    """Return the anchored hash by sequence number, and report forged or missing anchors."""
    found: dict[int, bytes] = {}
    former, expected = b"", 1
    for row in AuditAnchor.objects.filter(chain=report.chain).order_by("number").iterator(PAGE):
        if row.number != expected:
            report.add(
                "unanchored",
                row.seq,
                Message(
                    "Anchors {expected} to {x} are missing.",
                    expected=f"{expected:,}",
                    x=f"{row.number - 1:,}",
                ),
            )
        elif not is_genuine(row, former):
            report.add(
                "forged",
                row.seq,
                Message(
                    "The anchor of {at} at #{seq} is not signed with our key. If the secret key "
                    "was changed, add the former one to MUSTER_SECRET_KEY_FALLBACKS.",
                    at=_time_text(row.at),
                    seq=f"{row.seq:,}",
                ),
            )
        else:
            found[row.seq] = bytes(row.hash)
        former, expected = bytes(row.mac), row.number + 1
    return found


def _check_anchors(report: VerificationReport, anchors: dict[int, bytes]) -> None:
    """Compare the end of the chain with the last anchor, which must be close to it."""
    furthest = max(anchors, default=0)
    if furthest > report.last:
        report.add(
            "cut_off",
            report.last + 1,
            Message(
                "#{x} to #{furthest}: covered by an anchor, but missing from the end of the chain.",
                x=f"{report.last + 1:,}",
                furthest=f"{furthest:,}",
            ),
        )
    elif report.last - furthest > 2 * EVERY:
        report.add(
            "unanchored",
            furthest + 1,
            Message(
                "#{x} to #{last}: not covered by an anchor, although there is one every "
                "{EVERY} events.",
                x=f"{furthest + 1:,}",
                last=f"{report.last:,}",
                EVERY=f"{EVERY:,}",
            ),
        )
    elif report.last > furthest and not furthest and _age(report) > 2 * WITHIN:
        report.add(
            "unanchored",
            1,
            Message(
                "No anchor covers this chain, although one is set after {x} minutes.",
                x=f"{WITHIN / 60:g}",
            ),
        )


def _age(report: VerificationReport) -> float:
    """Return the seconds since the first event that still exists."""
    first = Event.objects.filter(**_of(report.chain)).aggregate(at=Min("at"))["at"]
    return (clock.now() - first).total_seconds() if first else 0.0


def _check_unsealed(report: VerificationReport) -> None:
    """Count events without a link, and report those that are too old."""
    links = AuditLink.objects.filter(position=OuterRef("position"))
    waiting = Event.objects.filter(**_of(report.chain)).filter(~Exists(links))
    old = waiting.filter(at__lt=clock.now() - LATE).aggregate(
        n=models.Count("position"), first=Min("position"), last=Max("position")
    )
    report.unsealed = waiting.filter(at__gte=clock.now() - LATE).count()
    if old["n"]:
        report.add(
            "unsealed",
            report.last + 1,
            Message(
                "{n} events at positions {first} to {last} are not sealed, although they are "
                "older than {x} minutes: the sealer is not running, or their links were "
                "removed.",
                n=f"{old['n']:,}",
                first=f"{old['first']:,}",
                last=f"{old['last']:,}",
                x=LATE.seconds // 60,
            ),
        )


def _of(chain: UUID) -> dict[str, Any]:
    return {"org_id": None if chain == NO_ORG else chain}


def _time_text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
