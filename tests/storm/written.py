"""`python written.py SIZE`: writes that many bytes that anybody can write again: blocks of a mebibyte with a number in front and
hexadecimal noise behind, which compresses by half, as logs do not. Standard library only."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

BLOCK = 1 << 20
_NOISE = b"".join(
    random.Random(7).randbytes(39).hex().encode() + b"\n" for _ in range(BLOCK // 79 + 1)
)


def blocks(size: int) -> Iterator[bytes]:
    """The bytes, piece by piece; the last piece may be shorter."""
    for number in range(-(-size // BLOCK)):
        yield (b"block %011d of noise\n" % number + _NOISE)[: min(BLOCK, size - number * BLOCK)]


if __name__ == "__main__":
    for block in blocks(int(sys.argv[1])):
        sys.stdout.buffer.write(block)
