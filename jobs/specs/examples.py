"""Read the files of the examples, for nodes that do not share the portal's file system."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def contents(folder: Path) -> Mapping[str, bytes]:
    """Return all files by path under `folder`; cached, as examples never change at run time."""
    paths = (
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}
