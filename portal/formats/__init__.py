"""Read the headers of model files. Nothing is executed, unpickled or read as a whole.

Files are hostile: every reader has limits on bytes and steps, and damage becomes the text `error`.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from portal.formats import archives, gguf, numpy_file, onnx, pickles, safetensors
from portal.formats.reading import Damaged, Window

log = logging.getLogger(__name__)
_ARCHIVE, _GGUF, _NUMPY = b"PK\x03\x04", b"GGUF", b"\x93NUMPY"
_ARCHIVES = (".keras", ".zip")
_ANYTHING = ".bin"  # a name of PyTorch's pickles and of many other formats
_CODE = {"pickle", "zip", "pytorch", "torchscript", "keras", "npz"}  # unsafe if unreadable
_KINDS = {
    "safetensors": "safetensors",
    "onnx": "ONNX",
    "gguf": "GGUF",
    "numpy": "NumPy",
    "zip": "ZIP",
    "pickle": "pickle",
}


@dataclass
class FileFacts:
    """What a file's header says.

    `facts` depends on the format. `imports` are what a pickle would import, as `module.name`; those
    in `dangerous` run programs or code. A file `is_unsafe` if loading it can run code, or if that
    cannot be excluded. `error` says why the file could not be read.
    """

    format: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    dangerous: list[str] = field(default_factory=list)
    is_unsafe: bool = False
    error: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value not in ("", {}, [])}


def inspect(name: str, file: BinaryIO, size: int) -> FileFacts:
    """Return the facts of an opened file of that name and size. Never raises."""
    found = FileFacts()
    try:
        found.format = _format(name.lower(), file)
        if found.format:
            _read(found, name.lower(), file, size)
    except Damaged as error:
        _fail(found, str(error))
    except Exception as error:  # a hostile file found a case that no reader checks
        log.info("cannot inspect a file as %s: %s", found.format, type(error).__name__)
        _fail(found, f"This is not a valid {_KINDS.get(found.format, '')} file.")
    return found


def _fail(found: FileFacts, text: str) -> None:
    found.error = text
    found.is_unsafe = found.is_unsafe or found.format in _CODE


def _format(name: str, file: BinaryIO) -> str:
    """Return the format by content, else by the name; "" if the file is none of ours."""
    start = file.read(8)
    file.seek(0)
    if start.startswith(_GGUF) or name.endswith(".gguf"):
        return "gguf"
    if name.endswith((".safetensors", ".onnx")):
        return name.rpartition(".")[2]
    if start.startswith(_ARCHIVE) or name.endswith(_ARCHIVES):  # bytes may come before the archive
        return "zip"
    if start.startswith(_NUMPY):
        return "numpy"
    if name.endswith(pickles.NAMES) or pickles.is_start(start):
        return "pickle"
    return ""


def _read(found: FileFacts, name: str, file: BinaryIO, size: int) -> None:
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
            if scan.is_pickle or not name.endswith(_ANYTHING):
                _add_pickle(found, scan)
            else:
                found.format = ""
        case "zip":
            archive = archives.read(file, size)
            found.facts = archive.facts
            found.format = archive.format or "zip"
            for scan in archive.scans:
                _add_pickle(found, scan)
            found.is_unsafe = found.is_unsafe or archive.has_objects or archive.has_code


def _add_pickle(found: FileFacts, scan: pickles.Scan) -> None:
    found.imports = sorted({*found.imports, *scan.imports})[: pickles.MOST_IMPORTS]
    found.dangerous = sorted({*found.dangerous, *scan.dangerous})
    found.is_unsafe = found.is_unsafe or scan.is_unsafe
    found.error = found.error or scan.error


__all__ = ["FileFacts", "inspect"]
