"""Account for and delete stored logs; deletion runs in short pieces until all are gone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from django.core.cache import cache
from django.core.exceptions import EmptyResultSet
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from jobs.models import Attempt, Job
from portal.blobs.logs import log_store
from portal.core import clock, errors
from portal.core.bulk_updates import write_rows
from portal.core.wakeups import wake_worker
from workspaces.quotas import reservations
from workspaces.quotas.limits import STORAGE, Meter, meters
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
PIECE = 0.5  # seconds per run, so that others get their turn
BATCH = 100  # logs per transaction
SIZES_FOR = 60  # seconds that the sizes of a list are kept
LOOKED = 1000  # Uncounted logs whose certificates are read to estimate the size of a job.
# An attempt that never reached a cluster has no log.
KEPT = Q(log_bytes__gt=0) | Q(log_bytes=None) & ~Q(native_id="", is_log_sealed=False)


class DeletionProgress(NamedTuple):
    """Progress of a deletion: `done` of `total` logs."""

    done: int
    total: int


def kept(job: Job) -> QuerySet[Attempt]:
    """Return the attempts whose logs may still be stored."""
    return Attempt.objects.filter(KEPT, job=job)


def bytes_of(job: Job) -> int:
    """Return the bytes of all sealed logs of the job; uncounted ones are read, up to LOOKED."""
    counted = kept(job).aggregate(n=Sum("log_bytes"))["n"] or 0
    fresh = (
        kept(job).filter(log_bytes=None, is_log_sealed=True).values_list("id", flat=True)[:LOOKED]
    )
    return int(counted + sum(_readable(pk) or 0 for pk in fresh))


def stored(attempt_id: UUID) -> int:
    """Return the readable bytes of a sealed log; 0 once deleted."""
    certificate = log_store().certificate(attempt_id.hex)
    return certificate.bytes if certificate and not certificate.deleted else 0


def deleting(job: Job) -> DeletionProgress | None:
    """Return the progress of a requested deletion; None if there is none or it is complete."""
    if job.log_delete_asked_at is None or job.log_deleted_at:
        return None
    total = Attempt.objects.filter(job=job).count()
    return DeletionProgress(total - kept(job).count(), total)


def largest(jobs: QuerySet[Job], most: int) -> list[tuple[int, Job]]:
    """Return the jobs with the largest logs as accounted, with the bytes.

    All logs are added up, so the sizes are up to a minute old. What has been deleted is left out.
    """
    try:
        key = f"largest-logs:{most}:{sha256(str(jobs.query).encode()).hexdigest()[:32]}"
    except EmptyResultSet:
        return []
    sizes: dict[UUID, int] | None = cache.get(key)
    if sizes is None:
        rows = (
            Attempt.objects.filter(job__in=jobs, log_bytes__gt=0)
            .values_list("job_id")
            .annotate(n=Sum("log_bytes"))
        )
        sizes = dict(rows.order_by("-n", "job_id")[:most])
        cache.set(key, sizes, SIZES_FOR)
    found = jobs.filter(log_deleted_at=None).in_bulk(list(sizes))
    return [(n, found[job_id]) for job_id, n in sizes.items() if job_id in found]


def count_closed() -> None:
    """Account for sealed logs for PIECE seconds, and request another run if more remain.

    Includes logs that are older than the accounting.
    """
    until, after = clock.monotonic() + PIECE, UUID(int=0)
    with platform_scope("house-keeping"):
        while (last := _count_next(after)) is not None:
            if clock.monotonic() > until:
                wake_worker("jobs.count_logs")
                return
            after = last


@transaction.atomic
def _count_next(after: UUID) -> UUID | None:
    """Account for one batch and return its last id.

    The rows are locked, so they are neither counted twice nor deleted meanwhile.
    """
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
    """Return `stored`, or None after a disk error, so that one log does not block the others."""
    try:
        return stored(attempt_id)
    except (OSError, ValueError) as error:
        log.warning("the log of attempt %s cannot be counted now: %s", attempt_id, error)
        return None


def _amounts(rows: Iterable[Attempt]) -> Counter[Meter]:
    """Sum the bytes by meter."""
    found: Counter[Meter] = Counter()
    for row in rows:
        found.update(
            meters(row.org_id, row.job.team_id, row.job.owner_id, {STORAGE: row.log_bytes or 0})
        )
    return found


def delete_requested() -> None:
    """Delete requested logs for PIECE seconds, and request another run after progress.

    The order is random, so that neither an undeletable log nor a tenant with many logs blocks the
    others. Unsealed logs wait for a later run.
    """
    until, looked, freed = clock.monotonic() + PIECE, set[UUID](), 0
    with platform_scope("house-keeping"):
        while clock.monotonic() < until and (
            job := _due().exclude(id__in=looked).order_by("?").first()
        ):
            looked.add(job.id)
            freed += _delete(job, until)
        if freed and clock.monotonic() >= until and _due().exists():
            wake_worker("jobs.delete_logs")


def _due() -> QuerySet[Job]:
    """Return jobs with logs to delete now, and those with none left."""
    own_attempts = Attempt.objects.filter(KEPT, job=OuterRef("id"))
    requested = Job.objects.filter(log_delete_asked_at__isnull=False, log_deleted_at=None)
    return requested.filter(Exists(own_attempts.filter(is_log_sealed=True)) | ~Exists(own_attempts))


def _delete(job: Job, until: float) -> int:
    """Delete logs of the job until the time is up; return how many."""
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
        release_storage(gone)
        after, freed = batch[-1], freed + len(gone)
        if clock.monotonic() > until:
            break
    if not kept(job).exists():
        Job.objects.filter(id=job.id).update(log_deleted_at=clock.now())
    return freed


def _is_gone(attempt_id: UUID, by: str, at_ms: int) -> bool:
    """Delete a log; also True if a sealed log lost its certificate with its disk."""
    store = log_store()
    try:
        if store.certificate(attempt_id.hex) is not None:
            store.delete(attempt_id.hex, by, at_ms)
    except (OSError, ValueError, errors.Unavailable) as error:
        log.warning("the log of attempt %s cannot be deleted now: %s", attempt_id, error)
        return False
    return True


@transaction.atomic
def release_storage(ids: Collection[UUID]) -> None:
    """Release the accounted bytes of deleted logs, once."""
    rows = list(
        Attempt.objects.filter(id__in=ids)
        .select_for_update(of=("self",))
        .select_related("job")
        .order_by("id")
    )
    Attempt.objects.filter(id__in=ids).update(log_bytes=0)
    reservations.settle(_amounts(rows))
