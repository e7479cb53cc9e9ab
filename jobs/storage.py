"""What is kept of jobs for good: their closed logs. Deleting them goes on by itself, a piece at a time, until all are gone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet, Sum

from jobs.models import Attempt, Job
from jobs.rows import write_rows
from portal.blobs.logs import log_store
from portal.core import clock, errors
from portal.core.hints import hint
from workspaces.quotas import STORAGE, Meter, meters
from workspaces.services import quota
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
PIECE = 0.5             # seconds of deleting until others get their turn
BATCH = 100             # logs whose deletion is written down together
LOOKED = 1000           # logs not counted yet whose certificates are read to say how large they are


class Deleting(NamedTuple):
    """How far it is: so many of the logs of a job are gone."""

    done: int
    total: int


def kept(job: Job) -> QuerySet[Attempt]:
    """The tries whose logs are, or may be, still there."""
    return Attempt.objects.filter(Q(log_bytes=None) | Q(log_bytes__gt=0), job=job)


def bytes_of(job: Job) -> int:
    """Of all its closed logs: what would go. Those not counted yet are looked at, LOOKED at most."""
    counted = kept(job).aggregate(n=Sum("log_bytes"))["n"] or 0
    fresh = kept(job).filter(log_bytes=None, is_log_sealed=True).values_list("id", flat=True)[:LOOKED]
    return int(counted + sum(stored(pk) for pk in fresh))


def stored(attempt_id: UUID) -> int:
    """The bytes of a closed log as one can read them; 0 once it was deleted."""
    certificate = log_store().certificate(attempt_id.hex)
    return certificate.bytes if certificate and not certificate.deleted else 0


def deleting(job: Job) -> Deleting | None:
    """None where nobody asked for it, or it is over."""
    if job.log_delete_asked_at is None or job.log_deleted_at:
        return None
    total = Attempt.objects.filter(job=job).count()
    return Deleting(total - kept(job).count(), total)


def largest(jobs: QuerySet[Job], most: int) -> list[tuple[int, Job]]:
    """Of these, those whose logs take the most space as it is counted, with the bytes."""
    rows = Attempt.objects.filter(job__in=jobs, log_bytes__gt=0).values_list("job_id").annotate(n=Sum("log_bytes"))
    sizes = dict(rows.order_by("-n", "job_id")[:most])
    found = jobs.in_bulk(list(sizes))
    return [(n, found[job_id]) for job_id, n in sizes.items() if job_id in found]


def count_closed() -> None:
    """Count closed logs that are not counted, for PIECE seconds; then asks to be called again, if there are more. Also those that were
    there before anything counted them."""
    until = clock.monotonic() + PIECE
    with platform_scope("house-keeping"):
        while _count_next():
            if clock.monotonic() > until:
                hint("jobs.count_logs")
                return


@transaction.atomic
def _count_next() -> int:
    """A batch, as one statement of each kind; locked, so that nobody counts them too, nor deletes them in between."""
    rows = list(Attempt.objects.filter(is_log_sealed=True, log_bytes=None).select_for_update(of=("self",)).select_related("job")
                .only("id", "org_id", "log_bytes", "job__team_id", "job__owner_id").order_by("id")[:BATCH])
    for row in rows:
        row.log_bytes = stored(row.id)
    write_rows(rows, ("log_bytes",))
    quota.count(_amounts(rows))
    return len(rows)


def _amounts(rows: Iterable[Attempt]) -> Counter[Meter]:
    """What these hold of whom."""
    found: Counter[Meter] = Counter()
    for row in rows:
        found.update(meters(row.org_id, row.job.team_id, row.job.owner_id, {STORAGE: row.log_bytes or 0}))
    return found


def delete_asked() -> None:
    """For PIECE seconds; then asks to be called again, if there is more. A log that is not closed yet waits for the next time."""
    until, later = clock.monotonic() + PIECE, set[UUID]()
    with platform_scope("house-keeping"):
        asked = Job.objects.filter(log_delete_asked_at__isnull=False, log_deleted_at=None).order_by("log_delete_asked_at")
        while (job := asked.exclude(id__in=later).first()) and clock.monotonic() < until:
            later.add(job.id)
            try:
                _delete(job, until)
            except (OSError, errors.Unavailable) as error:
                log.warning("deleting the logs of job %s: %s", job.id, error)
        if job:
            hint("jobs.delete_logs")


def _delete(job: Job, until: float) -> None:
    assert job.log_delete_asked_at
    store, at = log_store(), round(job.log_delete_asked_at.timestamp() * 1000)
    closed = kept(job).filter(is_log_sealed=True).order_by("id").values_list("id", flat=True)
    while batch := list(closed[:BATCH]):
        for attempt_id in batch:
            store.delete(attempt_id.hex, job.log_delete_asked_by, at)
        give_back(batch)
        if clock.monotonic() > until:
            hint("jobs.delete_logs")
            return
    if not kept(job).exists():
        Job.objects.filter(id=job.id).update(log_deleted_at=clock.now())


@transaction.atomic
def give_back(ids: Collection[UUID]) -> None:
    """These were deleted: what was counted of them is given back, once."""
    rows = list(Attempt.objects.filter(id__in=ids).select_for_update(of=("self",)).select_related("job").order_by("id"))
    Attempt.objects.filter(id__in=ids).update(log_bytes=0)
    quota.settle(_amounts(rows))
