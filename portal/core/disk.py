"""Recognize full or read-only disks, so that users get an actionable, retryable error."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from portal.core.errors import Unavailable
from portal.core.formatting import bytes_text
from portal.core.messages import Message

RETRY_AFTER = 10  # seconds
SPARE = 1 << 30  # bytes, or a hundredth of a small disk
_OS = {
    errno.ENOSPC: "is full",
    errno.EDQUOT: "is full (its quota is used up)",
    errno.EFBIG: "takes no longer files",
    errno.EROFS: "can only be read now",
}
_SQLITE = {
    "SQLITE_FULL": "is full",
    "SQLITE_READONLY": "can only be read now",
    "SQLITE_CANTOPEN": "cannot be written",
    "SQLITE_IOERR": "cannot be written",
}
_POSTGRES_FULL = "53100"


def free_bytes_at(path: Path) -> int:
    """Return the bytes that may be written at a path: SPARE is left for the portal itself."""
    facts = os.statvfs(path)
    spare = min(SPARE, facts.f_blocks * facts.f_frsize // 100)
    return max(facts.f_bavail * facts.f_frsize - spare, 0)


def check_space(path: Path, size: int) -> None:
    """Raise Unavailable unless the disk has room for a file, before a byte of it is written."""
    if size and size > (free := free_bytes_at(path)):
        raise Unavailable(
            Message(
                "The disk that keeps this portal's files (MUSTER_HOME) has room for {room}, and this "
                "file needs {size}. Ask the operator of this portal to make room there, or save less.",
                room=bytes_text(free),
                size=bytes_text(size),
            ),
            code="disk_full",
            data={"retry_after": RETRY_AFTER},
        )


def full_disk(error: BaseException | None) -> Unavailable | None:
    """Return the error to raise if this error, or one in its chain, is a full disk; else None."""
    words = disk_error_text(error)
    return (
        Unavailable(
            Message(
                "{words}, so nothing was changed. Ask the operator of this portal to make room "
                "there, then try again.",
                words=words,
            ),
            code="disk_full",
            data={"retry_after": RETRY_AFTER},
        )
        if words
        else None
    )


def disk_error_text(error: BaseException | None) -> str:
    """Describe the affected disk and its problem as half a sentence; "" if no disk is involved."""
    return next((words for one in error_chain(error) if (words := _text(one))), "")


def _text(error: BaseException) -> str:
    if isinstance(error, sqlite3.Error):
        name = getattr(error, "sqlite_errorname", "")
        how = next((how for start, how in _SQLITE.items() if name.startswith(start)), "")
        return how and f"The disk of MUSTER_HOME, which keeps the database, {how}"
    if getattr(error, "sqlstate", None) == _POSTGRES_FULL:
        return "The disk of the database server is full"
    how = _OS.get(error.errno or 0, "") if isinstance(error, OSError) else ""
    return how and f"The disk that keeps this portal's files (MUSTER_HOME) {how}"


def error_chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and the chain of errors that caused it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
