"""Inspect the files of a version: what is shown of it, and what its approval requires."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from portal.blobs.store import file_store
from portal.core import clock
from portal.core.errors import NotFound
from portal.formats import inspect, mlmodel
from portal.formats.reading import Damaged
from registry.sources import SourceFile

# Beyond these limits a version is not completely inspected
MOST_INSPECTED = 1000  # files
LONGEST = 30.0  # seconds


def inspect_files(org_id: UUID, files: Sequence[SourceFile]) -> dict[str, Any]:
    """Return what the headers say.

    `files` are the facts by path (`portal.formats.FileFacts`) of files with a known format.
    `unsafe` are the paths that can run code when they are loaded. `unchecked` are those of unknown
    formats, of which nobody knows that. `is_complete`: every file was found and none is damaged.
    `mlmodel` has the facts of the MLmodel file.
    """
    store, facts, unsafe, unchecked, is_complete = file_store(), {}, [], [], True
    end = clock.monotonic() + LONGEST
    for file in files[:MOST_INSPECTED]:
        if clock.monotonic() > end:
            is_complete = False
            break
        try:
            with store.open(org_id, file.sha256) as opened:
                found = inspect(file.path, opened, file.size)
        except NotFound:
            is_complete = False
            continue
        if found.format:
            facts[file.path] = found.as_dict()
        if found.is_unsafe:
            unsafe.append(file.path)
        elif not found.is_checked:
            unchecked.append(file.path)
        # A pickle that cannot be scanned is unsafe, which people can acknowledge
        is_complete = is_complete and (not found.error or found.is_unsafe)
    return {
        "at": clock.now().isoformat(),
        "files": facts,
        "unsafe": unsafe,
        "unchecked": unchecked,
        "is_complete": is_complete and len(files) <= MOST_INSPECTED,
        "mlmodel": _mlmodel(org_id, files),
    }


def signature_in(inspection: dict[str, Any]) -> dict[str, Any] | None:
    """Return the signature that an MLmodel file has."""
    return (inspection.get("mlmodel") or {}).get("signature")


def _mlmodel(org_id: UUID, files: Sequence[SourceFile]) -> dict[str, Any] | None:
    """Return the facts of the MLmodel file that is nearest to the top, and its requirements."""
    named = sorted(
        (file for file in files if file.path.rpartition("/")[2] == "MLmodel"),
        key=lambda file: (file.path.count("/"), file.path),
    )
    if not named:
        return None
    folder = named[0].path[: -len("MLmodel")]
    beside = next((f for f in files if f.path == f"{folder}requirements.txt"), None)
    try:
        found = mlmodel.read(_start(org_id, named[0], mlmodel.LONGEST + 1))
        if beside is not None:
            data = _start(org_id, beside, mlmodel.LONGEST_REQUIREMENTS)
            found["requirements"] = mlmodel.requirements(data)
    except (Damaged, NotFound) as error:
        return {"error": str(error), "path": named[0].path}
    return {**found, "path": named[0].path}


def _start(org_id: UUID, file: SourceFile, number: int) -> bytes:
    with file_store().open(org_id, file.sha256) as opened:
        return opened.read(number)
