"""Identifiers: UUID version 7 (RFC 9562), so that primary keys sort by time and indexes grow at one end."""

from __future__ import annotations

import secrets
import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """A new id: 48 bits of Unix milliseconds, 12 of sub-millisecond order, 62 random. Strictly rising in one process."""
    global _last
    with _lock:
        stamp = max(
            time.time_ns() * 4096 // 1_000_000, _last + 1
        )  # ms in the high bits, 1/4096 ms below
        _last = stamp
    value = (stamp >> 12 & (1 << 48) - 1) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62
    return uuid.UUID(int=value | secrets.randbits(62))
