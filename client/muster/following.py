"""A log as it grows: by byte offset, so that no loss of connection makes a gap or a double, and on into the next attempt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.errors import NotFound, RateLimited, Unavailable
from muster.records import Attempt, Job

if TYPE_CHECKING:
    from muster.jobs import Jobs

PATIENCE = 900.0  # seconds without an answer before following gives up
FAST, SLOW = 0.15, 1.0  # seconds between looks: while bytes come, and when none came for long
SEALING = 300.0  # seconds that an ended attempt's log may take to be closed: in a burst, states come before logs


@dataclass(frozen=True)
class Piece:
    """What following came upon. `data`: bytes to write, unchanged. `note`: for people, never part of the log."""

    data: bytes = b""
    note: str = ""
    start: int = 0
    attempt: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.data)


class Follower:
    """`next()` gives the next piece; `offset` moves on only by `took(piece)`, so that whoever is interrupted between the two
    begins again with the same byte. After the end (`is_over`) `job` and `certificate` are what is known last."""

    def __init__(
        self,
        jobs: Jobs,
        name: str,
        *,
        index: int = 0,
        attempt: int | None = None,
        offset: int = 0,
        goes_on: bool | None = None,
    ):
        """`goes_on`: into later attempts; unless said otherwise, when no attempt is named."""
        self.jobs, self.name, self.index = jobs, name, index
        self.ordinal, self.offset = attempt, offset
        self.goes_on = attempt is None if goes_on is None else goes_on
        self.is_over, self.certificate_text = False, ""
        self.job: Job | None = None
        self._pause, self._lost_at, self._ended_at, self._refreshed_at = FAST, 0.0, 0.0, -SLOW
        self.on_job: Callable[[Job], None] = lambda job: None
        self.sleep: Callable[[float], None] = time.sleep

    def pieces(self) -> Iterator[Piece]:
        """All that come, to the end. Raises Unavailable when the portal stays away for PATIENCE seconds."""
        while not self.is_over:
            yield (piece := self.next())
            self.took(piece)

    def took(self, piece: Piece) -> None:
        if piece.data and piece.attempt == self.ordinal:
            self.offset = piece.end

    def next(self) -> Piece:
        """Waits a little, and looks once; an empty piece where there was nothing."""
        try:
            piece = self._look()
        except (Unavailable, RateLimited) as error:
            return self._lost(error)
        self._lost_at = 0.0
        return piece

    def _look(self) -> Piece:
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

    def _piece(self, data: bytes, start: int) -> Piece:
        assert self.ordinal is not None
        note = ""
        if start > self.offset:
            note = f"bytes {self.offset:,} to {start:,} were lost and are not shown"
        elif start < self.offset:
            data, start = data[self.offset - start :], self.offset
        return Piece(data, note, start, self.ordinal)

    def _after_bytes(self, *, is_complete: bool) -> Piece:
        """No bytes just now: is this attempt over, is there another, is the job over?"""
        if not is_complete and time.monotonic() - self._refreshed_at < SLOW:
            return self._idle()
        job, rows = self._refresh()
        if not is_complete and not self._is_silent(job, rows):
            return self._idle()
        newer = max((row.ordinal for row in rows), default=0)
        if self.goes_on and newer > (self.ordinal or 0):
            self.ordinal, self.offset, self._ended_at = newer, 0, 0.0
            return Piece(note=f"attempt {newer} begins", attempt=newer)
        if self.goes_on and not job.is_final and not job.array_size:
            return self._idle()
        self._finish(is_complete=is_complete)
        return Piece(attempt=self.ordinal or 0)

    def _is_silent(self, job: Job, rows: list[Attempt]) -> bool:
        """The attempt has ended, and its log will not grow although nobody closed it. Bytes may still be on their way when the
        end is first seen, so that is never the moment."""
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
                "the log is not closed" if self.offset else "no log: it never started"
            )
            return
        told = self.jobs.certificate(self.name, index=self.index, attempt=self.ordinal) or {}
        self.certificate_text = str(told.get("text") or "complete")

    def _find_attempt(self) -> bool:
        job, rows = self._refresh()
        if rows:
            self.ordinal = max(row.ordinal for row in rows)
        elif job.is_final or (job.array_size or 1) <= self.index:
            raise NotFound(f"#{job.number} has no task {self.index}.")
        return bool(rows)

    def _refresh(self) -> tuple[Job, list[Attempt]]:
        """The job first: if it has ended, then so have the attempts that are read after it."""
        self.job, self._refreshed_at = self.jobs.get(self.name), time.monotonic()
        self.on_job(self.job)
        return self.job, self.jobs.attempts(self.name, index=self.index)

    def _idle(self) -> Piece:
        self.sleep(self._pause)
        self._pause = min(self._pause * 1.4, SLOW)
        return Piece(attempt=self.ordinal or 0)

    def _lost(self, error: Unavailable | RateLimited) -> Piece:
        first = not self._lost_at
        self._lost_at = self._lost_at or time.monotonic()
        if time.monotonic() - self._lost_at > PATIENCE:
            raise error
        self.sleep(SLOW)
        return Piece(
            note="the portal does not answer; the job is not touched by that, trying again"
            if first
            else ""
        )
