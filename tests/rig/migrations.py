"""Keep released migrations as they are: a database that has applied one never sees it again.

The file `landed.sha256` beside them has a hash of each. `python -m tests.rig migrations` adds new ones, as
the last step before they land, and never replaces one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MANIFEST = "landed.sha256"
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
    for folder in _folders(root):
        names = sorted(path for path in found | kept if (root / path).parent == folder)
        lines = [f"{(found | kept)[path]}  {Path(path).name}\n" for path in names]
        if lines:
            (folder / MANIFEST).write_text("".join(lines))
    return sorted(found.keys() - kept.keys())


def _read(root: Path) -> dict[str, str]:
    """Return the hash of each released migration, by path."""
    return {
        str((folder / name).relative_to(root)): digest
        for folder in _folders(root)
        if (folder / MANIFEST).exists()
        for digest, name in (line.split() for line in (folder / MANIFEST).read_text().splitlines())
    }


def _hashes(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in _folders(root)
        for path in folder.glob("[0-9]*.py")
    }


def _folders(root: Path) -> list[Path]:
    """Return the folders of migrations of all apps."""
    return [
        folder
        for app in sorted(root.iterdir())
        if app.is_dir()
        and app.name[0] != "."
        and app.name not in {"node_modules", "build", "tests", "static"}
        for folder in sorted(app.rglob("migrations"))
        if folder.is_dir()
    ]
