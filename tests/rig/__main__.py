"""`python -m tests.rig suite [pytest arguments]`: the whole suite in both modes. `… check`: everything but tests.
`… slurm` or `… cloud`: a Slurm of four nodes, or one of 2,000, until Ctrl-C, with a word on how to use it.

The suite's last lines are one summary for each mode; a component that is missing is a failure. A test that fails among the others is
asked once more by itself: `unsteady` names those that pass then (at most two in a part; docs/design/testing.md).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.rig.order import has_marks
from tests.rig.processes import program
from tests.rig.slurm_by_hand import serve_slurm

ROOT = Path(__file__).resolve().parents[2]
# The suite asks hypothesis the same each time; a run by hand looks further.
PYTEST = [sys.executable, "-m", "pytest", "-q", "--durations=15", "--hypothesis-profile=ci"]
# Four at once on two cores: who waits for a scheduler or a page leaves a core to the others (three kept them busy for two thirds of the time).
PARALLEL = ["-n", "4", "--dist", "loadfile", "--no-loadscope-reorder", "-m", "not serial and not storm"]
# What knows no database, or starts an embedded portal of its own, runs in one mode.
BLIND = ["agent", "client", "e2e/test_device_login.py", "e2e/test_passkeys.py", "e2e/test_planted_markup.py", "e2e/test_setting_up.py", "examples",
         "jobs/backends", "jobs/images/test_hostile_registry.py", "jobs/images/test_reference.py", "jobs/images/test_requirements.py", "jobs/spec",
         "look", "portal/blobs", "portal/process/test_front.py", "portal/process/test_supervisor.py", "rig/test_slurm.py", "rig/test_unsteady.py",
         "test_asvs.py", "test_house.py", "test_house_walls.py", "workspaces/ldap/test_client.py", "workspaces/test_planning.py"]
ONCE = {"embedded": [], "server": [f"--ignore=tests/{name}" for name in BLIND]}
ALONE = {"embedded": ["-m", "serial"], "server": ["-m", "serial or storm", *ONCE["server"]]}
TESTS_FAILED, NO_TESTS_RAN = 1, 5
MOST_UNSTEADY = 2
_SUMMARY = re.compile(r"\d+ (?:passed|failed|error)[^\n]* in [\d.]+s[^\n]*")


def main(argv: list[str]) -> int:
    match argv:
        case ["suite", *rest]:
            return suite(rest)
        case ["check"]:
            return check()
        case ["slurm" | "cloud" as kind]:
            return serve_slurm(kind)
        case _:
            print(__doc__)
            return 2


def suite(arguments: list[str]) -> int:
    """Both modes, each in two parts: what may run side by side, then what needs the machine (timings, storms)."""
    code, summary = _browser_scripts()
    lines, failed = [f"browser scripts: {summary}"], bool(code)
    with tempfile.TemporaryDirectory(prefix="muster-bytecode-") as bytecode:
        for mode in ("embedded", "server"):
            for part, options in (("", [*PARALLEL, *ONCE[mode]]), (" (one by one)", alone(mode, arguments))):
                code, summary = _pytest(mode, [*options, *arguments], bytecode)
                failed |= code not in {0, NO_TESTS_RAN}
                lines.append(f"{mode}{part}: {summary}")
    print("\n" + "\n".join(lines))
    return int(failed)


def alone(mode: str, arguments: list[str]) -> list[str]:
    """Only the files that have such a test: reading all others, to leave them out, takes longer than some of these tests."""
    if any(Path(argument).exists() for argument in arguments):
        return ALONE[mode]
    blind = [ROOT / "tests" / name for name in BLIND] if mode == "server" else []
    files = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if has_marks(path)]
    return [*ALONE[mode], *(str(path) for path in files if not any(path.is_relative_to(part) for part in blind))]


def _browser_scripts() -> tuple[int, str]:
    """The unit tests of static/js, by node: the machine's, or the one that `make` brought along."""
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


def _pytest(mode: str, options: list[str], bytecode: str) -> tuple[int, str]:
    """A part of the suite. Few that fail are asked again, alone: what passes then is named, what does not fails the suite."""
    environment = {"MUSTER_TEST_MODE": mode, "PYTHONPYCACHEPREFIX": bytecode}
    with tempfile.NamedTemporaryFile("r", prefix="muster-failed-") as failed:
        code, summary = _run({**environment, "MUSTER_TEST_FAILED": failed.name}, ["-p", "tests.rig.failed", *options])
        names = list(dict.fromkeys(failed.read().splitlines()))
    if code != TESTS_FAILED or not 0 < len(names) <= MOST_UNSTEADY:
        return code, summary
    code, again = _run(environment, names)
    return code, f"{summary}; once more by themselves: {again}" + "".join(f"\n  unsteady: {name}" for name in names if not code)


def _run(environment: dict[str, str], options: list[str]) -> tuple[int, str]:
    """Compiled once for the ten processes that read the tests and for every portal and command that they start, whatever the shell says of it."""
    environment = {**{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}, **environment}
    print(f"== {environment['MUSTER_TEST_MODE']}: pytest {' '.join(options)}", flush=True)
    tail = ""
    with subprocess.Popen(
        [*PYTEST, *options],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            tail = (tail + line)[-4000:]
    found = _SUMMARY.findall(tail)
    return process.returncode, found[-1].strip("= ") if found else f"ended with exit code {process.returncode}"


def check() -> int:
    """Lint, format, types, import contracts, Django's own checks for a deployment, missing migrations, catalogues, templates."""
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
            done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
            print(
                f"{'ok    ' if done.returncode == 0 else 'FAILED'}  {name:<18} {time.monotonic() - began:5.1f} s",
                flush=True,
            )
            if done.returncode:
                failed.append(name)
                print((done.stdout + done.stderr)[-12_000:])
    print(f"checks: {'all passed' if not failed else 'failed: ' + ', '.join(failed)}")
    return int(bool(failed))


def _checks() -> list[tuple[str, list[str]]]:
    bin_folder = Path(sys.executable).parent
    node = program("node", str(ROOT / ".venv-js" / "bin"))
    prettier = [node, "node_modules/prettier/bin/prettier.cjs", "--check", "--log-level=warn"]
    manage = [sys.executable, "manage.py"]
    return [
        ("lint", [sys.executable, "-m", "ruff", "check", "--output-format=concise", "."]),
        ("format", [sys.executable, "-m", "ruff", "format", "--check", "--quiet", "."]),
        ("types", [sys.executable, "-m", "mypy", "portal", "workspaces", "clusters", "jobs", "monitoring"]),
        ("import contracts", [str(bin_folder / "lint-imports"), "--no-cache"]),
        ("deployment", [*manage, "check", "--deploy", "--fail-level", "WARNING"]),
        ("migrations", [*manage, "makemigrations", "--check", "--dry-run"]),
        ("languages", [*manage, "messages", "--check"]),
        ("templates", [sys.executable, "-m", "djlint", "--lint", "--quiet", "templates"]),
        ("template format", [sys.executable, "-m", "djlint", "--check", "--quiet", "templates"]),
        ("browser format", [*prettier, "static", "tests", "scripts"]),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
