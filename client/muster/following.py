"""Follow a growing log by byte offset, across lost connections and into later attempts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.errors import NotFound, RateLimited, Unavailable
from muster.records import Attempt, Job

if TYPE_CHECKING:
    from muster.jobs import Jobs

PATIENCE = 900.0  # seconds without an answer before giving up
FAST, SLOW = 0.15, 1.0  # polling interval in seconds: while bytes arrive, and when idle
# Seconds to wait for the log of an ended attempt to be closed: in a burst, states precede logs.
SEALING = 300.0


@dataclass(frozen=True)
class LogPiece:
    """A part of the log: `data` to write unchanged; `note` is for people, not part of the log."""

    data: bytes = b""
    note: str = ""
    start: int = 0
    attempt: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class Follower:
    """Iterator over the pieces of one task's log.

    `next()` returns the next piece; only `advance(piece)` advances `offset`, so that a caller that is
    interrupted in between resumes at the same byte. Once `is_over`, `job` and `certificate_text`
    hold the final state.
    """

    def __init__(
        self,
        jobs: Jobs,
        name: str,
        *,
        index: int = 0,
        attempt: int | None = None,
        offset: int = 0,
        follow_retries: bool | None = None,
    ):
        """Start at `offset`. `follow_retries`: continue into later attempts (default: if none given)."""
        self.jobs, self.name, self.index = jobs, name, index
        self.ordinal, self.offset = attempt, offset
        self.follow_retries = attempt is None if follow_retries is None else follow_retries
        self.is_over, self.certificate_text = False, ""
        self.job: Job | None = None
        self._pause, self._lost_at, self._ended_at, self._refreshed_at = FAST, 0.0, 0.0, -SLOW
        self.on_job: Callable[[Job], None] = lambda job: None
        self.sleep: Callable[[float], None] = time.sleep

    def pieces(self) -> Iterator[LogPiece]:
        """Iterate to the end of the log. Raises Unavailable after PATIENCE seconds of outage."""
        while not self.is_over:
            yield (piece := self.next())
            self.advance(piece)

    def advance(self, piece: LogPiece) -> None:
        """Advance past a piece that was written."""
        if piece.data and piece.attempt == self.ordinal:
            self.offset = piece.end

    def next(self) -> LogPiece:
        """Poll once and return the piece, which is empty if nothing new arrived."""
        try:
            piece = self._poll()
        except (Unavailable, RateLimited) as error:
            return self._lost(error)
        self._lost_at = 0.0
        return piece

    def _poll(self) -> LogPiece:
        if self.ordinal is None and not self._find_attempt():
            return self._idle()
        assert self.ordinal is not None
        try:
            page = self.jobs.read_log(
                self.name, self.offset, index=self.index, attempt=self.ordinal
            )
        except NotFound:
            return self._after_bytes(is_complete=False)
        if page.data:
            self._pause = FAST
            return self._piece(page.data, page.start)
        if page.start > self.offset and page.complete:
            self.offset = page.start
        return self._after_bytes(is_complete=page.complete)

    def _piece(self, data: bytes, start: int) -> LogPiece:
        assert self.ordinal is not None
        note = ""
        if start > self.offset:
            note = f"bytes {self.offset:,} to {start:,} were lost"
        elif start < self.offset:
            data, start = data[self.offset - start :], self.offset
        return LogPiece(data, note, start, self.ordinal)

    def _after_bytes(self, *, is_complete: bool) -> LogPiece:
        """Handle an empty read: idle, move to the next attempt, or finish."""
        if not is_complete and time.monotonic() - self._refreshed_at < SLOW:
            return self._idle()
        job, rows = self._refresh()
        if not is_complete and not self._is_silent(job, rows):
            return self._idle()
        newer = max((row.ordinal for row in rows), default=0)
        if self.follow_retries and newer > (self.ordinal or 0):
            self.ordinal, self.offset, self._ended_at = newer, 0, 0.0
            return LogPiece(note=f"attempt {newer} started", attempt=newer)
        if self.follow_retries and not job.is_final and not job.array_size:
            return self._idle()
        self._finish(is_complete=is_complete)
        return LogPiece(attempt=self.ordinal or 0)

    def _is_silent(self, job: Job, rows: list[Attempt]) -> bool:
        """Return whether an ended attempt's unclosed log can be given up.

        Bytes may still arrive when the end is first seen, so the answer is then always False.
        """
        own = next((row for row in rows if row.ordinal == self.ordinal), None)
        if own is None and job.is_final:
            raise NotFound(f"#{job.number} has no attempt {self.ordinal} of task {self.index}.")
        if own is None or not own.is_final:
            return False
        is_first = not self._ended_at
        self._ended_at = self._ended_at or time.monotonic()
        patience = SEALING if own.started_at else 2 * FAST
        return not is_first and time.monotonic() - self._ended_at > patience

    def _finish(self, *, is_complete: bool) -> None:
        self.is_over = True
        if not is_complete:
            self.certificate_text = (
                "The job ended, but the rest of its log has not arrived."
                if self.offset
                else "The job never started, so it has no log."
            )
            return
        certificate = self.jobs.certificate(self.name, index=self.index, attempt=self.ordinal) or {}
        self.certificate_text = str(certificate.get("text") or "")

    def _find_attempt(self) -> bool:
        job, rows = self._refresh()
        if rows:
            self.ordinal = max(row.ordinal for row in rows)
        elif job.is_final or (job.array_size or 1) <= self.index:
            raise NotFound(f"#{job.number} has no task {self.index}.")
        return bool(rows)

    def _refresh(self) -> tuple[Job, list[Attempt]]:
        """Read the job before its attempts: if the job has ended, so have the attempts."""
        self.job, self._refreshed_at = self.jobs.get(self.name), time.monotonic()
        self.on_job(self.job)
        return self.job, self.jobs.attempts(self.name, index=self.index)

    def _idle(self) -> LogPiece:
        self.sleep(self._pause)
        self._pause = min(self._pause * 1.4, SLOW)
        return LogPiece(attempt=self.ordinal or 0)

    def _lost(self, error: Unavailable | RateLimited) -> LogPiece:
        first = not self._lost_at
        self._lost_at = self._lost_at or time.monotonic()
        if time.monotonic() - self._lost_at > PATIENCE:
            raise error
        self.sleep(SLOW)
        return LogPiece(
            note="connection to the portal lost; the job is not affected, retrying" if first else ""
        )
