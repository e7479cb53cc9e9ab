"""Keep released migrations as they are: a database that has applied one never sees it again.

`tests/rig/migrations.sha256` has a hash of each. `python -m tests.rig migrations` adds new ones, as
the last step before they land, and never replaces one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MANIFEST = "tests/rig/migrations.sha256"
_ADD = "python -m tests.rig migrations"


def faults(root: Path = ROOT) -> list[str]:
    """Return what is wrong with the migrations, for people."""
    kept, found = _read(root), _hashes(root)
    return [
        *(
            f"{path} was changed after it landed. Restore it, and write a new migration instead."
            if path in found
            else f"{path} was removed after it landed. Restore it."
            for path, digest in kept.items()
            if found.get(path) != digest
        ),
        *(f"{path} is new. Record it: {_ADD}" for path in found.keys() - kept.keys()),
    ]


def record(root: Path = ROOT) -> list[str]:
    """Add the hashes of new migrations; return the paths."""
    kept, found = _read(root), _hashes(root)
    lines = [f"{digest}  {path}\n" for path, digest in sorted((found | kept).items())]
    (root / MANIFEST).write_text("".join(lines))
    return sorted(found.keys() - kept.keys())


def _read(root: Path) -> dict[str, str]:
    """Return the hash of each released migration, by path."""
    manifest = root / MANIFEST
    lines = manifest.read_text().splitlines() if manifest.exists() else []
    return {path: digest for digest, path in (line.split() for line in lines)}


def _hashes(root: Path) -> dict[str, str]:
    files = (
        path
        for app in root.iterdir()
        if app.is_dir()
        and app.name[0] != "."
        and app.name not in {"node_modules", "build", "tests"}
        for path in app.rglob("migrations/[0-9]*.py")
    )
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files
    }
