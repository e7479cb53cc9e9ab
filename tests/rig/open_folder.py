"""A folder that tests and local jobs share: those run as the system user of their team."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def open_folder() -> Iterator[Path]:
    """Every user may enter it and write there; it is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="muster-open-"))
    folder.chmod(0o1777)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
