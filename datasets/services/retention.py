"""Delete old versions by rule, and what no version needs any more."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from datasets import storage
from datasets.access import check_may_manage
from datasets.models import Block, Content, Import, ImportedFile, Ref, Repository, Upload, Version
from datasets.selectors import rules_of, tree_of
from datasets.services.records import TRASH, check_no_hold, lock_to_delete, locked, record_change
from datasets.trees import decode
from datasets.uses import commits_in_use
from datasets.xet.stored import forget
from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.messages import Message
from workspaces.access.actors import Actor

ABANDONED = timedelta(days=1)  # contents that no version names, and uploads without progress
BY = "muster"
_BATCH = 5000


class RetentionPlan(NamedTuple):
    """What retention would delete: versions, the last one first, and the bytes they free."""

    versions: list[Version]
    bytes: int


def plan(repository: Repository, *, keep_last: int, keep_days: int) -> RetentionPlan:
    """Return what these rules would delete now. 0 is no rule; either rule keeps a version.

    Versions with a tag, heads of branches, and what jobs use that have not ended, stay.
    """
    rows = list(_candidates(repository, keep_last, keep_days))
    if not rows:
        return RetentionPlan([], 0)
    kept = used_contents(
        Version.objects.filter(repository=repository).exclude(id__in=[row.id for row in rows])
    )
    freed = sum(
        size
        for sha256, size in Content.objects.filter(repository=repository, is_used=True).values_list(
            "sha256", "size"
        )
        if sha256 not in kept
    )
    return RetentionPlan(rows, freed)


@transaction.atomic
def delete_versions(*, actor: Actor, repository: Repository, versions: list[Version]) -> int:
    """Delete versions that have neither tag nor branch; return the freed bytes.

    Raises Conflict under a legal hold or for a version with a tag or branch, NotPermitted.
    """
    check_may_manage(actor, repository)
    row = locked(repository)
    check_no_hold(row)
    lock_to_delete(row, [version.id for version in versions])
    named = Ref.objects.filter(version__in=versions).select_related("version").first()
    in_use = commits_in_use(row.org_id)
    if used := next((version for version in versions if version.commit in in_use), None):
        raise Conflict(
            Message(
                "A job that has not ended uses version {version}. Wait for its end.",
                version=used.number,
            ),
            code="in_use",
        )
    if named is not None:
        raise Conflict(
            Message(
                "{name} refers to version {version}. Delete or move it first.",
                name=named.name,
                version=named.version.number,
            ),
            code="in_use",
        )
    return _delete(row, [version.id for version in versions], actor.email)


@transaction.atomic
def prune_versions(repository: Repository, versions: Collection[Version]) -> int:
    """Delete versions that a job's own rule no longer keeps; return their number.

    Those with a tag or branch and those in use stay, and all under a legal hold or in the trash.
    """
    row = locked(repository, with_trash=True)
    if row.legal_hold or row.deleted_at is not None or not versions:
        return 0
    named = set(
        Ref.objects.filter(repository=row).exclude(version=None).values_list("version", flat=True)
    )
    lock_to_delete(row, [one.id for one in versions])
    in_use = commits_in_use(row.org_id)
    ids = [one.id for one in versions if one.id not in named and one.commit not in in_use]
    if ids:
        _delete(row, ids, BY)
    return len(ids)


@transaction.atomic
def apply_rules(repository: Repository) -> int:
    """Delete what the repository's rules no longer keep, and unused contents; return the bytes."""
    row = locked(repository, with_trash=True)
    if row.legal_hold:
        return 0
    ids = [version.id for version in _candidates(row, *rules_of(row))]
    if ids:
        lock_to_delete(row, ids)
        in_use = commits_in_use(row.org_id)
        rows = Version.objects.filter(id__in=ids).exclude(commit__in=in_use)
        ids = list(rows.values_list("id", flat=True))
    return _delete(row, ids, BY)


def purge_trash(before: datetime) -> int:
    """Delete the repositories moved to the trash before a time; return their number."""
    return TRASH.purge_old(before)


def discard_abandoned(before: datetime) -> int:
    """Delete uploads without progress since a time; return their number."""
    rows = list(Upload.objects.filter(updated_at__lt=before, sha256=""))
    for row in rows:
        file_store().discard(row.org_id, row.id)
        row.delete()
    Upload.objects.filter(updated_at__lt=before).delete()
    ended = Import.objects.filter(ended_at__lt=before)
    ImportedFile.objects.filter(imported__in=ended).delete()
    return len(rows)


def _candidates(repository: Repository, keep_last: int, keep_days: int) -> list[Version]:
    if not keep_last and not keep_days:
        return []
    named = Ref.objects.filter(repository=repository).exclude(version=None).values("version_id")
    rows = Version.objects.filter(repository=repository).order_by("-number")
    last = list(rows.values_list("id", flat=True)[:keep_last]) if keep_last else []
    rows = rows.exclude(id__in=last).exclude(id__in=named)
    rows = rows.exclude(commit__in=commits_in_use(repository.org_id))
    if keep_days:
        rows = rows.filter(created_at__lt=clock.now() - timedelta(days=keep_days))
    return list(rows.defer("blocks"))


def _delete(row: Repository, ids: list[UUID], by: str) -> int:
    """Delete versions of a locked repository, and what no version needs any more."""
    numbers = list(
        Version.objects.filter(id__in=ids).order_by("number").values_list("number", flat=True)
    )
    Version.objects.filter(id__in=ids).delete()
    freed = _collect(row, is_rescan=bool(numbers))
    if numbers:
        before = {"versions": numbers[:100], "count": len(numbers), "bytes": freed}
        record_change("versions_deleted", by, row, before=before)
    return freed


def _collect(row: Repository, *, is_rescan: bool) -> int:
    """Delete blocks and contents of a locked repository that nothing needs; return the bytes."""
    freed = collect_unused(row, clock.now() - ABANDONED)
    doomed: list[UUID] = []
    if is_rescan:
        versions = Version.objects.filter(repository=row)
        blocks = {
            block[0] for blocks in versions.values_list("blocks", flat=True) for block in blocks
        }
        used = used_contents(versions)
        old = Block.objects.filter(repository=row).values_list("id", "digest")
        _delete_ids(Block, [pk for pk, digest in old if digest not in blocks])
        contents = Content.objects.filter(repository=row, is_used=True)
        doomed += [pk for pk, sha in contents.values_list("id", "sha256") if sha not in used]
    return freed + _delete_contents(row, doomed)


def collect_unused(row: Repository, before: datetime) -> int:
    """Delete contents of a locked repository that no version has named since; return the bytes."""
    unused = Content.objects.filter(repository=row, is_used=False, created_at__lt=before)
    active = Import.objects.filter(repository=row, state__in=Import.ACTIVE)
    unused = unused.exclude(
        sha256__in=ImportedFile.objects.filter(imported__in=active).values("sha256")
    )
    return _delete_contents(row, list(unused.values_list("id", flat=True)))


def _delete_contents(row: Repository, doomed: list[UUID]) -> int:
    freed, gone = 0, set[str]()
    for start in range(0, len(doomed), _BATCH):
        rows = Content.objects.filter(id__in=doomed[start : start + _BATCH])
        for sha256, size in rows.values_list("sha256", "size"):
            freed += size
            gone.add(sha256)
        rows.delete()
    if gone:
        forget(row, gone)
        storage.release(row, freed)
    return freed


def used_contents(versions: object) -> set[str]:
    """Return the SHA-256 of all files of versions; a block is read once."""
    used: set[str] = set()
    seen: set[str] = set()
    for version in versions:  # type: ignore[attr-defined]
        tree = tree_of(version)
        new = [block.digest for block in tree.blocks if block.digest not in seen]
        seen.update(new)
        for data in tree.load_all(new):
            used.update(entry.sha256 for entry in decode(data))
    return used


def _delete_ids(model: type[Block], ids: list[UUID]) -> None:
    for start in range(0, len(ids), _BATCH):
        model.objects.filter(id__in=ids[start : start + _BATCH]).delete()
