"""The script that makes an app: what it makes passes our checks, and shares three files."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.environment import ROOT

BESIDE = shutil.ignore_patterns(
    *(".git", ".venv*", "node_modules", "var", "build", "vendor", "__pycache__", ".*_cache"),
    ".hypothesis",  # where tests beside this one write
)
SHARED = {"docs/security-policy.md", "portal/settings/apps.py", "pyproject.toml"}
WALKS = ("role_matrix", "permission_matrix", "audit_coverage", "security_policy", "security_rules")


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Iterator[Path]:
    """Return a copy of the repository with a new app of gadgets.

    Its commands, such as `makemigrations`, make Django's checks.
    """
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(ROOT, folder, ignore=BESIDE, dirs_exist_ok=True, symlinks=True)
    _run(folder, "-m", "scripts.new_app", "gadgets")
    yield folder
    shutil.rmtree(folder)


def _run(folder: Path, *words: str, **variables: str) -> str:
    """Run Python in the copy, without what this process knows of its servers."""
    known = {n: v for n, v in os.environ.items() if not n.startswith(("MUSTER_", "PYTEST_"))}
    known.pop("DJANGO_SETTINGS_MODULE", None)
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**known, "MUSTER_HOME": str(folder / "var"), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{words}:\n{done.stdout}{done.stderr}"
    return done.stdout


def test_new_app_changes_three_shared_files_and_passes_quick_checks(copy):
    files = {
        str(path.relative_to(copy))
        for path in copy.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    both = [name for name in files if (ROOT / name).is_file() and not name.startswith("var/")]
    _, changed, unreadable = filecmp.cmpfiles(ROOT, copy, both, shallow=False)
    assert {*changed, *unreadable} == SHARED
    made = ["gadgets", "tests/gadgets", "client/muster", "scripts"]
    _run(copy, "-m", "ruff", "check", "-q", *made)
    _run(copy, "-m", "ruff", "format", "-q", "--check", *made)
    shown = _run(copy, "-m", "muster", "gadget", "--help", PYTHONPATH=str(copy / "client"))
    assert all(verb in shown for verb in ("list", "create", "show", "edit", "delete"))


@pytest.mark.integration
def test_new_app_passes_its_tests_and_those_of_all_routes(copy):
    _run(copy, "manage.py", "makemigrations", "--check", "--dry-run")
    _run(copy, "-m", "tests.rig", "migrations", "--check")
    _run(copy, "-m", "djlint", "--lint", "--quiet", "templates/gadgets")
    _run(copy, "-m", "djlint", "--check", "--quiet", "templates/gadgets")
    _run(
        copy,
        "-m",
        "mypy",
        "gadgets",
        "client/muster/gadgets.py",
        "client/muster/commands/gadgets.py",
    )
    _run(copy, str(Path(sys.executable).parent / "lint-imports"), "--no-cache")
    walks = [f"tests/test_{name}.py" for name in WALKS]
    out = _run(
        copy,
        "-m",
        "pytest",
        "tests/gadgets",
        *walks,
        "tests/api/test_schema.py",
        "-q",
        "-m",
        "not integration",
    )
    assert "passed" in out


def test_script_refuses_names_that_are_no_packages_or_taken():
    for words in (["jobs"], ["Gadgets"], ["class"], ["sheep"], ["../x"], ["a-b", "a"]):
        done = subprocess.run(
            [sys.executable, "-m", "scripts.new_app", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2 and "error: " in done.stderr, words
