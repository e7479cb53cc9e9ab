"""Generate version 7 UUIDs (RFC 9562), so that primary keys sort by time."""

from __future__ import annotations

import secrets
import threading
import time
import uuid

_lock = threading.Lock()
_last = 0


def uuid7() -> uuid.UUID:
    """Return a new id, strictly increasing within a process.

    It has 48 bits of Unix milliseconds, 12 bits of sub-millisecond order and 62 random bits.
    """
    global _last
    with _lock:
        # Milliseconds in the high bits, 1/4096 ms in the low 12 bits.
        stamp = max(time.time_ns() * 4096 // 1_000_000, _last + 1)
        _last = stamp
    value = (stamp >> 12 & (1 << 48) - 1) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62
    return uuid.UUID(int=value | secrets.randbits(62))


def unguessable() -> str:
    """Return 32 random hexadecimal digits, which nobody can guess."""
    return secrets.token_hex(16)
