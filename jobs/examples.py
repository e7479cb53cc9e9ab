"""The examples as one archive, for nodes that do not see the portal's files."""

from __future__ import annotations

import gzip
import io
import tarfile
from functools import cache
from pathlib import Path


@cache
def packed(folder: Path) -> bytes:
    """All files under `folder` as tar.gz, the same bytes each time; read once, for examples do not change under a running portal."""
    tarred = io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            entry = tarfile.TarInfo(str(path.relative_to(folder)))
            entry.size = path.stat().st_size
            with path.open("rb") as file:
                archive.addfile(entry, file)
    return gzip.compress(tarred.getvalue(), mtime=0)
