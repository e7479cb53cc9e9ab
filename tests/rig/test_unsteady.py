"""A test that fails among the others and passes by itself is named; one that fails again, or too many, fail the suite."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.rig import __main__ as rig

FILE = """
import pathlib
import pytest

@pytest.mark.parametrize("n", range({steady}))
def test_right(n):
    pass

@pytest.mark.parametrize("n", range({unsteady}))
def test_unsteady(n):
    seen = pathlib.Path(__file__).with_name(f"seen {{n}}")
    assert seen.exists() or seen.touch()

@pytest.mark.parametrize("n", range({wrong}))
def test_wrong(n):
    assert False
"""


@pytest.fixture
def part(tmp_path: Path, monkeypatch):
    """Runs a part of so many tests of each sort."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)       # what it runs is no part of the suite that runs this
    monkeypatch.setenv("PYTHONPATH", str(rig.ROOT))
    monkeypatch.setattr(rig, "PYTEST", [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", str(tmp_path)])
    monkeypatch.setattr(rig, "ROOT", tmp_path)

    def run(*options: str, steady: int = 1, unsteady: int = 0, wrong: int = 0) -> tuple[int, str]:
        file = tmp_path / "test_some.py"
        file.write_text(FILE.format(steady=steady, unsteady=unsteady, wrong=wrong))
        return rig._pytest("embedded", [*options, str(file)], str(tmp_path / "bytecode"))

    return run


def test_what_passes_is_asked_once(part):
    code, told = part(steady=3)
    assert code == 0 and told.startswith("3 passed") and "once more" not in told


def test_what_passes_by_itself_is_named_and_fails_nothing(part):
    code, told = part(unsteady=2)
    assert code == 0 and told.startswith("2 failed, 1 passed") and "once more by themselves: 2 passed" in told
    assert [line.rpartition("::")[2] for line in told.splitlines() if line.startswith("  unsteady: ")] == ["test_unsteady[0]", "test_unsteady[1]"]


def test_what_fails_again_fails_the_suite(part):
    code, told = part(unsteady=1, wrong=1)
    assert code == 1 and "once more by themselves: 1 failed, 1 passed" in told and "unsteady:" not in told


def test_more_than_two_are_no_chance(part):
    code, told = part(unsteady=3)
    assert code == 1 and told.startswith("3 failed, 1 passed") and "once more" not in told


def test_what_a_failure_kept_from_running_is_not_taken_for_right(part):
    code, told = part("-x", unsteady=1, wrong=1)
    assert code == 1 and told.startswith("1 failed, 1 passed") and "once more" not in told


def test_a_test_that_takes_its_process_with_it_is_no_chance(part, tmp_path):
    (tmp_path / "test_other.py").write_text("import os, pathlib\n\ndef test_ends():\n    seen = pathlib.Path(__file__).with_name('seen')\n"
                                            "    if not seen.exists():\n        seen.touch()\n        os._exit(9)\n")
    code, told = part("-n", "1", str(tmp_path / "test_other.py"))
    assert code == 1 and told.startswith("1 failed, 1 passed") and "once more" not in told
