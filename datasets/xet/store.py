"""Receive xorbs and shards, and put files together from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import transaction

from datasets.access import check_may_write
from datasets.models import Repository, Xorb, XorbChunk, XorbFile
from datasets.selectors import contents_in
from datasets.services.contents import (
    LARGEST_SMALL,
    MOST_BYTES,
    MOST_FILES,
    put_file,
    put_files,
    split_files,
)
from datasets.services.records import locked
from datasets.xet.hashes import Chunk, file_hash, from_text, is_looked_up, range_hash, to_text
from datasets.xet.shards import ShardFile, read_shard, write_shard
from datasets.xet.stored import StoredChunks, StoredXorb, name_of, path_of, unknown
from datasets.xet.xorbs import read_xorb
from portal.blobs.files import StoredFile
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

LARGE = 1 << 20  # bytes of a file from which on its chunks are offered to clients
MOST_OFFERED = 4096  # xorbs in an answer
_MOST_XORBS = 64  # of small files that are stored together


def put_xorb(*, actor: Actor, repository: Repository, name: str, body: Iterable[bytes]) -> bool:
    """Store a xorb; return whether it was new. Raises InvalidInput, NotPermitted."""
    check_may_write(actor, repository)
    wanted = from_text(name)
    known = Xorb.objects.filter(repository=repository, hash=name).first()
    if known and StoredXorb(known).is_stored:
        return False
    row = known or Xorb(org_id=repository.org_id, repository=repository, hash=name)
    chunks: list[Chunk] = []
    file_store().put_aside(row.org_id, name_of(row), read_xorb(body, wanted, chunks))
    xorb = StoredXorb(row)
    xorb.chunks = chunks
    xorb.pack()
    with transaction.atomic():
        locked(repository)
        if not Xorb.objects.filter(repository=repository, hash=name).exists():
            row.save()
    return True


def register_shard(*, actor: Actor, repository: Repository, data: bytes) -> int:
    """Store the files of a shard, and return how many are new.

    Raises InvalidInput if a file refers to unknown chunks, or is not what its hashes say; batches of
    files before it stay. Raises QuotaExceeded, TooLarge, NotPermitted.
    """
    check_may_write(actor, repository)
    return sum(_register(actor, repository, files) for files in _batches(read_shard(data)))


def _batches(files: Iterable[ShardFile]) -> Iterator[list[ShardFile]]:
    """Yield small files together, and each larger one alone."""
    batch: list[ShardFile] = []
    size, names = 0, set[bytes]()
    for file in files:
        more = {segment.xorb for segment in file.segments}
        if batch and (
            len(batch) == MOST_FILES
            or size + file.size > MOST_BYTES
            or len(names | more) > _MOST_XORBS
            or max(file.size, batch[-1].size) > LARGEST_SMALL
        ):
            yield batch
            batch, size, names = [], 0, set()
        batch.append(file)
        size += file.size
        names |= more
    if batch:
        yield batch


def _register(actor: Actor, repository: Repository, files: list[ShardFile]) -> int:
    """Store one file, or small ones together, and return how many are new."""
    names = {to_text(segment.xorb) for file in files for segment in file.segments}
    rows = Xorb.objects.filter(repository=repository, hash__in=names)
    xorbs = {from_text(row.hash): StoredXorb(row) for row in rows}
    for file in files:
        _check(xorbs, file)
    known = contents_in(repository, {file.sha256 for file in files})
    new = [file for file in files if file.sha256 not in known or not _is_placed(file, xorbs)]
    if new:
        try:
            _store(actor, repository, new, xorbs)
        except InvalidInput as error:
            if error.kind == "checksum":  # perhaps after a power failure; they come again
                _discard(xorb.row for xorb in xorbs.values())
            raise
        _discard(_place(repository, new, xorbs))
    return len(new)


def find_chunk(repository_id: UUID, name: str) -> XorbChunk:
    """Return a chunk that clients may refer to. Raises NotFound."""
    rows = XorbChunk.objects.filter(hash=name, xorb__repository_id=repository_id)
    found: XorbChunk | None = rows.order_by("-id").first()
    if found is None:
        raise NotFound(Message("This chunk is not known."), code="no_chunk")
    return found


def offer(repository: Repository, found: XorbChunk) -> bytes:
    """Return a shard with the xorbs of the file of a repository that has a chunk."""
    files = XorbFile.objects.filter(xorb_id=found.xorb_id).order_by("-id")[:1]
    ids = XorbFile.objects.filter(
        xorb__repository=repository, sha256__in=[file.sha256 for file in files]
    ).values("xorb_id")
    rows = Xorb.objects.filter(id__in=ids)[:MOST_OFFERED]
    return write_shard((from_text(row.hash), StoredXorb(row).chunks) for row in rows)


def _check(xorbs: dict[bytes, StoredXorb], file: ShardFile) -> None:
    """Raise InvalidInput unless the client has proved that it has the chunks of a file."""
    found: list[Chunk] = []
    for segment in file.segments:
        xorb = xorbs.get(segment.xorb)
        if xorb is None or not 0 <= segment.start < segment.end <= len(xorb.chunks):
            raise unknown(to_text(segment.xorb))
        chunks = xorb.chunks[segment.start : segment.end]
        if range_hash(chunk.hash for chunk in chunks) != segment.proof:
            raise InvalidInput(Message("The verification of a segment is wrong."), code="checksum")
        found += chunks
    if file_hash(found) != file.hash or sum(chunk.size for chunk in found) != file.size:
        raise InvalidInput(Message("A file does not have the hash it was sent under."))


def _is_placed(file: ShardFile, xorbs: dict[bytes, StoredXorb]) -> bool:
    return all(
        xorbs[segment.xorb].is_placed(segment.start, segment.end) for segment in file.segments
    )


def _store(
    actor: Actor, repository: Repository, files: list[ShardFile], xorbs: dict[bytes, StoredXorb]
) -> None:
    """Store the bytes of files. Raises InvalidInput if one does not have its SHA-256."""

    def pieces_of(file: ShardFile) -> Iterator[bytes]:
        for segment in file.segments:
            yield from xorbs[segment.xorb].read(segment.start, segment.end)

    given: Any = {"actor": actor, "repository": repository}
    if len(files) == 1:
        (file,) = files
        put_file(**given, chunks=pieces_of(file), size=file.size, sha256=file.sha256)
        return
    announced = [StoredFile(file.sha256, file.size) for file in files]
    chunks = (piece for file in files for piece in pieces_of(file))
    contents = split_files(announced, chunks)
    put_files(**given, contents=contents, sizes=[file.size for file in files])


def _discard(rows: Iterable[Xorb]) -> None:
    """Delete the chunks of xorbs that were put aside."""
    for row in rows:
        with suppress(OSError):
            path_of(row).unlink(missing_ok=True)


@transaction.atomic
def _place(
    repository: Repository, files: list[ShardFile], xorbs: dict[bytes, StoredXorb]
) -> list[Xorb]:
    """Note where the chunks of stored files are; return the xorbs that files have completely."""
    locked(repository)
    ids = [xorb.row.id for xorb in xorbs.values()]
    now = {from_text(row.hash): StoredXorb(row) for row in Xorb.objects.filter(id__in=ids)}
    for file in files:
        offset = 0
        for segment in file.segments:
            xorb = now[segment.xorb]
            if not xorb.is_placed(segment.start, segment.end):
                digest = bytes.fromhex(file.sha256)
                xorb.add(StoredChunks(segment.start, segment.end, offset, digest))
            offset += segment.size
        if offset >= LARGE:
            _offer(file, now)
    for xorb in now.values():
        xorb.pack()
    Xorb.objects.bulk_update([xorb.row for xorb in now.values()], ["places"], batch_size=50)
    return [xorb.row for xorb in now.values() if xorb.is_placed(0, len(xorb.chunks))]


def _offer(file: ShardFile, xorbs: dict[bytes, StoredXorb]) -> None:
    """Note which chunks of a large file clients ask for."""
    asked: dict[str, Xorb] = {}
    for number, segment in enumerate(file.segments):
        xorb = xorbs[segment.xorb]
        for index, chunk in enumerate(xorb.chunks[segment.start : segment.end]):
            if is_looked_up(chunk.hash) or (number == 0 and index == 0):
                asked[to_text(chunk.hash)] = xorb.row
    XorbChunk.objects.bulk_create(
        [XorbChunk(org_id=row.org_id, xorb=row, hash=name) for name, row in asked.items()],
        ignore_conflicts=True,
    )
    rows = {segment.xorb: xorbs[segment.xorb].row for segment in file.segments}
    XorbFile.objects.bulk_create(
        [XorbFile(org_id=row.org_id, xorb=row, sha256=file.sha256) for row in rows.values()],
        ignore_conflicts=True,
    )
