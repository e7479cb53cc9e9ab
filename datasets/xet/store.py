"""Receive xorbs and shards, and put files together from them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from django.db import transaction

from datasets.access import check_may_write
from datasets.models import Content, Repository, Xorb, XorbChunk, XorbFile
from datasets.services.contents import add_contents, check_digest
from datasets.services.records import locked
from datasets.xet.hashes import file_hash, from_text, is_looked_up, range_hash, to_text
from datasets.xet.shards import Segment, ShardFile, read_shard, write_shard
from datasets.xet.stored import Place, StoredXorb, name_of, path_of, unknown
from datasets.xet.xorbs import read_xorb
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor

LARGE = 1 << 20  # bytes of a file from which on its chunks are offered to clients
MOST_OFFERED = 4096  # xorbs in an answer


def put_xorb(*, actor: Actor, repository: Repository, name: str, body: Iterable[bytes]) -> bool:
    """Store a xorb; return whether it was new. Raises InvalidInput, NotPermitted."""
    check_may_write(actor, repository)
    wanted = from_text(name)
    known = Xorb.objects.filter(repository=repository, hash=name).first()
    if known and StoredXorb(known).is_stored:
        return False
    chunks, pieces = read_xorb(b"".join(body), wanted)
    row = known or Xorb(org_id=repository.org_id, repository=repository, hash=name)
    file_store().put_aside(row.org_id, name_of(row), pieces)
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

    Raises InvalidInput if a file refers to unknown chunks, or is not what its hashes say; files
    before it stay. Raises QuotaExceeded, NotPermitted.
    """
    check_may_write(actor, repository)
    stored = 0
    for file in read_shard(data):
        names = {to_text(segment.xorb) for segment in file.segments}
        rows = Xorb.objects.filter(repository=repository, hash__in=names)
        xorbs = {from_text(row.hash): StoredXorb(row) for row in rows}
        for segment in file.segments:
            _check(xorbs, segment)
        if not _is_stored(repository, file, xorbs):
            _store(repository, file, xorbs)
            stored += 1
    return stored


def offer(repository: Repository, chunk: str) -> bytes:
    """Return a shard with the xorbs of the file that has a chunk. Raises NotFound."""
    found = (
        XorbChunk.objects.filter(hash=chunk, xorb__repository=repository).order_by("-id").first()
    )
    if found is None:
        raise NotFound(Message("This chunk is not known."), code="no_chunk")
    files = XorbFile.objects.filter(xorb_id=found.xorb_id).order_by("-id")[:1]
    ids = XorbFile.objects.filter(
        xorb__repository=repository, sha256__in=[file.sha256 for file in files]
    ).values("xorb_id")
    rows = Xorb.objects.filter(id__in=ids)[:MOST_OFFERED]
    return write_shard((from_text(row.hash), StoredXorb(row).chunks) for row in rows)


def _check(xorbs: dict[bytes, StoredXorb], segment: Segment) -> None:
    """Raise InvalidInput unless the client has proved that it has the chunks of a segment."""
    xorb = xorbs.get(segment.xorb)
    if xorb is None or not 0 <= segment.start < segment.end <= len(xorb.chunks):
        raise unknown(to_text(segment.xorb))
    chunks = xorb.chunks[segment.start : segment.end]
    if range_hash(chunk.hash for chunk in chunks) != segment.proof:
        raise InvalidInput(Message("The verification of a segment is wrong."), code="checksum")


def _is_stored(repository: Repository, file: ShardFile, xorbs: dict[bytes, StoredXorb]) -> bool:
    is_known = Content.objects.filter(repository=repository, sha256=file.sha256).exists()
    return is_known and all(
        xorbs[segment.xorb].is_placed(segment.start, segment.end) for segment in file.segments
    )


def _store(repository: Repository, file: ShardFile, xorbs: dict[bytes, StoredXorb]) -> None:
    chunks = [
        chunk
        for segment in file.segments
        for chunk in xorbs[segment.xorb].chunks[segment.start : segment.end]
    ]
    if file_hash(chunks) != file.hash:
        raise InvalidInput(Message("A file does not have the hash it was sent under."))
    pieces = (
        piece
        for segment in file.segments
        for piece in xorbs[segment.xorb].read(segment.start, segment.end)
    )
    size = sum(chunk.size for chunk in chunks)
    stored = file_store().put(repository.org_id, pieces, size=size)
    check_digest(stored, file.sha256)
    add_contents(repository, [stored])
    for row in _place(repository, file, xorbs, is_large=size >= LARGE):
        with suppress(OSError):
            path_of(row).unlink(missing_ok=True)


@transaction.atomic
def _place(
    repository: Repository,
    file: ShardFile,
    xorbs: dict[bytes, StoredXorb],
    *,
    is_large: bool,
) -> list[Xorb]:
    """Note where the chunks of a stored file are; return the xorbs that files have completely."""
    locked(repository)
    names = [xorb.row.id for xorb in xorbs.values()]
    now = {from_text(row.hash): StoredXorb(row) for row in Xorb.objects.filter(id__in=names)}
    digest = bytes.fromhex(file.sha256)
    asked: dict[str, Xorb] = {}
    offset = 0
    for number, segment in enumerate(file.segments):
        xorb = now[segment.xorb]
        if not xorb.is_placed(segment.start, segment.end):
            xorb.places.append(Place(segment.start, segment.end, offset, digest))
        chunks = xorb.chunks[segment.start : segment.end]
        offset += sum(chunk.size for chunk in chunks)
        for index, chunk in enumerate(chunks):
            if is_looked_up(chunk.hash) or (number == 0 and index == 0):
                asked[to_text(chunk.hash)] = xorb.row
    for xorb in now.values():
        xorb.pack()
        xorb.row.save(update_fields=["places"])
    if is_large:
        org_id = repository.org_id
        XorbChunk.objects.bulk_create(
            [XorbChunk(org_id=org_id, xorb=row, hash=name) for name, row in asked.items()],
            ignore_conflicts=True,
        )
        XorbFile.objects.bulk_create(
            [XorbFile(org_id=org_id, xorb=xorb.row, sha256=file.sha256) for xorb in now.values()],
            ignore_conflicts=True,
        )
    return [xorb.row for xorb in now.values() if xorb.is_placed(0, len(xorb.chunks))]
