"""Store bytes for a repository, before a version names them."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from django.conf import settings
from django.db import transaction

from datasets import storage
from datasets.access import check_may_write
from datasets.models import Content, Repository
from datasets.services.records import locked
from portal.blobs.files import StoredFile, file_store
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.access.actors import Actor


def put_file(
    *,
    actor: Actor,
    repository: Repository,
    chunks: Iterable[bytes],
    size: int | None = None,
    sha256: str = "",
) -> StoredFile:
    """Store a file for a later commit.

    `size` and `sha256` are what was announced. Raises InvalidInput if something else came,
    QuotaExceeded, TooLarge, NotPermitted, and Unavailable if the disk is full; then nothing counts.
    """
    check_may_write(actor, repository)
    chunks = storage.within_room(repository, chunks, size)
    stored = file_store().put(
        repository.org_id, chunks, size=size, limit=settings.MUSTER_FILE_LIMIT
    )
    check_digest(stored, sha256)
    add_contents(repository, [stored])
    return stored


@transaction.atomic
def copy_contents(
    *, actor: Actor, source: Repository, target: Repository, digests: Collection[str]
) -> set[str]:
    """Give a repository the files that another one has in its versions; return those it hasn't.

    The actor may read the source. Raises NotPermitted, QuotaExceeded.
    """
    check_may_write(actor, target)
    rows = Content.objects.filter(repository=source, sha256__in=digests, is_used=True)
    files = [StoredFile(sha256, size) for sha256, size in rows.values_list("sha256", "size")]
    for file in files:
        file_store().keep(target.org_id, file.sha256)
    add_contents(target, files)
    return set(digests) - {file.sha256 for file in files}


def check_digest(stored: StoredFile, sha256: str) -> None:
    """Raise InvalidInput if the bytes that came are not those announced."""
    if sha256 and sha256 != stored.sha256:
        raise InvalidInput(
            Message(
                "The file arrived with SHA-256 {found} instead of {announced}. Send it again.",
                found=stored.sha256,
                announced=sha256[:80],
            ),
            code="checksum",
        )


@transaction.atomic
def add_contents(repository: Repository, files: Collection[StoredFile]) -> None:
    """Note that a repository has files that `FileStore.put` has just stored. Raises QuotaExceeded.

    What it has already is not counted again.
    """
    row = locked(repository)
    sizes = {file.sha256: file.size for file in files}
    known = set(
        Content.objects.filter(repository=row, sha256__in=sizes).values_list("sha256", flat=True)
    )
    new = {sha256: size for sha256, size in sizes.items() if sha256 not in known}
    if not new:
        return
    storage.hold(row, sum(new.values()))
    Content.objects.bulk_create(
        [
            Content(org_id=row.org_id, repository=row, sha256=sha256, size=size)
            for sha256, size in new.items()
        ]
    )
