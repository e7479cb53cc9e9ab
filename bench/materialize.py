"""Measure how fast a version of many files becomes a folder that jobs read, and what it costs.

    python -m bench.materialize [FILES]

Prints the time and the space for a new tree, the raw time of as many links by one thread, and the
time of a second use.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch
from uuid import uuid4

SIZE = 20_000  # bytes of a file


def main(count: int) -> None:
    home = Path(tempfile.mkdtemp(prefix="muster-bench-"))
    os.environ["MUSTER_HOME"] = str(home)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    from datasets import staging
    from datasets.trees import TreeEntry
    from portal.blobs.store import file_store

    org, store, entries = uuid4(), file_store(), []
    for number in range(count):
        digest = hashlib.sha256(b"%d" % number).hexdigest()
        path = store.path(org, digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.truncate(path, SIZE)  # without blocks: only the folders take space
        entries.append(TreeEntry(f"class-{number % 1000:03}/{number:07}.bin", digest, SIZE))
    entries.sort(key=lambda entry: entry.path.replace("/", "\0"))
    version: Any = SimpleNamespace(org_id=org, commit="c" * 40)
    print(f"{count:,} files of {SIZE:,} bytes, load {os.getloadavg()[0]:.1f}")
    with patch.object(staging, "tree_of", lambda _: SimpleNamespace(entries=lambda: entries)):
        before = _used(home)
        began = time.perf_counter()
        name = staging.materialize(version)
        made = time.perf_counter() - began
        extra = _used(home) - before
        began = time.perf_counter()
        staging.materialize(version)
        again = time.perf_counter() - began
    raw = home / "raw"
    raw.mkdir()
    began = time.perf_counter()
    for number, entry in enumerate(entries):
        os.link(store.path(org, entry.sha256), raw / str(number))
    plain = time.perf_counter() - began
    share = extra / (count * SIZE)
    print(f"new tree {made:.1f} s, extra space {extra >> 10:,} KiB ({share:.2%})")
    print(f"raw links {plain:.1f} s, second use {again * 1000:.1f} ms")
    staging._remove(home / name)
    shutil.rmtree(home)


def _used(home: Path) -> int:
    """Return the bytes that files and folders take, each file once."""
    seen: dict[int, int] = {}
    for folder, _names, files in os.walk(home):
        for path in [folder, *(os.path.join(folder, name) for name in files)]:
            found = os.lstat(path)
            seen[found.st_ino] = found.st_blocks * 512
    return sum(seen.values())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
