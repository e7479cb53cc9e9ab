"""Requirements are locked, and no test is skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.rig.environment import ROOT

INDEX = re.compile(r"--(extra-)?index-url|--find-links|--trusted-host")


def sources(*packages: str) -> Iterator[Path]:
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts and not {".venv", "node_modules", "build"} & set(
                path.parts
            ):
                yield path


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_lock_files_have_hashes_and_no_index_url():
    for lock in (ROOT / "requirements").glob("*.lock"):
        text = lock.read_text()
        assert not INDEX.search(text), lock.name
        pins = re.findall(r"^[a-z0-9][\w.\[\],-]*==\S+.*$", text, re.MULTILINE | re.IGNORECASE)
        assert pins, lock.name
        assert all(pin.rstrip().endswith("\\") for pin in pins), lock.name


def test_no_test_is_skipped():
    mark = re.compile(r"pytest\.(mark\.)?(skip|xfail|importorskip)|@unittest\.skip")
    others = [path for path in sources("tests") if path.name != Path(__file__).name]
    assert [shown(path) for path in others if mark.search(path.read_text())] == []
