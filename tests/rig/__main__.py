"""Run the tests, or other checks.

- `python -m tests.rig suite [--all] [pytest arguments]` runs the tests.
- `python -m tests.rig check` runs everything else.
- `python -m tests.rig migrations` records new migrations, which cannot be changed afterwards.
- `python -m tests.rig slurm` or `cloud` starts a Slurm of four or 2,000 nodes until Ctrl-C.

The tests run on PostgreSQL; those marked `both_databases` run on SQLite as well. `--all` adds those
marked `integration`, `serial` and `storm`. The last lines summarize each part. A missing component
is a failure, and no test is retried.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.rig.order import is_integration, marks_of
from tests.rig.packages import PACKAGES
from tests.rig.processes import program
from tests.rig.slurm_by_hand import serve_slurm

ROOT = Path(__file__).resolve().parents[2]
# Hypothesis is deterministic here; a manual run explores further.
PYTEST = [sys.executable, "-m", "pytest", "-q", "--durations=15", "--hypothesis-profile=ci"]
# Three workers on two cores: tests that wait for a scheduler or a page leave a core to others. Each
# worker takes 13 s of CPU to collect the tests and to load what all of them need.
PARALLEL = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder"]
FEW = ["-n", "2", *PARALLEL[2:]]  # hardly any test on SQLite waits
NO_TESTS_RAN = 5
_SUMMARY = re.compile(r"\d+ (?:passed|failed|error)[^\n]* in [\d.]+s[^\n]*")


def main(argv: list[str]) -> int:
    match argv:
        case ["suite", "--all", *rest]:
            return suite(rest, is_all=True)
        case ["suite", *rest]:
            return suite(rest, is_all=False)
        case ["check"]:
            return check()
        case ["migrations", *rest]:
            return _migrations(is_check=rest == ["--check"])
        case ["slurm" | "cloud" as kind]:
            return serve_slurm(kind)
        case _:
            print(__doc__)
            return 2


def suite(arguments: list[str], *, is_all: bool) -> int:
    """Run the unit tests of the scripts, then each part of the tests; print a summary."""
    began = time.monotonic()
    warming = _compile_tests(is_all=is_all)
    code, summary = _browser_scripts()
    for process in warming:
        process.wait()
    lines, failed = [f"browser scripts: {summary}"], bool(code)
    with tempfile.TemporaryDirectory(prefix="muster-tables-") as tables:
        variables = {"MUSTER_TEST_TABLES": tables} | ({"MUSTER_TEST_ALL": "1"} if is_all else {})
        for name, mode, options in parts(arguments, is_all=is_all):
            code, summary = _pytest(mode, [*options, *arguments], variables)
            failed |= code not in {0, NO_TESTS_RAN}
            lines.append(f"{name}: {summary}")
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    print("\n" + "\n".join([*lines, f"total time: {minutes} min {seconds} s"]))
    return int(failed)


def parts(arguments: list[str], *, is_all: bool) -> list[tuple[str, str, list[str]]]:
    """Return name, mode and options of each part.

    Tests that need the machine for themselves run one by one, and only with `--all`.
    """
    many = "not serial and not storm" if is_all else "not integration and not serial and not storm"
    both, alone = {"both_databases"}, {"serial", "storm"}
    found = [("server", "server", [*PARALLEL, "-m", many])]
    more = [("embedded", "embedded", [*FEW, "-m", f"both_databases and {many}"], [both])]
    if is_all:
        more += [
            ("server (one by one)", "server", ["-m", "serial or storm"], [alone]),
            (
                "embedded (one by one)",
                "embedded",
                ["-m", "both_databases and (serial or storm)"],
                [both, alone],
            ),
        ]
    for name, mode, options, marks in more:
        files = _files(marks)
        if any(Path(argument).exists() for argument in arguments):
            found.append((name, mode, options))
        elif files:
            found.append((name, mode, [*options, *files]))
    return found


def _files(marks: list[set[str]]) -> list[str]:
    """Return the files with one of each set of marks: faster than collecting all tests."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path) for path in files if all(some & marks_of(path) for some in marks)]


def _compile_tests(*, is_all: bool) -> list[subprocess.Popen[bytes]]:
    """Start to write the bytecode of the tests, which each worker of a new checkout would do."""
    found = sorted((ROOT / "tests").rglob("test_*.py"))
    files = [str(path) for path in found if is_all or not is_integration(path)]
    if len([*(ROOT / "tests").rglob("__pycache__/test_*-pytest-*.pyc")]) > len(files) / 2:
        return []
    options = ["--collect-only", "-qq", "-p", "no:cacheprovider"]
    return [
        subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *half],
            cwd=ROOT,
            env=_environment() | {"MUSTER_TEST_MODE": "embedded"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for half in (files[::2], files[1::2])
    ]


def _environment() -> dict[str, str]:
    """Return the environment with bytecode caching, whatever the shell says."""
    return {n: value for n, value in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}


def _browser_scripts() -> tuple[int, str]:
    """Run the unit tests of static/js with node."""
    node = program("node", str(ROOT / ".venv-js" / "bin"))
    print("== browser scripts: node --test", flush=True)
    files = (ROOT / "tests").rglob("*test*")
    scripts = [path for path in files if path.suffix in {".js", ".mjs"}]
    if not scripts:
        return 1, "there are none, which cannot be right"
    argv = [node, "--test", *map(str, sorted(scripts))]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-12_000:] + done.stderr[-4000:])
    counts = dict(re.findall(r"^(?:#|\u2139) (pass|fail) (\d+)", done.stdout, re.MULTILINE))
    return done.returncode, f"{counts.get('pass', 0)} passed, {counts.get('fail', 0)} failed"


def _pytest(mode: str, options: list[str], variables: dict[str, str]) -> tuple[int, str]:
    """Run a part of the tests; return the exit code and a summary."""
    print(f"== {mode}: pytest {' '.join(options)}", flush=True)
    tail = ""
    with subprocess.Popen(
        [*PYTEST, *options],
        cwd=ROOT,
        env=_environment() | variables | {"MUSTER_TEST_MODE": mode},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            tail = (tail + line)[-4000:]
    if process.returncode == NO_TESTS_RAN:
        return process.returncode, "no tests"
    found = _SUMMARY.findall(tail)
    return process.returncode, found[-1].strip(
        "= "
    ) if found else f"ended with exit code {process.returncode}"


def check() -> int:
    """Run linters, formatters, type and import checks, and Django's checks."""
    failed = []
    with tempfile.TemporaryDirectory(prefix="muster-check-") as home:
        environment = {
            **os.environ,
            "MUSTER_HOME": home,
            "MUSTER_BASE_URL": "https://muster.example.com",
            "MUSTER_SECRET_KEY": "abcdefghijklmnopqrstuvwxyz-0123456789-ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        }
        for name, argv in _checks():
            began = time.monotonic()
            done = subprocess.run(
                argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
            )
            print(
                f"{'ok    ' if done.returncode == 0 else 'FAILED'}  {name:<18} "
                f"{time.monotonic() - began:5.1f} s",
                flush=True,
            )
            if done.returncode:
                failed.append(name)
                print((done.stdout + done.stderr)[-12_000:])
    print(f"checks: {'all passed' if not failed else 'failed: ' + ', '.join(failed)}")
    return int(bool(failed))


def _migrations(*, is_check: bool) -> int:
    from tests.rig import migrations

    if not is_check:
        print("\n".join(f"recorded {path}" for path in migrations.record()))
    faults = migrations.faults()
    print("\n".join(faults))
    return int(bool(faults))


def _checks() -> list[tuple[str, list[str]]]:
    bin_folder = Path(sys.executable).parent
    node = program("node", str(ROOT / ".venv-js" / "bin"))
    prettier = [node, "node_modules/prettier/bin/prettier.cjs", "--check", "--log-level=warn"]
    manage = [sys.executable, "manage.py"]
    return [
        ("lint", [sys.executable, "-m", "ruff", "check", "--output-format=concise", "."]),
        ("format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."]),
        ("types", [sys.executable, "-m", "mypy", *PACKAGES, "client/muster"]),
        ("import contracts", [str(bin_folder / "lint-imports"), "--no-cache"]),
        ("deployment", [*manage, "check", "--deploy", "--fail-level", "WARNING"]),
        ("migrations", [*manage, "makemigrations", "--check", "--dry-run"]),
        ("kept migrations", [sys.executable, "-m", "tests.rig", "migrations", "--check"]),
        ("shapes", [*manage, "shapes", "--check"]),
        ("languages", [*manage, "messages", "--check"]),
        ("templates", [sys.executable, "-m", "djlint", "--lint", "--quiet", "templates"]),
        ("template format", [sys.executable, "-m", "djlint", "--check", "--quiet", "templates"]),
        ("browser format", [*prettier, "static", "tests", "scripts", "*.js"]),
        ("scripts", [node, "node_modules/eslint/bin/eslint.js", "."]),
        ("styles", [node, "node_modules/stylelint/bin/stylelint.mjs", "static/css/*.css"]),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
