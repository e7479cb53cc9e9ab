"""What is kept of jobs for good: their closed logs. Deleting them goes on by itself, a piece at a time, until all are gone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from jobs.bulk import write_rows
from jobs.models import Attempt, Job
from portal.blobs.logs import log_store
from portal.core import clock, errors
from portal.core.wakeups import hint
from workspaces.quotas import reservations
from workspaces.quotas.limits import STORAGE, Meter, meters
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
PIECE = 0.5  # seconds of deleting until others get their turn
BATCH = 100  # logs whose deletion is written down together
LOOKED = 1000  # logs not counted yet whose certificates are read to say how large they are
KEPT = Q(log_bytes__gt=0) | Q(log_bytes=None) & ~Q(
    native_id="", is_log_sealed=False
)  # one that never was on a cluster wrote none


class Deleting(NamedTuple):
    """How far it is: so many of the logs of a job are gone."""

    done: int
    total: int


def kept(job: Job) -> QuerySet[Attempt]:
    """The tries whose logs are, or may be, still there."""
    return Attempt.objects.filter(KEPT, job=job)


def bytes_of(job: Job) -> int:
    """Of all its closed logs: what would go. Those not counted yet are looked at, LOOKED at most."""
    counted = kept(job).aggregate(n=Sum("log_bytes"))["n"] or 0
    fresh = (
        kept(job).filter(log_bytes=None, is_log_sealed=True).values_list("id", flat=True)[:LOOKED]
    )
    return int(counted + sum(_readable(pk) or 0 for pk in fresh))


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
    rows = (
        Attempt.objects.filter(job__in=jobs, log_bytes__gt=0)
        .values_list("job_id")
        .annotate(n=Sum("log_bytes"))
    )
    sizes = dict(rows.order_by("-n", "job_id")[:most])
    found = jobs.in_bulk(list(sizes))
    return [(n, found[job_id]) for job_id, n in sizes.items() if job_id in found]


def count_closed() -> None:
    """Count closed logs that are not counted, for PIECE seconds; then asks to be called again, if there are more. Also those that were
    there before anything counted them."""
    until, after = clock.monotonic() + PIECE, UUID(int=0)
    with platform_scope("house-keeping"):
        while (last := _count_next(after)) is not None:
            if clock.monotonic() > until:
                hint("jobs.count_logs")
                return
            after = last


@transaction.atomic
def _count_next(after: UUID) -> UUID | None:
    """A batch, as one statement of each kind; locked, so that nobody counts them too, nor deletes them in between. The last one's id."""
    rows = list(
        Attempt.objects.filter(is_log_sealed=True, log_bytes=None, id__gt=after)
        .select_for_update(of=("self",))
        .select_related("job")
        .only("id", "org_id", "log_bytes", "job__team_id", "job__owner_id")
        .order_by("id")[:BATCH]
    )
    for row in rows:
        row.log_bytes = _readable(row.id)
    known = [row for row in rows if row.log_bytes is not None]
    write_rows(known, ("log_bytes",))
    reservations.count(_amounts(known))
    return rows[-1].id if rows else None


def _readable(attempt_id: UUID) -> int | None:
    """As `stored`; None where the disk does not tell now: one such log does not keep the others from being counted."""
    try:
        return stored(attempt_id)
    except (OSError, ValueError) as error:
        log.warning("the log of attempt %s cannot be counted now: %s", attempt_id, error)
        return None


def _amounts(rows: Iterable[Attempt]) -> Counter[Meter]:
    """What these hold of whom."""
    found: Counter[Meter] = Counter()
    for row in rows:
        found.update(
            meters(row.org_id, row.job.team_id, row.job.owner_id, {STORAGE: row.log_bytes or 0})
        )
    return found


def delete_asked() -> None:
    """For PIECE seconds; then asks to be called again, if there is more and it came on. In no order, so that none whose logs cannot go now,
    and no tenant with many of them, keeps the others waiting. A log that is not closed yet waits for the next time."""
    until, looked, freed = clock.monotonic() + PIECE, set[UUID](), 0
    with platform_scope("house-keeping"):
        while clock.monotonic() < until and (
            job := _due().exclude(id__in=looked).order_by("?").first()
        ):
            looked.add(job.id)
            freed += _delete(job, until)
        if freed and clock.monotonic() >= until and _due().exists():
            hint("jobs.delete_logs")


def _due() -> QuerySet[Job]:
    """Jobs with logs that may be deleted now, and those of which nothing is left."""
    mine = Attempt.objects.filter(KEPT, job=OuterRef("id"))
    asked = Job.objects.filter(log_delete_asked_at__isnull=False, log_deleted_at=None)
    return asked.filter(Exists(mine.filter(is_log_sealed=True)) | ~Exists(mine))


def _delete(job: Job, until: float) -> int:
    """As many as there is time for; how many went."""
    assert job.log_delete_asked_at
    closed, at = (
        kept(job).filter(is_log_sealed=True).order_by("id"),
        round(job.log_delete_asked_at.timestamp() * 1000),
    )
    after, freed = UUID(int=0), 0
    while batch := list(closed.filter(id__gt=after).values_list("id", flat=True)[:BATCH]):
        gone = [
            attempt_id for attempt_id in batch if _is_gone(attempt_id, job.log_delete_asked_by, at)
        ]
        give_back(gone)
        after, freed = batch[-1], freed + len(gone)
        if clock.monotonic() > until:
            break
    if not kept(job).exists():
        Job.objects.filter(id=job.id).update(log_deleted_at=clock.now())
    return freed


def _is_gone(attempt_id: UUID, by: str, at_ms: int) -> bool:
    """Deleted; or lost with its disk, where a log that is closed has no certificate."""
    store = log_store()
    try:
        if store.certificate(attempt_id.hex) is not None:
            store.delete(attempt_id.hex, by, at_ms)
    except (OSError, ValueError, errors.Unavailable) as error:
        log.warning("the log of attempt %s cannot be deleted now: %s", attempt_id, error)
        return False
    return True


@transaction.atomic
def give_back(ids: Collection[UUID]) -> None:
    """These were deleted: what was counted of them is given back, once."""
    rows = list(
        Attempt.objects.filter(id__in=ids)
        .select_for_update(of=("self",))
        .select_related("job")
        .order_by("id")
    )
    Attempt.objects.filter(id__in=ids).update(log_bytes=0)
    reservations.settle(_amounts(rows))
