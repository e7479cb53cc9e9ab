"""`python written.py SIZE`: write that many reproducible bytes.

Each mebibyte starts with its number, followed by hexadecimal noise that compresses by half, as logs
do. Standard library only.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

BLOCK = 1 << 20
_NOISE = b"".join(
    random.Random(7).randbytes(39).hex().encode() + b"\n" for _ in range(BLOCK // 79 + 1)
)


def blocks(size: int) -> Iterator[bytes]:
    """Yield the bytes in pieces; the last may be shorter."""
    for number in range(-(-size // BLOCK)):
        yield (b"block %011d of noise\n" % number + _NOISE)[: min(BLOCK, size - number * BLOCK)]


if __name__ == "__main__":
    for block in blocks(int(sys.argv[1])):
        sys.stdout.buffer.write(block)
