"""Show the beginning of a file on a page: as text, as a table, as an image or sound, or its header."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from typing import Any, BinaryIO

from portal.formats import inspect
from portal.web.transfers import content_type_of

LONGEST = 256 << 10  # bytes that are read
MOST_ROWS, MOST_COLUMNS, LONGEST_CELL = 100, 60, 500  # of a table; characters of a cell
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_LINES = (".jsonl", ".ndjson")
_MODELS = (".safetensors", ".gguf", ".onnx", ".npy", ".npz", ".pt", ".pth", ".ckpt", ".pkl", ".bin")
# Formats that only a large library reads
_NAMED = {
    ".arrow": "Apache Arrow",
    ".feather": "Apache Arrow",
    ".h5": "HDF5",
    ".hdf5": "HDF5",
    ".tfrecord": "TFRecord",
    ".lance": "Lance",
    ".zip": "ZIP",
    ".tar": "tar",
    ".gz": "gzip",
    ".zst": "Zstandard",
}


@dataclass(frozen=True)
class FilePreview:
    """A file as a page shows it.

    `kind` is text, table, image, audio, video, model, parquet (the browser reads it) or none.
    `facts` are those of a model file (`portal.formats.FileFacts`). `format` names a format that cannot be shown.
    """

    kind: str = "none"
    text: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    format: str = ""
    is_cut: bool = False

    @property
    def numbers(self) -> str:
        """Return the numbers of the lines of a text, one a line."""
        return "\n".join(map(str, range(1, len(self.text.splitlines()) + 1)))


def preview_of(name: str, size: int, opened: Callable[[], BinaryIO]) -> FilePreview:
    """Return the preview of a file. `opened` opens it."""
    lower = name.lower()
    kind = content_type_of(name).partition("/")[0]
    if kind in {"image", "audio", "video"}:
        return FilePreview(kind)
    extension = f".{lower.rpartition('.')[2]}"
    if extension == ".parquet" and size:
        return FilePreview("parquet")
    if extension in _NAMED:
        return FilePreview(format=_NAMED[extension])
    with opened() as file:
        if extension in _MODELS:
            facts = inspect(name, file, size).as_dict()
            if facts.get("format"):
                return FilePreview("model", facts=facts)
            file.seek(0)
        data = file.read(LONGEST)
    text = _decoded(data, is_cut=size > len(data))
    if text is None:
        return FilePreview()
    return _readable(extension, text, is_cut=size > len(data))


def text_of(data: bytes) -> str | None:
    """Return a whole file as text, None if it is something else."""
    return _decoded(data, is_cut=False)


def _decoded(data: bytes, *, is_cut: bool) -> str | None:
    """Return text in UTF-8; a character that the end cuts is left out."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        if not (is_cut and error.start >= len(data) - 4):
            return None
        text = data[: error.start].decode()
    return None if "\x00" in text else text


def _readable(extension: str, text: str, *, is_cut: bool) -> FilePreview:
    whole = text.rpartition("\n")[0] if is_cut else text
    rows = None
    if extension in _SEPARATORS:
        rows = _separated(whole, _SEPARATORS[extension])
    elif extension in _LINES:
        rows = _records(whole)
    elif extension == ".json" and not is_cut:
        text = _pretty(text)
    if not rows:
        return FilePreview("text", text, is_cut=is_cut)
    is_wide = any(len(row) > MOST_COLUMNS for row in rows)
    shown = [[cell[:LONGEST_CELL] for cell in row[:MOST_COLUMNS]] for row in rows]
    return FilePreview(
        "table",
        head=shown[0],
        rows=shown[1 : MOST_ROWS + 1],
        is_cut=is_cut or is_wide or len(rows) > MOST_ROWS + 1,
    )


def _separated(text: str, separator: str) -> list[list[str]] | None:
    try:
        return list(islice(csv.reader(StringIO(text), delimiter=separator), MOST_ROWS + 2))
    except csv.Error:
        return None


def _records(text: str) -> list[list[str]] | None:
    """Return JSON objects, one a line, as rows with their keys as head; None if one is not."""
    try:
        found = [json.loads(line) for line in islice(filter(None, text.split("\n")), MOST_ROWS + 1)]
    except (ValueError, RecursionError):
        return None
    if not found or not all(isinstance(one, dict) for one in found):
        return None
    names = list(dict.fromkeys(name for one in found for name in one))
    return [names, *([_cell(one.get(name)) for name in names] for one in found)]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pretty(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
