"""Read and write the files of a job's folder, with few imports (see supervisor)."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FULL = 64 << 10  # bytes: a disk with less free space is full


def boot_id() -> str:
    return read("/proc/sys/kernel/random/boot_id").strip()


def read(path: str) -> str:
    with open(path) as file:
        return file.read()


def is_full() -> bool:
    """Return whether the file system of the job's folder is full."""
    disk = os.statvfs(".")
    return (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail) * disk.f_frsize < FULL


def parse(text: str) -> Any:
    """Parse JSON with the C scanner; falls back to json.loads if that ever goes away."""
    try:
        from _json import make_scanner

        return make_scanner(_Rules)(text, 0)[0]  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):
        import json

        return json.loads(text)


class _Rules:
    strict, object_hook, object_pairs_hook, parse_float, parse_int, parse_constant = (
        True,
        None,
        None,
        float,
        int,
        float,
    )
    memo: dict[str, str] = {}


def dump(value: Any) -> str:
    """Serialize one flat object to JSON."""
    words = {None: "null", True: "true", False: "false"}
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dump(name)}: {dump(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    if isinstance(value, str):
        return _quoted(value)
    return words[value] if value is None or isinstance(value, bool) else repr(value)


def _quoted(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json import dumps as encode_basestring_ascii
    return encode_basestring_ascii(text)


def write(path: str, text: str) -> None:
    """Write a file atomically and durably.

    Uses preallocated space if there is any.
    """
    new = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        data = text.encode()
        while data:
            data = data[os.write(new, data) :]
        os.ftruncate(new, os.lseek(new, 0, os.SEEK_CUR))
        os.fsync(new)
    finally:
        os.close(new)
    os.replace(path + ".new", path)
