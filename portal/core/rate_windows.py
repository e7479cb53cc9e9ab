"""Counting what a caller does in a minute, across processes. Places in a window are taken from the cache in blocks of a hundredth
of the limit, so that counting costs nothing: no more than the limit ever pass; with several processes the last block of each
may stay unused."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from django.core.cache import cache

from portal.core import clock

WINDOW = 60  # seconds
_SHARE = 100  # blocks of a window


@dataclass
class _Block:
    """Places of a window that this process has: `used` is the last one given away, `end` the last one it has."""

    window: int
    used: int = 0
    end: int = 0


_blocks: dict[str, _Block] = {}
_lock = threading.Lock()


def take(who: str, limit: int) -> tuple[int, int]:
    """One more by `who`: the number of this one in the window, and the seconds until the next window."""
    at = _seconds()
    with _lock:
        block = _blocks.get(who)
        if block is None or block.window != at // WINDOW:
            block = _begin(who, at // WINDOW)
        if block.used >= block.end:
            size = max(limit // _SHARE, 1)
            block.end = _claim(f"rate:{who}:{block.window}", size)
            block.used = block.end - size
        block.used += 1
        return block.used, WINDOW - at % WINDOW


def _seconds() -> int:
    return clock.now_ms() // 1000


def _begin(who: str, window: int) -> _Block:
    """A first block; those of windows that are over are forgotten."""
    for name in [name for name, block in _blocks.items() if block.window != window]:
        del _blocks[name]
    return _blocks.setdefault(who, _Block(window))


def _claim(key: str, size: int) -> int:
    cache.add(key, 0, WINDOW * 2)
    try:
        return cache.incr(key, size)
    except ValueError:  # evicted between the two
        return size
