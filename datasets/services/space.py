"""Say what the bytes of a repository are for, and delete what nothing needs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, Sum

from datasets.access import check_may_manage
from datasets.models import Content, Ref, Repository, Upload, Version
from datasets.references import referred_to
from datasets.services.records import check_no_hold, locked, record_change
from datasets.services.retention import collect_unused, used_contents
from datasets.services.uploads import received
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import NotFound
from workspaces.access.actors import Actor

RECENT = timedelta(hours=1)  # a commit may still name what came within this time
MOST_VERSIONS = 10_000
QUICK = 100_000  # files of all named versions
_CACHED = 24 * 3600  # seconds


@dataclass(frozen=True)
class Space:
    """What a repository stores, in bytes.

    `current` is in versions with a branch or tag, `old` only in others; None if that was not
    computed. `unnamed` is in files that
    no version names, `uploads` in files that are still being received. `unreferenced` are the
    numbers of versions without branch, tag, job or model.
    """

    stored: int
    current: int | None
    old: int | None
    unnamed: int
    unnamed_files: int
    uploads: int
    uploads_bytes: int
    versions: int
    unreferenced: list[int]


def space_of(repository: Repository, *, is_quick: bool = False) -> Space:
    """Return what a repository stores. Reads the trees of named versions, which are then cached.

    `is_quick` leaves that out for large trees that are not cached.
    """
    contents = Content.objects.filter(repository=repository)
    unnamed = contents.filter(is_used=False).aggregate(n=Count("id"), bytes=Sum("size"))
    uploads = list(Upload.objects.filter(repository=repository, sha256=""))
    named = set(
        Ref.objects.filter(repository=repository, version__isnull=False).values_list(
            "version_id", flat=True
        )
    )
    numbers = dict(
        Version.objects.filter(repository=repository)
        .order_by("-number")
        .values_list("id", "number")[:MOST_VERSIONS]
    )
    loose = numbers.keys() - named
    kept = referred_to(loose)
    current = _current_bytes(repository, sorted(map(str, named)), is_quick=is_quick)
    stored = repository.stored_bytes
    rest = stored - (current or 0) - (unnamed["bytes"] or 0)
    return Space(
        stored=stored,
        current=current,
        old=None if current is None else max(rest, 0),
        unnamed=unnamed["bytes"] or 0,
        unnamed_files=unnamed["n"],
        uploads=len(uploads),
        uploads_bytes=sum(map(_received, uploads)),
        versions=len(numbers),
        unreferenced=sorted(numbers[pk] for pk in loose - kept),
    )


def _received(upload: Upload) -> int:
    try:
        return received(upload)
    except NotFound:  # its file is gone
        return 0


def _current_bytes(repository: Repository, named: list[str], *, is_quick: bool) -> int | None:
    """Return the bytes of the different files of versions with a branch or tag."""
    digest = hashlib.sha256(" ".join(named).encode()).hexdigest()
    key = f"space:{repository.id}:{digest}"  # versions never change
    found: int | None = cache.get(key)
    if found is None:
        versions = Version.objects.filter(id__in=named)
        if is_quick and (versions.aggregate(n=Sum("files"))["n"] or 0) > QUICK:
            return None
        digests = used_contents(versions)
        sizes = Content.objects.filter(repository=repository, is_used=True)
        found = sum(size for sha, size in sizes.values_list("sha256", "size") if sha in digests)
        cache.set(key, found, _CACHED)
    return found


@transaction.atomic
def discard_unused(*, actor: Actor, repository: Repository) -> int:
    """Delete files that no version names and uploads without progress for an hour.

    Returns the bytes. Raises Conflict under a legal hold, NotPermitted.
    """
    check_may_manage(actor, repository)
    row = locked(repository)
    check_no_hold(row)
    before = clock.now() - RECENT
    uploads = list(Upload.objects.filter(repository=row, updated_at__lt=before))
    bytes_ = 0
    for upload in uploads:
        if not upload.sha256:
            bytes_ += _received(upload)
            file_store().discard(row.org_id, upload.id)
    Upload.objects.filter(id__in=[upload.id for upload in uploads]).delete()
    freed = collect_unused(row, before)
    if freed or uploads:
        after = {"bytes": freed + bytes_, "uploads": len(uploads)}
        record_change("unused_discarded", actor.email, row, after=after)
    return freed + bytes_
