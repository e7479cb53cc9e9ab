"""The hashes of Xet: BLAKE3 with fixed keys, and a tree of them.

A hash is 32 bytes. As text it is four little-endian numbers in hexadecimal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from blake3 import blake3

from portal.core.errors import InvalidInput
from portal.core.messages import Message

# From the specification of the protocol.
_DATA_KEY = bytes.fromhex("6697f5775b9550de3135cbaca597181c9de421109beb2b58b4d0b04b93adf229")
_NODE_KEY = bytes.fromhex("017ec5c7a5472996fd946666b48a02e65ddd536f37c76dd2f86352e64a53713f")
_RANGE_KEY = bytes.fromhex("7f1857d6ce56ed66127ff913e7a5c3f3a4cd26d5b5db49e64124987f28fb94c3")
_FEWEST, _MOST = 3, 9  # children of a node that a hash may end, and of any
_BRANCHING = 4
_DEDUPLICATED_EVERY = 1024


class Chunk(NamedTuple):
    """A chunk of a xorb: its hash and its size in bytes."""

    hash: bytes
    size: int


def chunk_hash(data: bytes) -> bytes:
    """Return the hash of a chunk's bytes."""
    return blake3(data, key=_DATA_KEY).digest()


def xorb_hash(chunks: Sequence[Chunk]) -> bytes:
    """Return the root of the tree over the chunks of a xorb."""
    if not chunks:
        return bytes(32)
    nodes = list(chunks)
    while len(nodes) > 1:
        nodes = [_node(group) for group in _groups(nodes)]
    return nodes[0].hash


def file_hash(chunks: Sequence[Chunk]) -> bytes:
    """Return the hash of a file that consists of these chunks."""
    return blake3(xorb_hash(chunks), key=bytes(32)).digest() if chunks else bytes(32)


def range_hash(hashes: Iterable[bytes]) -> bytes:
    """Return what proves that a client has the chunks of a range."""
    return blake3(b"".join(hashes), key=_RANGE_KEY).digest()


def is_looked_up(value: bytes) -> bool:
    """Return whether clients ask for a chunk with this hash before they send it."""
    return _last_number(value) % _DEDUPLICATED_EVERY == 0


def to_text(value: bytes) -> str:
    """Return a hash as text."""
    return "".join(value[start : start + 8][::-1].hex() for start in range(0, 32, 8))


def from_text(text: str) -> bytes:
    """Return the hash in a text. Raises InvalidInput."""
    try:
        value = bytes.fromhex(text)
    except ValueError:
        value = b""
    if len(value) != 32 or len(text) != 64:
        raise InvalidInput(Message("A hash has 64 hexadecimal digits."), code="bad_hash")
    return b"".join(value[start : start + 8][::-1] for start in range(0, 32, 8))


def _groups(nodes: Sequence[Chunk]) -> Iterable[Sequence[Chunk]]:
    start = 0
    while start < len(nodes):
        end = min(start + _MOST, len(nodes))
        for number in range(start + _FEWEST - 1, end):
            if _last_number(nodes[number].hash) % _BRANCHING == 0:
                end = number + 1
                break
        yield nodes[start:end]
        start = end


def _node(group: Sequence[Chunk]) -> Chunk:
    text = "".join(f"{to_text(chunk.hash)} : {chunk.size}\n" for chunk in group)
    return Chunk(blake3(text.encode(), key=_NODE_KEY).digest(), sum(chunk.size for chunk in group))


def _last_number(value: bytes) -> int:
    return int.from_bytes(value[24:], "little")
