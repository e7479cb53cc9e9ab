"""Recognize a home that is a copy of another one, whose queued jobs would run twice.

The file `home_place` says where the home is. A home that was moved is recognized by its inode, or
because nothing is left where it was.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.db import connection

from portal.core import clock
from portal.core.models import Lease
from portal.process.words import Refusal

FILE = "home_place"
_ID = "home_id"
_ADOPT = "manage.py adopt_home"
_RECENT = timedelta(minutes=2)  # since a lease of the portal that was copied ended


def check_place(home: Path, last: str = "") -> None:
    """Record where the home is. Raises Refusal for a copy of one that may still be used.

    `last` is "PATH on NODE" from the database, for homes of versions that kept no record.
    """
    here = _place_of(home)
    known = _read(home) or _known_from(last, here)
    if adopted := known.get("adopted_by"):
        raise Refusal(
            f"This home, {home}, was copied to {adopted}, which was adopted instead.\n"
            f"Start the portal there, or take it back: MUSTER_HOME={home} {_ADOPT}"
        )
    if known == here:
        return
    if known and not _is_same(known, here):
        former = Path(known["path"])
        if original := _original(home, known):
            running = " and runs" if is_running(original) else ""
            raise Refusal(
                f"This home, {home}, is a copy of {original}, which is still there{running}.\n"
                "Both would submit the queued jobs.\n"
                "Use the original, or remove it. To use the copy in its place: stop the original,\n"
                f"then MUSTER_HOME={home} {_ADOPT}"
            )
        is_gone = known["machine"] == here["machine"] and former != home.resolve()
        if not is_gone and _has_its_database() and _was_recently_used():
            raise Refusal(
                f"This home, {home}, is a copy of {former} on {known['machine_name']}, made while a\n"
                "portal ran there. If both run, both submit the queued jobs.\n"
                f"When the other one is stopped for good: MUSTER_HOME={home} {_ADOPT}"
            )
    _write(home, here)


def adopt(home: Path) -> None:
    """Use this home from now on, instead of the one that it was copied from.

    Raises Refusal while that one runs.
    """
    known = _read(home)
    for other in filter(None, (known and _original(home, known), known.get("adopted_by"))):
        if is_running(Path(other)):
            raise Refusal(f"A portal runs on {other}. Stop it first.")
        if Path(other).is_dir():
            _write(Path(other), {**_place_of(Path(other)), "adopted_by": str(home.resolve())})
    _write(home, _place_of(home))


def is_running(home: Path) -> bool:
    """Return whether a portal holds the lock of a home on this machine."""
    try:
        with (home / "portal.lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _place_of(home: Path) -> dict[str, Any]:
    found = home.stat()
    return {
        "path": str(home.resolve()),
        "device": found.st_dev,
        "inode": found.st_ino,
        "machine": _machine(),
        "machine_name": platform.node(),
    }


def _is_same(known: dict[str, Any], here: dict[str, Any]) -> bool:
    """Return whether both are one folder. A container gets another machine id at each start."""
    if known["inode"] != here["inode"]:
        return False
    is_there = known["path"] == here["path"]
    return is_there or (known["device"] == here["device"] and known["machine"] == here["machine"])


def _known_from(last: str, here: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a home from the text in the database; empty if it is this home."""
    path, _, node = last.rpartition(" on ")
    if not path or path == here["path"]:
        return {}
    machine = here["machine"] if node == here["machine_name"] else ""
    return {"path": path, "device": 0, "inode": 0, "machine": machine, "machine_name": node}


def _original(home: Path, known: dict[str, Any]) -> Path | None:
    """Return the folder that the home was copied from, if it is still on this machine."""
    former = Path(known["path"])
    with suppress(OSError):
        if former.samefile(home) or (former / _ID).read_bytes() != (home / _ID).read_bytes():
            return None
        return former
    return None


def _has_its_database() -> bool:
    """Return whether the database is copied with the home.

    Portals that share a database submit no job twice, because they share their leases.
    """
    return connection.vendor == "sqlite"


def _was_recently_used() -> bool:
    """Return whether a portal used the database when it was copied, minutes ago."""
    return Lease.objects.filter(until__gt=clock.now() - _RECENT).exists()


def _machine() -> str:
    with suppress(OSError):
        if text := Path("/etc/machine-id").read_text().strip():
            return text
    return platform.node()


def _read(home: Path) -> dict[str, Any]:
    try:
        found = json.loads((home / FILE).read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        return {}  # cut by a full disk
    return found if isinstance(found, dict) and "inode" in found else {}


def _write(home: Path, place: dict[str, Any]) -> None:
    fresh = home / f".{FILE}.{os.getpid()}"
    fresh.write_text(json.dumps(place))
    fresh.replace(home / FILE)
