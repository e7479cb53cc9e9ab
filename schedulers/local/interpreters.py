"""Find a `python3` and a `python` that the users of local jobs can run.

A machine may have only one of the names, the portal's Python may lie in a folder that other users
cannot enter, and a shim of a version manager may not work for them. So each name is tried as a job.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from schedulers.local.isolation import OPEN, Isolation, IsolationLevel, run_as_job

NAMES = ("python3", "python")
_SYSTEM = ("/usr/local/bin/python3", "/usr/bin/python3")
_TRY = """
for name in python3 python; do
    for program in "$name" "$@"; do
        "$program" -c '' < /dev/null > /dev/null 2>&1 && echo "$name $program" && break
    done
done
true
"""
_LEFT_OUT = (
    *("__pycache__", "site-packages", "test", "tests", "idlelib", "turtledemo", "tkinter"),
    *("ensurepip", "lib2to3", "config-*", "*.a"),
)
_NONE = """echo "$0: jobs have no Python on this machine. Install python3 there." >&2
exit 127
"""
_lock = threading.Lock()
_found: dict[tuple[Isolation, str], dict[str, str]] = {}


def missing_names(
    isolation: Isolation, root: Path, home: Path | None, env: Mapping[str, str]
) -> dict[str, str]:
    """Return a shell script for each name that jobs would not find in their PATH.

    Tried once per process. Raises Unavailable when the machine is too busy to tell.
    """
    key = (isolation, env.get("PATH", ""))
    with _lock:
        if key not in _found:
            _found[key] = _scripts(isolation, root, home, env)
        return _found[key]


def _scripts(
    isolation: Isolation, root: Path, home: Path | None, env: Mapping[str, str]
) -> dict[str, str]:
    others = [*reversed(NAMES), os.path.realpath(sys.executable), *_SYSTEM]
    works = _working(isolation, root, home, env, others)
    is_plain = isolation.level is IsolationLevel.USER and not isolation.has_mounts
    if not works and is_plain and (copy := _open_copy()):
        works = _working(isolation, root, home, env, [str(copy)])
    return {
        name: f"exec '{works[name]}' \"$@\"\n" if name in works else _NONE
        for name in NAMES
        if works.get(name) != name
    }


def _working(
    isolation: Isolation, root: Path, home: Path | None, env: Mapping[str, str], others: list[str]
) -> dict[str, str]:
    """Return the first program that works for each name: itself, or one of `others`."""
    done = run_as_job(isolation, root, home, ["/bin/sh", "-c", _TRY, "sh", *others], env)
    pairs = (line.partition(" ") for line in done.stdout.splitlines())
    return {name: program for name, _, program in pairs}


def _open_copy() -> Path | None:
    """Copy the portal's Python to where all users can run it, once; None if there is no place."""
    version = ".".join(map(str, sys.version_info[:3]))
    lib = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    for place in OPEN:
        folder = place / f"python-{version}"
        if folder.exists():
            return folder / "bin" / "python3"
        aside = place / f".python-{version}.{os.getpid()}"
        try:
            place.mkdir(mode=0o711, exist_ok=True)
            (aside / "bin").mkdir(parents=True)
            shutil.copy(os.path.realpath(sys.executable), aside / "bin" / "python")
            # Else the loader could find another libpython of this version.
            start = f"LD_LIBRARY_PATH='{folder}/lib' exec '{folder}/bin/python' \"$@\"\n"
            (aside / "bin" / "python3").write_text(f"#!/bin/sh\n{start}")
            left_out = shutil.ignore_patterns(*_LEFT_OUT)
            shutil.copytree(Path(sys.base_prefix, lib), aside / lib, ignore=left_out)
            for library in Path(sys.base_prefix, "lib").glob("libpython*.so*"):
                shutil.copy(library, aside / "lib" / library.name)
            for path in (aside, *aside.rglob("*")):
                path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
            aside.rename(folder)
        except OSError:
            shutil.rmtree(aside, ignore_errors=True)
            continue
        return folder / "bin" / "python3"
    return None
