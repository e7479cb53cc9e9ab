"""Read the headers of model files. Nothing is executed, unpickled or read as a whole.

Files are hostile: every reader has limits on bytes and steps, and damage becomes the text `error`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, BinaryIO

from portal.formats import archives, contents, gguf, numpy_file, onnx, pickles, safetensors
from portal.formats.reading import Damaged, Window

log = logging.getLogger(__name__)
_ARCHIVE, _GGUF, _NUMPY = b"PK\x03\x04", b"GGUF", b"\x93NUMPY"
_ARCHIVES = (".keras", ".zip")
_ANYTHING = ".bin"  # a name of PyTorch's pickles and of many other formats
MOST_NESTED = 3  # archives or compressed files inside of each other
# Unsafe if unreadable
_CODE = {"pickle", "zip", "tar", "compressed", "pytorch", "torchscript", "keras", "npz"}
_KINDS = {
    "safetensors": "safetensors",
    "onnx": "ONNX",
    "gguf": "GGUF",
    "numpy": "NumPy",
    "zip": "ZIP",
    "pickle": "pickle",
    "tar": "tar",
    "compressed": "compressed",
}


@dataclass
class FileFacts:
    """What a file's header says.

    `facts` depends on the format. `imports` are what a pickle would import, as `module.name`; those
    in `dangerous` run programs or code. A file `is_unsafe` if loading it can run code, or if that
    cannot be excluded. It `is_checked` if all of it is of known formats and was scanned; a file that
    is not is never safe. `error` says why the file could not be read.
    """

    format: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    dangerous: list[str] = field(default_factory=list)
    is_unsafe: bool = False
    is_checked: bool = False
    error: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value not in ("", {}, [])}


def inspect(name: str, file: BinaryIO, size: int) -> FileFacts:
    """Return the facts of an opened file of that name and size. Never raises."""
    return _inspect(name, file, size, MOST_NESTED)


def _inspect(name: str, file: IO[bytes], size: int, depth: int) -> FileFacts:
    found = FileFacts()
    try:
        start = file.read(contents.START)
        file.seek(0)
        found.format = _format(name.lower(), start)
        if found.format:
            found.is_checked = True
            _read(found, name, file, size, start, depth)
        else:
            _read_unknown(found, file, size, start)
    except Damaged as error:
        _fail(found, str(error))
    except Exception as error:  # a hostile file found a case that no reader checks
        log.info("cannot inspect a file as %s: %s", found.format, type(error).__name__)
        _fail(found, f"This is not a valid {_KINDS.get(found.format, '')} file.")
    return found


def _fail(found: FileFacts, text: str) -> None:
    found.error, found.is_checked = text, False
    found.is_unsafe = found.is_unsafe or found.format in _CODE


def _format(name: str, start: bytes) -> str:
    """Return the format by content, else by the name; "" if the file is none of ours."""
    if start.startswith(_GGUF) or name.endswith(".gguf"):
        return "gguf"
    if name.endswith(".safetensors") or (name.endswith(".onnx") and not pickles.is_start(start)):
        return name.rpartition(".")[2]
    if start.startswith(_ARCHIVE) or name.endswith(_ARCHIVES):  # bytes may come before the archive
        return "zip"
    if start.startswith(_NUMPY):
        return "numpy"
    if contents.is_tar(start):
        return "tar"
    if contents.is_compressed(start):
        return "compressed"
    if name.endswith(pickles.NAMES) or pickles.is_start(start):
        return "pickle"
    return ""


def _read(
    found: FileFacts, name: str, file: IO[bytes], size: int, start: bytes, depth: int
) -> None:
    window = Window(file, size)
    match found.format:
        case "safetensors":
            found.facts = safetensors.read(window)
        case "gguf":
            found.facts = gguf.read(window)
        case "onnx":
            found.facts = onnx.read(window)
        case "numpy":
            found.facts = numpy_file.read(window)
            found.is_unsafe = bool(found.facts.get("has_objects"))
        case "pickle":
            scan = pickles.read(window)
            if scan.is_pickle or not name.lower().endswith(_ANYTHING):
                _add_pickle(found, scan)
            else:
                found.format, found.is_checked = "", False
        case "tar":
            found.facts = archives.read_tar(file, partial(_look, found, depth))
        case "compressed":
            _read_compressed(found, name, file, start, depth)
        case "zip":
            archive = archives.read(file, size, partial(_look, found, depth))
            found.facts = archive.facts
            found.format = archive.format or "zip"
            for scan in archive.scans:
                _add_pickle(found, scan)
            found.is_unsafe = found.is_unsafe or archive.has_objects or archive.has_code
            found.is_checked = found.is_checked and archive.is_checked


def _read_compressed(
    found: FileFacts, name: str, file: IO[bytes], start: bytes, depth: int
) -> None:
    try:
        content, size = contents.unpacked(file, start)
    except Damaged:
        file.seek(0)
        if not contents.is_text(file.read(contents.TEXT)):
            raise
        found.format = ""  # text that begins like compressed data
        return
    with content:
        inner = _look(found, depth, name.rpartition(".")[0] or name, content, size)
    found.format, found.facts = inner.format, inner.facts


def _read_unknown(found: FileFacts, file: IO[bytes], size: int, start: bytes) -> None:
    """Look for a pickle without a mark, of the protocols 0 and 1; else tell text and media."""
    scan = pickles.read(Window(file, size))
    file.seek(0)
    if scan.imports and scan.count:
        found.format, found.is_checked = "pickle", True
        _add_pickle(found, scan)
    elif not scan.is_cut:
        found.is_checked = contents.is_data(start) or contents.is_text(file.read(contents.TEXT))


def _look(found: FileFacts, depth: int, name: str, file: IO[bytes], size: int) -> FileFacts:
    """Inspect a file inside of another, and add what it imports."""
    if depth == 0:
        raise Damaged("It has archives in archives, too deep to be scanned.")
    inner = _inspect(name, file, size, depth - 1)
    _add_pickle(found, inner)
    found.is_checked = found.is_checked and inner.is_checked
    return inner


def _add_pickle(found: FileFacts, scan: pickles.Scan | FileFacts) -> None:
    found.imports = sorted({*found.imports, *scan.imports})[: pickles.MOST_IMPORTS]
    found.dangerous = sorted({*found.dangerous, *scan.dangerous})
    found.is_unsafe = found.is_unsafe or scan.is_unsafe
    found.error = found.error or scan.error


__all__ = ["FileFacts", "inspect"]
