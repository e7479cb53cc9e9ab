"""The examples' files, for nodes that do not see the portal's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def contents(folder: Path) -> Mapping[str, bytes]:
    """All files by their path under `folder`; read once, for examples do not change under a running portal."""
    paths = (
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}
