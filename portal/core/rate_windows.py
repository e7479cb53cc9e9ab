"""Count requests per caller and minute across processes.

A process reserves a hundredth of the limit at a time from the cache, so that counting is cheap. The
limit is never exceeded; with several processes, part of the last block of each may stay unused.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from django.core.cache import cache

from portal.core import clock

WINDOW = 60  # seconds
# Blocks per window.
_BLOCKS = 100


@dataclass
class _Block:
    """The part of a window that this process has reserved.

    `used` is the last number handed out, `end` the last one reserved.
    """

    window: int
    used: int = 0
    end: int = 0


_blocks: dict[str, _Block] = {}
_lock = threading.Lock()


def take(who: str, limit: int) -> tuple[int, int]:
    """Count one request; return its number in the window and the seconds until the next window."""
    at = _seconds()
    with _lock:
        block = _blocks.get(who)
        if block is None or block.window != at // WINDOW:
            block = _start_block(who, at // WINDOW)
        if block.used >= block.end:
            size = max(limit // _BLOCKS, 1)
            block.end = _reserve(f"rate:{who}:{block.window}", size)
            block.used = block.end - size
        block.used += 1
        return block.used, WINDOW - at % WINDOW


def _seconds() -> int:
    return clock.now_ms() // 1000


def _start_block(who: str, window: int) -> _Block:
    """Start a block for this window, and drop those of former windows."""
    for name in [name for name, block in _blocks.items() if block.window != window]:
        del _blocks[name]
    return _blocks.setdefault(who, _Block(window))


def _reserve(key: str, size: int) -> int:
    cache.add(key, 0, WINDOW * 2)
    try:
        return cache.incr(key, size)
    # The key was evicted in between.
    except ValueError:
        return size
