"""Read the log of an attempt for the job page."""

from __future__ import annotations

import re
from typing import Any

from jobs.models import Attempt
from portal.blobs.logs import log_store

SHOWN = 20  # lines in the overview
_READ = 32 << 10  # bytes from which these lines are taken
_CONTROL = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f]"
)


def facts_of_log(attempt: Attempt) -> dict[str, Any]:
    """Return the stored size, and the certificate of a sealed log."""
    store, name = log_store(), attempt.id.hex
    certificate = store.certificate(name)
    return {
        "bytes": store.end(name),
        "certificate": certificate.as_dict() if certificate else None,
        "text": certificate.text if certificate else "",
    }


def last_lines(attempt: Attempt) -> list[str]:
    """Return the last lines of the log without control sequences, oldest first."""
    store, name = log_store(), attempt.id.hex
    end = store.end(name)
    part = store.read(name, max(end - _READ, 0), _READ)
    lines = part.data.decode(errors="replace").split("\n")
    lines = lines[1:] if end > _READ and len(lines) > 1 else lines  # the first may be cut
    lines = lines[:-1] if lines and not lines[-1] else lines
    return [_shown(line) for line in lines[-SHOWN:]]


def _shown(line: str) -> str:
    """Return a line as a terminal leaves it: a carriage return overwrites what is before it."""
    return _CONTROL.sub("", line.rstrip("\r").rpartition("\r")[2])[:2000]
