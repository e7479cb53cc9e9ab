"""Remember between commands the SHA-256 of files, and uploads that are not complete."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from pathlib import Path

from muster import settings

_RECENT = 2 * 10**9  # ns: a file that was changed this recently may change again unnoticed
_TABLES = """
CREATE TABLE IF NOT EXISTS digests
    (path TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, sha256 TEXT);
CREATE TABLE IF NOT EXISTS uploads (key TEXT PRIMARY KEY, upload TEXT);
"""


class FolderCache:
    """A database in the user's cache folder, or in memory if that cannot be written.

    Threads may share it.
    """

    def __init__(self, folder: Path | None = None):
        self._lock = threading.Lock()
        try:
            folder = folder or settings.cache_folder()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._rows = self._opened(str(folder / "files.sqlite3"))
        except (OSError, sqlite3.Error):
            self._rows = self._opened(":memory:")

    def sha256(self, file: Path) -> str:
        """Return the SHA-256 of a file, which is read only if size or time have changed."""
        found = file.stat()
        path, facts = str(file.resolve()), (found.st_size, found.st_mtime_ns)
        with self._lock:
            row = self._rows.execute(
                "SELECT size, mtime, sha256 FROM digests WHERE path = ?", [path]
            ).fetchone()
        if row and row[:2] == facts:
            return str(row[2])
        with open(file, "rb") as data:
            sha256 = hashlib.file_digest(data, "sha256").hexdigest()
        if time.time_ns() - found.st_mtime_ns > _RECENT:
            self._write("INSERT OR REPLACE INTO digests VALUES (?, ?, ?, ?)", path, *facts, sha256)
        return sha256

    def upload(self, key: str) -> str:
        """Return the id of an upload that is not complete, or ""."""
        with self._lock:
            row = self._rows.execute("SELECT upload FROM uploads WHERE key = ?", [key]).fetchone()
        return str(row[0]) if row else ""

    def keep_upload(self, key: str, upload: str) -> None:
        self._write("INSERT OR REPLACE INTO uploads VALUES (?, ?)", key, upload)

    def forget_upload(self, key: str) -> None:
        self._write("DELETE FROM uploads WHERE key = ?", key)

    def close(self) -> None:
        self._rows.close()

    def _write(self, statement: str, *values: object) -> None:
        with self._lock:
            self._rows.execute(statement, values)

    def _opened(self, name: str) -> sqlite3.Connection:
        rows = sqlite3.connect(name, timeout=30, isolation_level=None, check_same_thread=False)
        rows.execute("PRAGMA synchronous = OFF")
        rows.executescript(_TABLES)
        return rows
