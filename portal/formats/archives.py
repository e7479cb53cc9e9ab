"""Read archives: PyTorch and TorchScript models, Keras models, .npz files, other ZIPs, and tar."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any, cast

from portal.core import clock
from portal.formats import contents, numpy_file, pickles
from portal.formats.reading import LARGEST_READ, Damaged, Window

LONGEST_DIRECTORY = 4 << 20  # bytes of the central directory; zipfile reads all of it
LARGEST_PICKLE = 64 << 20  # bytes of a pickle in an archive
LONGEST_CONFIG = 8 << 20  # bytes
MOST_SCANNED = 200  # members
SMALL = 1 << 20  # bytes of a member that is always inspected
MOST_MEMBERS = 10_000  # of a tar archive
LONGEST_SCAN = 10.0  # seconds, after which no further member is scanned
_TAIL = (1 << 16) + 22
# Weights, which PyTorch and Keras read as numbers
_WEIGHTS = re.compile(r"(?:.*/)?(?:data|constants|\.data)/[^/]*|(?:.*/)?(?:version|byteorder)")
Look = Callable[[str, IO[bytes], int], object]  # inspects a member by its name, content and size


@dataclass
class Archive:
    """What an archive holds; `format` is `pytorch`, `torchscript`, `keras`, `npz` or ""."""

    format: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    scans: list[pickles.Scan] = field(default_factory=list)
    has_objects: bool = False  # NumPy arrays that hold pickles
    has_code: bool = False  # layers of Keras that hold code
    is_checked: bool = True  # False if members are of unknown formats


def read(file: IO[bytes], size: int, look: Look) -> Archive:
    """Scan the pickles of a ZIP archive, and `look` at other members by their content.

    Raises Damaged, and what `zipfile` raises.
    """
    _check_directory(file, size)
    found = Archive()
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        found.format = _format(names)
        found.facts = {"members": len(members)}
        if sum(_is_wanted(member.filename) for member in members) > MOST_SCANNED:
            raise Damaged("The archive has too many pickles to be scanned.")
        end = clock.monotonic() + LONGEST_SCAN
        for member in members:
            if clock.monotonic() > end:
                raise Damaged("The archive takes too long to be scanned.")
            if _is_wanted(member.filename):
                _scan(found, archive, member)
            elif not member.is_dir() and not _is_weights(found.format, member.filename):
                _look_at(found, archive, member, look)
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


def _is_weights(kind: str, name: str) -> bool:
    if kind == "keras":
        return name.endswith(".weights.h5")
    return kind in {"pytorch", "torchscript"} and bool(_WEIGHTS.fullmatch(name))


def _look_at(found: Archive, archive: zipfile.ZipFile, member: zipfile.ZipInfo, look: Look) -> None:
    """Inspect a member that is small, or whose content can hold pickles."""
    with archive.open(member) as inside:
        start = inside.read(contents.START)
        is_text = contents.is_text(start + inside.read(SMALL))
    if member.file_size > SMALL and not can_hold_code(start):
        found.is_checked = found.is_checked and (is_text or contents.is_data(start))
        return
    with archive.open(member) as inside:
        copy, size = contents.copied(inside)
    with copy:
        look(member.filename, copy, size)


def can_hold_code(start: bytes) -> bool:
    """Return whether a file that starts so is a pickle, an array, an archive or compressed."""
    return (
        pickles.is_start(start)
        or start.startswith((b"PK\x03\x04", b"\x93NUMPY"))
        or contents.is_compressed(start)
        or contents.is_tar(start)
    )


def read_tar(file: IO[bytes], look: Look) -> dict[str, Any]:
    """`look` at the files of a tar archive; return facts. Raises Damaged."""
    count, end = 0, clock.monotonic() + LONGEST_SCAN
    try:
        with tarfile.TarFile(fileobj=cast(IO[bytes], _Headers(file))) as archive:
            for member in archive:
                count += 1
                if count > MOST_MEMBERS or clock.monotonic() > end:
                    raise Damaged("The archive takes too long to be scanned.")
                inside = archive.extractfile(member) if member.isreg() else None
                if inside is not None:
                    look(member.name, inside, member.size)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        if isinstance(error, Damaged):
            raise
        raise Damaged("The archive is damaged.") from None
    return {"members": count}


class _Headers:
    """A file that refuses to read much at once: tarfile reads a header as a whole."""

    def __init__(self, file: IO[bytes]):
        self._file, self.seek, self.tell, self.seekable = file, file.seek, file.tell, file.seekable

    def read(self, number: int) -> bytes:
        if number > LARGEST_READ:
            raise Damaged("The archive has a header that is too large to be read.")
        return self._file.read(number)


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


def _check_directory(file: IO[bytes], size: int) -> None:
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


def _zip64_length(file: IO[bytes], tail: bytes, at: int) -> int:
    locator = tail[at - 20 : at] if at >= 20 else b""
    if not locator.startswith(b"PK\x06\x07"):
        raise Damaged("The archive is damaged: it has no directory.")
    file.seek(int.from_bytes(locator[8:16], "little"))
    record = file.read(56)
    if not record.startswith(b"PK\x06\x06") or len(record) < 56:
        raise Damaged("The archive is damaged: it has no directory.")
    return int.from_bytes(record[40:48], "little")
