"""Store bytes for a repository, before a version names them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence

from django.conf import settings
from django.db import transaction

from datasets import storage
from datasets.access import check_may_write
from datasets.models import Content, Repository
from datasets.services.records import locked
from portal.blobs.files import StoredFile
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput, TooLarge
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from workspaces.access.actors import Actor

# In one request of many small files
MOST_FILES, LARGEST_SMALL, MOST_BYTES = 1_000, 1 << 20, 32 << 20


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
    chunks = storage.within_limits(repository, chunks, size)
    stored = file_store().put(
        repository.org_id, chunks, size=size, limit=settings.MUSTER_FILE_LIMIT
    )
    check_digest(stored, sha256)
    add_contents(repository, [stored])
    return stored


def put_files(
    *,
    actor: Actor,
    repository: Repository,
    contents: Iterable[bytes],
    sizes: Sequence[int],
) -> list[StoredFile]:
    """Store small files of these sizes for a later commit: all or none.

    Raises as `put_file` does, what `contents` raises, and TooLarge beyond `MOST_FILES`,
    `LARGEST_SMALL` and `MOST_BYTES`.
    """
    check_may_write(actor, repository)
    total = check_small(sizes)
    contents = storage.within_limits(repository, contents, total)
    stored = file_store().put_many(repository.org_id, contents)
    add_contents(repository, stored)
    return stored


def check_small(sizes: Sequence[int]) -> int:
    """Return the sum of the sizes of files in one request. Raises TooLarge beyond its limits."""
    most = min(LARGEST_SMALL, settings.MUSTER_FILE_LIMIT)
    if len(sizes) > MOST_FILES or sum(sizes) > MOST_BYTES or any(size > most for size in sizes):
        raise TooLarge(
            Message(
                "One request takes up to {n} files of up to {most} each, {all} together. Ask for "
                "the others alone.",
                n=MOST_FILES,
                most=bytes_text(most),
                all=bytes_text(MOST_BYTES),
            )
        )
    return sum(sizes)


def split_files(announced: Sequence[StoredFile], chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut bytes that follow one another into files. Raises InvalidInput for others than announced."""
    contents = cut([file.size for file in announced], chunks)
    for data, file in zip(contents, announced, strict=True):
        check_digest(StoredFile(hashlib.sha256(data).hexdigest(), len(data)), file.sha256)
        yield data


def cut(sizes: Sequence[int], chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut bytes that follow one another into files. Raises InvalidInput for other sizes."""
    source, rest = iter(chunks), bytearray()
    for number, size in enumerate(sizes, 1):
        while len(rest) < size and (chunk := next(source, b"")):
            rest += chunk
        if len(rest) < size:
            raise InvalidInput(
                Message(
                    "The body ended within file {n} of {files}. Send the files again.",
                    n=number,
                    files=len(sizes),
                ),
                code="incomplete",
            )
        yield bytes(rest[:size])
        del rest[:size]
    if rest or any(source):
        raise InvalidInput(
            Message("The body is longer than the files that it announces."), code="too_long"
        )


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
