"""Read the TensorBoard event files that jobs write to MUSTER_OUTPUT_DIR into their runs.

This works where the portal can read that folder: jobs on its own machine, and on clusters whose
folder of jobs is mounted at the same path. Jobs may put links into their folder, so nothing is
followed: each folder and file is opened relative to the one above, without links.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import BinaryIO, NamedTuple

from django.db import transaction
from django.db.models import Q

from experiments import event_files
from experiments.jobs import follow_job
from experiments.models import EventFile, Run
from jobs.metrics import series_of, unit_of
from jobs.models import Attempt
from jobs.outputs import output_of
from jobs.services.measure import store_points
from portal import series
from portal.core import clock
from portal.core.errors import PortalError
from schedulers.states import State
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
PIECE = 1.0  # seconds per run of the task, so that others get their turn
AFTER_END = timedelta(minutes=2)  # for which the files of an ended attempt are still read
BUDGET = 4 << 20  # bytes of a file per transaction
MOST_LIVE = 500  # points of a piece that viewers get at once; they read the others later
MOST_FILES, MOST_FOLDERS, DEPTH = 200, 2000, 6  # of an attempt


class FoundFile(NamedTuple):
    """An open event file: its path below the output folder, and its size in bytes."""

    path: str
    size: int
    file: BinaryIO


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
    for found in _event_files(output.path):
        with found.file:
            while clock.monotonic() < until and _read_piece(attempt, found):
                continue


@transaction.atomic
def _read_piece(attempt: Attempt, found: FoundFile) -> bool:
    """Read one piece of a file; return whether there may be more."""
    job = attempt.job
    name = f"{attempt.id.hex}/{found.path}"
    run = Run.objects.filter(id=job.id).first()
    if run is None:
        follow_job(job.id)
        run = Run.objects.get(id=job.id)
    EventFile.objects.bulk_create(
        [EventFile(org_id=job.org_id, run=run, path=name)], ignore_conflicts=True
    )
    row = EventFile.objects.select_for_update(of=("self",)).get(run=run, path=name)
    if row.offset < 0 or row.offset >= found.size:
        return False
    try:
        scalars, offset = event_files.read(found.file, row.offset, BUDGET)
    except event_files.Corrupt as error:
        log.warning("%s of job %s: %s", found.path, job.id, error)
        scalars, offset = [], -1
    points = [
        series.Point(
            name=(metric := event_files.metric_name(found.path, scalar.tag)),
            labels={},
            at_ms=scalar.at_ms,
            value=scalar.value,
            step=scalar.step,
            unit=unit_of(metric),
        )
        for scalar in scalars
    ]
    try:
        store_points(series_of(job, attempt.index), points, org_id=job.org_id, most_live=MOST_LIVE)
    except PortalError as error:  # too many metrics: the file is not read again
        log.warning("%s of job %s: %s", found.path, job.id, error)
        offset = -1
    has_moved = offset != row.offset
    row.offset = offset
    row.save(update_fields=["offset"])
    return has_moved and offset >= 0


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
                yield FoundFile(place[:900], os.fstat(file.fileno()).st_size, file)


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
