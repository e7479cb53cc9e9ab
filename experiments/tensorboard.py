"""Read the TensorBoard event files of jobs into their runs.

The portal reads those below MUSTER_OUTPUT_DIR where it can open that folder: jobs on its own
machine, and on clusters whose folder of jobs is mounted at the same path. Jobs may put links into
their folder, so nothing is followed: each folder and file is opened relative to the one above,
without links. Elsewhere `muster tensorboard sync` sends the bytes of the files.

What cannot be read is skipped, and an event of the job tells how much.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import BinaryIO, NamedTuple

from django.db import transaction
from django.db.models import Q

from experiments import event_files
from experiments.jobs import follow_job
from experiments.models import EventFile, Run
from jobs.data.outputs import output_of
from jobs.models import Attempt, Job
from jobs.selectors.metrics import series_of, unit_of
from jobs.services.measure import store_points, targets_of
from portal import series
from portal.core import clock
from portal.core.errors import PortalError
from portal.core.events import EventRecord, record
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
PIECE = 1.0  # seconds per run of the task, so that others get their turn
AFTER_END = timedelta(minutes=2)  # for which the files of an ended attempt are still read
BUDGET = 4 << 20  # bytes of a file per transaction
MOST_LIVE = 500  # points of a piece that viewers get at once; they read the others later
MOST_FILES, MOST_FOLDERS, DEPTH = 200, 2000, 6  # of an attempt
MOST_GAPS = 16  # of a file that are read again
SKIPPED = "job.metrics_skipped"


class FoundFile(NamedTuple):
    """An open event file: its path below the output folder, its size in bytes, and its mark."""

    path: str
    size: int
    file: BinaryIO
    mark: str  # changes whenever the file is written


class Target(NamedTuple):
    """The series that a file is read into, and the prefix of its name: the attempt."""

    job: Job
    series: list[tuple[str, dict[str, str]]]
    prefix: str
    is_over: bool = False


class Taken(NamedTuple):
    """What came of bytes that a job has sent: the offset behind them, and the number of points."""

    offset: int
    points: int
    skipped: int


def read_event_files() -> None:
    """Read what is new for PIECE seconds, in random order so that every attempt gets its turn."""
    until = clock.monotonic() + PIECE
    with platform_scope("house-keeping"):
        active = Q(state__gte=State.RUNNING, state__lt=State.SUCCEEDED)
        ended = Q(finished_at__gt=clock.now() - AFTER_END)
        rows = Attempt.objects.filter(active | ended, is_forgotten=False)
        for attempt in rows.select_related("cluster", "job").order_by("?"):
            if clock.monotonic() > until:
                return
            try:
                read_attempt(attempt, until)
            except Exception as error:  # whatever a job writes there, the others get their turn
                log.warning("event files of attempt %s: %r", attempt.id, error)


def read_attempt(attempt: Attempt, until: float) -> None:
    """Read what is new in the event files of an attempt."""
    output = output_of(attempt.cluster, attempt.key)
    # A path without the key may exist here as well, with something else in it.
    if output is None or attempt.key not in output.path or not os.path.isdir(output.path):
        return
    target = Target(
        attempt.job,
        series_of(attempt.job, attempt.index),
        attempt.id.hex,
        is_over=State(attempt.state).is_final,
    )
    for found in _event_files(output.path):
        with found.file:
            while clock.monotonic() < until and _read_piece(target, found):
                continue


@transaction.atomic
def take_bytes(*, actor: Actor, job: Job, path: str, offset: int, size: int, data: bytes) -> Taken:
    """Read bytes of an event file of `size` bytes, which begin at `offset`.

    The answer has the offset from which the job sends on: what a call has not read comes again.
    Raises NotPermitted, QuotaExceeded for too many metrics.
    """
    targets, attempt = targets_of(actor, job)
    row = _row_of(Target(job, targets, attempt.id.hex if attempt else "sent"), path[:900])
    if size < row.offset:
        row.offset, row.gaps, row.reported_bytes = 0, [], 0  # another file has this name now
    if offset != row.offset:
        return Taken(row.offset, 0, _skipped(row.gaps))
    piece = event_files.read(_Window(data, offset, size), offset, len(data))
    store_points(targets, _points(path, piece.scalars), org_id=job.org_id, most_live=MOST_LIVE)
    row.offset = piece.offset
    row.gaps = _merged([*row.gaps, *piece.gaps])
    _tell(row, job, path, _skipped(row.gaps))
    row.save(update_fields=["offset", "gaps", "reported_bytes"])
    return Taken(row.offset, len(piece.scalars), _skipped(row.gaps))


class _Window:
    """A part of a file as if it were the whole: bytes before and behind it read as missing."""

    def __init__(self, data: bytes, start: int, size: int):
        self._data, self._start, self._size, self._at = data, start, size, 0

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._at = offset + (self._size if whence == os.SEEK_END else 0)
        return self._at

    def read(self, size: int, /) -> bytes:
        begin = self._at - self._start
        found = self._data[begin : begin + size] if begin >= 0 else b""
        self._at += len(found)
        return found


def _row_of(target: Target, path: str) -> EventFile:
    """Return the row of a file, locked."""
    job, name = target.job, f"{target.prefix}/{path}"
    run = Run.objects.filter(id=job.id).first()
    if run is None:
        follow_job(job.id)
        run = Run.objects.get(id=job.id)
    EventFile.objects.bulk_create(
        [EventFile(org_id=job.org_id, run=run, path=name)], ignore_conflicts=True
    )
    return EventFile.objects.select_for_update(of=("self",)).get(run=run, path=name)


@transaction.atomic
def _read_piece(target: Target, found: FoundFile) -> bool:
    """Read one piece of a file; return whether there may be more."""
    row = _row_of(target, found.path)
    if row.offset < 0 and row.mark:
        return False
    offset = 0 if row.offset > found.size else max(row.offset, 0)
    if row.mark == found.mark and offset == row.offset:
        unread = found.size - offset if target.is_over else 0
        if _tell(row, target.job, found.path, _skipped(row.gaps) + unread):
            row.save(update_fields=["reported_bytes"])
        return False
    if offset != row.offset:
        row.gaps = []
    piece = event_files.read(found.file, offset, BUDGET)
    is_whole = piece.offset == offset
    gaps, scalars = _read_again(found.file, row.gaps) if is_whole else (row.gaps, [])
    is_whole = is_whole and _merged(gaps) == _merged(row.gaps)  # else there may be more in them
    points = _points(found.path, [*piece.scalars, *scalars])
    try:
        store_points(target.series, points, org_id=target.job.org_id, most_live=MOST_LIVE)
        row.offset = piece.offset
    except PortalError as error:  # too many metrics: the file is not read again
        log.warning("%s of job %s: %s", found.path, target.job.id, error)
        data = {"file": found.path, "why": error.message}
        record(EventRecord(SKIPPED, target.job.org_id, "job", target.job.id, "muster", data))
        row.offset, is_whole = -1, True
    row.gaps = _merged([*gaps, *piece.gaps])
    row.mark = found.mark if is_whole else ""
    row.save(update_fields=["offset", "gaps", "mark"])
    return not is_whole


def _read_again(
    file: BinaryIO, gaps: Sequence[Sequence[int]]
) -> tuple[list[Sequence[int]], list[event_files.Scalar]]:
    """Read what may have arrived in gaps; return what is left of them, and the scalars.

    Reads about BUDGET bytes, so of large gaps the beginning.
    """
    left: list[Sequence[int]] = []
    scalars: list[event_files.Scalar] = []
    budget = BUDGET
    for start, end in gaps:
        piece = event_files.read(file, start, min(end - start, budget))
        budget = max(budget - (piece.offset - start), 0)
        scalars += piece.scalars
        left += [[gap.start, min(gap.end, end)] for gap in piece.gaps if gap.start < end]
        if piece.offset < end:
            left.append([piece.offset, end])
    return left, scalars


def _merged(gaps: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return the gaps in order; those that touch, and those beyond MOST_GAPS, are one."""
    found: list[list[int]] = []
    for start, end in sorted((start, end) for start, end in gaps):
        if found and (start <= found[-1][1] or len(found) == MOST_GAPS):
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([start, end])
    return found


def _skipped(gaps: Iterable[Sequence[int]]) -> int:
    return sum(end - start for start, end in gaps)


def _points(path: str, scalars: Iterable[event_files.Scalar]) -> list[series.Point]:
    return [
        series.Point(
            name=(metric := event_files.metric_name(path, scalar.tag)),
            labels={},
            at_ms=scalar.at_ms,
            value=scalar.value,
            step=scalar.step,
            unit=unit_of(metric),
        )
        for scalar in scalars
    ]


def _tell(row: EventFile, job: Job, path: str, skipped: int) -> bool:
    """Record an event of the job if more bytes were skipped than it has told."""
    if skipped <= row.reported_bytes:
        return False
    row.reported_bytes = skipped
    data = {"file": path, "skipped_bytes": skipped, "at_byte": row.gaps[0][0] if row.gaps else 0}
    record(EventRecord(SKIPPED, job.org_id, "job", job.id, "muster", data))
    return True


def _event_files(folder: str) -> Iterator[FoundFile]:
    """Open the event files below a folder, without following links."""
    count = 0
    walk = os.fwalk(folder, follow_symlinks=False)
    for path, folders, names, handle in islice(walk, MOST_FOLDERS):
        below = os.path.relpath(path, folder)
        if below.count(os.sep) >= DEPTH - 1:
            folders.clear()
        folders.sort()
        for name in sorted(filter(event_files.NAME.match, names)):
            if count >= MOST_FILES:
                return
            if file := _opened(name, handle):
                count += 1
                place = name if below == "." else f"{below}/{name}"
                place = place.encode(errors="replace").decode()  # a name may be any bytes
                facts = os.fstat(file.fileno())
                mark = f"{facts.st_size}:{facts.st_mtime_ns}:{facts.st_ino}"
                yield FoundFile(place[:900], facts.st_size, file, mark)


def _opened(name: str, folder: int) -> BinaryIO | None:
    """Open a regular file; None for links, pipes, and what is gone or forbidden."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    return os.fdopen(handle, "rb")
