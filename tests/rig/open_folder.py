"""A folder that tests share with local jobs, which run as the system user of their team."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder() -> Iterator[Path]:
    """Yield a temporary folder that every user may enter and write."""
    folder = Path(tempfile.mkdtemp(prefix="muster-open-"))
    folder.chmod(0o1777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
