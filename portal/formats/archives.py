"""Read ZIP archives: PyTorch and TorchScript models, Keras models and .npz files."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from portal.core import clock
from portal.formats import numpy_file, pickles
from portal.formats.reading import Damaged, Window

LONGEST_DIRECTORY = 4 << 20  # bytes of the central directory; zipfile reads all of it
LARGEST_PICKLE = 64 << 20  # bytes of a pickle in an archive
LONGEST_CONFIG = 8 << 20  # bytes
MOST_SCANNED = 200  # members
LONGEST_SCAN = 10.0  # seconds, after which no further member is scanned
_TAIL = (1 << 16) + 22


@dataclass
class Archive:
    """What an archive holds; `format` is `pytorch`, `torchscript`, `keras`, `npz` or ""."""

    format: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    scans: list[pickles.Scan] = field(default_factory=list)
    has_objects: bool = False  # NumPy arrays that hold pickles
    has_code: bool = False  # layers of Keras that hold code


def read(file: BinaryIO, size: int) -> Archive:
    """Scan the pickles of an archive. Raises Damaged, and what `zipfile` raises."""
    _check_directory(file, size)
    found = Archive()
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        found.format = _format(names)
        found.facts = {"members": len(members)}
        wanted = [m for m in members if _is_wanted(m.filename)]
        if len(wanted) > MOST_SCANNED:
            raise Damaged("The archive has too many pickles to be scanned.")
        end = clock.monotonic() + LONGEST_SCAN
        for member in wanted:
            if clock.monotonic() > end:
                raise Damaged("The archive takes too long to be scanned.")
            _scan(found, archive, member)
        if found.format == "keras":
            found.has_code = _has_lambda(archive)
    return found


def _format(names: list[str]) -> str:
    has_pickle = any(name.endswith("/data.pkl") or name == "data.pkl" for name in names)
    if has_pickle:
        return "torchscript" if any("/code/" in f"/{name}" for name in names) else "pytorch"
    if "config.json" in names and any(name.endswith(".weights.h5") for name in names):
        return "keras"
    return "npz" if names and all(name.endswith(".npy") for name in names) else ""


def _is_wanted(name: str) -> bool:
    return name.lower().endswith((*pickles.NAMES, ".npy"))


def _scan(found: Archive, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    with archive.open(member) as inside:
        window = Window(
            inside,  # type: ignore[arg-type]
            member.file_size,
            budget=LARGEST_PICKLE,
            is_seekable=False,
        )
        if member.filename.lower().endswith(".npy"):
            found.has_objects = found.has_objects or bool(numpy_file.read(window)["has_objects"])
        else:
            found.scans.append(pickles.read(window))


def _has_lambda(archive: zipfile.ZipFile) -> bool:
    """Return whether a Keras model has layers with code, or cannot be checked."""
    with archive.open("config.json") as file:
        text = file.read(LONGEST_CONFIG + 1)
    return len(text) > LONGEST_CONFIG or b"Lambda" in text or b"\\u" in text


def _check_directory(file: BinaryIO, size: int) -> None:
    """Raise Damaged unless the central directory is small enough to be read."""
    start = max(size - _TAIL, 0)
    file.seek(start)
    tail = file.read(_TAIL)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise Damaged("The archive is damaged: it has no directory.")
    length = int.from_bytes(tail[at + 12 : at + 16], "little")
    if length == 0xFFFFFFFF:
        length = _zip64_length(file, tail, at)
    if length > LONGEST_DIRECTORY:
        raise Damaged("The archive has too many members to be read.")
    file.seek(0)


def _zip64_length(file: BinaryIO, tail: bytes, at: int) -> int:
    locator = tail[at - 20 : at] if at >= 20 else b""
    if not locator.startswith(b"PK\x06\x07"):
        raise Damaged("The archive is damaged: it has no directory.")
    file.seek(int.from_bytes(locator[8:16], "little"))
    record = file.read(56)
    if not record.startswith(b"PK\x06\x06") or len(record) < 56:
        raise Damaged("The archive is damaged: it has no directory.")
    return int.from_bytes(record[40:48], "little")
