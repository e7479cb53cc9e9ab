"""Xorbs and shards: what is refused, and what later files may refer to."""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path

import lz4.frame
import pytest

from datasets.models import Content, Xorb
from datasets.xet.hashes import Chunk, chunk_hash, file_hash, range_hash, to_text, xorb_hash
from datasets.xet.shards import write_shard
from datasets.xet.store import find_chunk, offer, put_xorb, register_shard
from portal.blobs.store import file_store
from portal.core.errors import InvalidInput, NotFound, NotPermitted

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
ENTRY = struct.Struct("<32sIIII")
LAST = ENTRY.pack(b"\xff" * 32, 0, 0, 0, 0)
PLAIN, LZ4, GROUPED = 0, 1, 2


def packed(data: bytes, scheme: int = PLAIN) -> bytes:
    """Return a serialized chunk."""
    body = data
    if scheme == GROUPED:
        body = b"".join(data[n::4] for n in range(4))
    if scheme != PLAIN:
        body = lz4.frame.compress(body)
    sizes = len(body).to_bytes(3, "little"), len(data).to_bytes(3, "little")
    return b"\0" + sizes[0] + bytes([scheme]) + sizes[1] + body


def reversed_words(text: str) -> bytes:
    value = bytes.fromhex(text)
    return b"".join(value[n : n + 8][::-1] for n in range(0, 32, 8))


def shard_of(*file, **wrong):
    """Return a shard with one file."""
    return joined(file_of(*file, **wrong))


def joined(*files):
    return write_shard([])[:48] + b"".join(files) + LAST + LAST


def file_of(pieces, ranges, *, proof=None, sha256=None, name=None):
    """Return a file of these ranges of (xorb hash, start, end, its pieces), for a shard."""
    chunks = [Chunk(chunk_hash(piece), len(piece)) for piece in pieces]
    digest = sha256 or hashlib.sha256(b"".join(pieces)).hexdigest()
    parts = [ENTRY.pack(name or file_hash(chunks), 3 << 30, len(ranges), 0, 0)]
    for xorb, start, end, found in ranges:
        parts.append(ENTRY.pack(xorb, 0, sum(map(len, found)), start, end))
    for _xorb, _start, _end, found in ranges:
        value = proof or range_hash(chunk_hash(piece) for piece in found)
        parts.append(ENTRY.pack(value, 0, 0, 0, 0))
    parts.append(ENTRY.pack(reversed_words(digest), 0, 0, 0, 0))
    return b"".join(parts)


@pytest.fixture
def xorb(stage):
    """Return the hash and the pieces of a xorb that Ben has sent."""
    pieces = [b"one" * 100, os.urandom(5001), b"three" * 9000]
    name = xorb_hash([Chunk(chunk_hash(piece), len(piece)) for piece in pieces])
    body = b"".join(packed(piece, scheme) for scheme, piece in enumerate(pieces))
    sent = {"actor": stage.ben, "repository": stage.cifar, "name": to_text(name)}
    serialized = body + b"XETBLOB footer"
    assert put_xorb(**sent, body=[serialized[at : at + 97] for at in range(0, len(serialized), 97)])
    assert not put_xorb(**sent, body=[])
    return name, pieces


def test_files_are_put_together_and_later_ones_refer_to_them(stage, xorb):
    name, pieces = xorb
    store, org_id = file_store(), stage.cifar.org_id

    def register(pieces, ranges):
        shard = shard_of(pieces, ranges)
        register_shard(actor=stage.ben, repository=stage.cifar, data=shard)
        digest = hashlib.sha256(b"".join(pieces)).hexdigest()
        assert b"".join(store.read(org_id, digest)) == b"".join(pieces)

    register(pieces, [(name, 0, 3, pieces)])
    assert not list((store.root / org_id.hex / "incoming").glob("xorb-*"))  # not needed any more
    register(pieces[1:], [(name, 1, 3, pieces[1:])])
    turned = [*pieces[2:], *pieces[:1]]
    register(turned, [(name, 2, 3, pieces[2:]), (name, 0, 1, pieces[:1])])
    assert Content.objects.filter(repository=stage.cifar).count() == 3


def test_what_hashes_do_not_confirm_is_refused(stage, xorb):
    name, pieces = xorb
    whole = [(name, 0, 3, pieces)]
    for shard in (
        shard_of(pieces, whole, proof=bytes(32)),
        shard_of(pieces, whole, sha256="0" * 64),
        shard_of(pieces, whole, name=bytes(32)),
        shard_of(pieces, [(name, 0, 4, pieces)]),
        shard_of(pieces, [(bytes(32), 0, 3, pieces)]),
        shard_of(pieces, whole)[:-200],
        b"HFRepoMetaData",
    ):
        with pytest.raises(InvalidInput):
            register_shard(actor=stage.ben, repository=stage.cifar, data=shard)
    assert not Content.objects.filter(repository=stage.cifar).exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0" * 7,
        packed(b"x" * 200_000),  # longer than a chunk may be
        packed(b"x" * 1000, LZ4)[:-3],
        packed(b"x" * 1000).replace(b"\0\xe8\x03\0\0", b"\0\xe9\x03\0\0", 1),
        b"\0\x05\0\0\x07\x05\0\0hello",  # an unknown compression
        b"\0"
        + len(bomb := lz4.frame.compress(bytes(1 << 24))).to_bytes(3, "little")
        + b"\x01\x10\0\0"
        + bomb,
    ],
    ids=["empty", "cut", "long", "cut-lz4", "size", "scheme", "bomb"],
)
def test_malformed_xorbs_are_refused(stage, body):
    with pytest.raises(InvalidInput):
        put_xorb(actor=stage.ben, repository=stage.cifar, name="0" * 64, body=[body])
    assert not Xorb.objects.exists()
    assert not put_aside(stage)


def put_aside(stage) -> list[Path]:
    return [*(file_store().root / stage.cifar.org_id.hex / "incoming").iterdir()]


def test_small_files_of_a_shard_are_stored_together(stage, django_assert_max_num_queries):
    sent = {"actor": stage.ben, "repository": stage.cifar}
    pieces = [b"%d " % n * 50 for n in range(300)]
    name = xorb_hash([Chunk(chunk_hash(piece), len(piece)) for piece in pieces])
    body = b"".join(map(packed, pieces))
    put_xorb(**sent, name=to_text(name), body=[body])
    files = [file_of([piece], [(name, n, n + 1, [piece])]) for n, piece in enumerate(pieces)]
    wrong = file_of(pieces[:1], [(name, 0, 1, pieces[:1])], sha256="0" * 64)
    with pytest.raises(InvalidInput):
        register_shard(**sent, data=joined(*files[:-1], wrong))
    assert not Content.objects.exists() and not put_aside(stage)
    assert put_xorb(**sent, name=to_text(name), body=[body])  # perhaps its bytes were damaged
    [path] = put_aside(stage)
    path.write_bytes(path.read_bytes()[:-1])  # by a power failure
    assert put_xorb(**sent, name=to_text(name), body=[body])
    with django_assert_max_num_queries(30):  # not a number for each file
        assert register_shard(**sent, data=joined(*files)) == 300
    stored = {hashlib.sha256(piece).hexdigest(): len(piece) for piece in pieces}
    assert dict(Content.objects.values_list("sha256", "size")) == stored
    assert {file.sha256: file.size for file in file_store().stored(stage.cifar.org_id)} == stored
    assert register_shard(**sent, data=joined(*files)) == 0
    assert not put_aside(stage)


def test_chunks_are_offered_within_a_repository_only(stage):
    pieces = [os.urandom(100_000) for _ in range(12)]
    chunks = [Chunk(chunk_hash(piece), len(piece)) for piece in pieces]
    name = xorb_hash(chunks)
    body = b"".join(packed(piece) for piece in pieces)
    put_xorb(actor=stage.ben, repository=stage.cifar, name=to_text(name), body=[body])
    shard = shard_of(pieces, [(name, 0, 12, pieces)])
    register_shard(actor=stage.ben, repository=stage.cifar, data=shard)
    name = to_text(chunks[0].hash)
    offered = offer(stage.cifar, find_chunk(stage.cifar.id, name))
    assert all(chunk.hash in offered for chunk in chunks)
    from datasets import services

    other = services.create_repository(
        actor=stage.ben, team=stage.story.vision, kind="dataset", name="other"
    )
    with pytest.raises(NotFound):
        find_chunk(other.id, name)
    with pytest.raises(InvalidInput):
        register_shard(actor=stage.ben, repository=other, data=shard)
    speech = services.create_repository(
        actor=stage.ada, team=stage.story.speech, kind="dataset", name="speech"
    )
    with pytest.raises(NotPermitted):
        register_shard(actor=stage.ben, repository=speech, data=shard)
