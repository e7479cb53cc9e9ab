"""Certificates of closed logs, and the records that replace deleted logs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from portal.blobs import arrivals
from portal.core.messages import Message, MessageDecoder

Lost = tuple[int, int, str]  # from, to, why
DELETED = "deleted.json"


@dataclass(frozen=True)
class Certificate:
    """The properties of a closed log.

    `bytes` and the digests cover exactly the stored bytes, in order. For a deleted log they
    describe the former content, so that a saved copy can still be verified; `deleted` tells by
    whom, when (Unix ms) and how many bytes. `uncounted` says why more may be lost than the gaps
    have.
    """

    bytes: int
    lines: int
    sha256: str
    blake3: str
    gaps: list[Lost]
    complete: bool
    closed_by: str
    first_at: int | None
    last_at: int | None
    text: str
    deleted: dict[str, object] | None = None
    uncounted: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Deletion:
    """Written before the bytes are removed.

    From then on the log is one gap from 0 to `end`, whatever is left in the folder.
    """

    by: str
    at: int
    bytes: int
    end: int

    @property
    def why(self) -> str:
        return f"deleted by {self.by} on {self._at} UTC"

    @property
    def _at(self) -> str:
        return f"{datetime.fromtimestamp(self.at / 1000, UTC):%Y-%m-%d %H:%M}"

    @property
    def gap(self) -> Lost:
        return 0, self.end, self.why

    def describe(self, made: Certificate) -> Certificate:
        """Return the certificate of the log, marked as deleted."""
        return replace(
            made,
            gaps=[self.gap],
            complete=False,
            deleted={"by": self.by, "at": self.at, "bytes": self.bytes},
            text=Message(
                "The log was deleted by {who} on {at} UTC; it had {n} bytes.",
                who=self.by,
                at=self._at,
                n=f"{self.bytes:,}",
            ),
        )


def deletion_of(folder: Path) -> Deletion | None:
    """Return the deletion, or None if the log is kept."""
    try:
        return Deletion(**json.loads((folder / DELETED).read_bytes()))
    except FileNotFoundError:
        return None


def certificate_of(folder: Path) -> Certificate | None:
    """Return the certificate, or None while the log is open."""
    try:
        found = json.loads((folder / "certificate.json").read_bytes(), cls=MessageDecoder)
    except FileNotFoundError:
        return None
    found["gaps"] = gaps = [tuple(gap) for gap in found["gaps"]]
    found["text"] = certificate_text(folder, found["bytes"], gaps, found.get("uncounted", ""))
    made = Certificate(**found)
    deleted = deletion_of(folder)
    return deleted.describe(made) if deleted else made


def certificate_text(folder: Path, size: int, gaps: list[Lost], uncounted: str) -> Message:
    """Say in one sentence whether a closed log is complete, and what is missing otherwise.

    Names the first three gaps with their reasons.
    """
    if not (gaps or uncounted or size):
        return Message("The job wrote nothing.")
    kept = Message.plural(size, "{n} byte", "{n} bytes", context="number of things", n=f"{size:,}")
    if not gaps and uncounted:
        return Message(
            "The log has {size}, but some output may be missing: {why}.", size=kept, why=uncounted
        )
    if not gaps:
        return Message("The log is complete: {size}.", size=kept)
    where = Message.joined(
        "; ",
        (
            Message(
                "{n} bytes {time} ({why})",
                context="text, portal",
                time=_time_text(folder, start),
                n=f"{end - start:,}",
                why=why,
            )
            for start, end, why in gaps[:3]
        ),
    )
    if len(gaps) > 3:
        where = Message(
            "{names} and {n} more", context="text, portal", names=where, n=len(gaps) - 3
        )
    if uncounted:
        text = Message("more may be missing: {why}", why=uncounted)
        where = Message.joined("; ", (where, text))
    return Message("Part of the log is missing: {where}. {size} were kept.", where=where, size=kept)


def _time_text(folder: Path, offset: int) -> str:
    """Return the approximate time at which a gap began: that of the arrival before it."""
    before = [ms for at, ms in arrivals.between(folder, offset, offset + 1) if at <= offset]
    return (
        Message(
            "after {time} UTC",
            context="part of a sentence",
            time=f"{datetime.fromtimestamp(before[0] / 1000, UTC):%H:%M:%S}",
        )
        if before
        else Message("at byte {n}", context="part of a sentence", n=f"{offset:,}")
    )
