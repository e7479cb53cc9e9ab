"""Run the generated scripts with a real bash."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.spec import parse_mapping, script
from tests.rig.seeds import examples

LAUNCHER = """#!/bin/bash
# A double of torchrun and mpirun: shows its options, then runs the command once for each of two ranks, as they do.
while [[ $1 == -* ]]; do
  echo "option $1"; if [[ $1 == -np ]]; then echo "value $2"; shift; fi; shift
done
RANK=0 "$@"; RANK=1 "$@"
"""


def run(
    folder: Path, search: str = os.environ["PATH"], **fields: Any
) -> subprocess.CompletedProcess[str]:
    path = folder / "script.sh"
    path.write_text(script(parse_mapping(fields)))
    environment = {**os.environ, "PATH": f"{folder}:{search}", "TMPDIR": str(folder)}
    return subprocess.run(
        ["/bin/bash", path],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        check=False,
    )


@pytest.fixture
def launchers(tmp_path: Path) -> Path:
    for name in ("torchrun", "mpirun"):
        (tmp_path / name).write_text(LAUNCHER)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def test_plain_run_is_unchanged() -> None:
    text = "cd /data\npython train.py '$x' \"y\" `z`\n"
    assert script(parse_mapping({"run": text})) == f"#!/usr/bin/env bash\n{text}"
    batch = "#!/bin/bash -l\n#SBATCH -n 1\necho hi\n"
    assert script(parse_mapping({"run": batch})) == batch


def test_run_exits_with_code_of_last_command(tmp_path: Path) -> None:
    assert run(tmp_path, run="false\nexit 7").returncode == 7
    assert run(tmp_path, run="false\ntrue").returncode == 0
    assert run(tmp_path, run="no-such-command").returncode == 127


def test_setup_passes_directory_and_variables_to_run(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        setup="mkdir deep; cd deep\nX='a b'\nf() { echo \"f $X\"; }",
        run="f; pwd; false; echo still",
    )
    assert done.stdout == f"f a b\n{tmp_path}/deep\nstill\n"
    assert done.stderr == ""


SETUPS = [
    ("echo one\nfalse\necho two", 1),
    ("(exit 9)", 9),
    ("no-such-command", 127),
    ("exit 3", 3),
    ("echo 'open", 2),
    ("if", 2),
]


def test_failing_setup_ends_job_with_message(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for setup, code in SETUPS:
        with subtests.test(setup=setup, code=code):
            done = run(tmp_path, setup=setup, run="echo RUN")
            assert done.returncode == code
            assert "two" not in done.stdout
            assert "RUN" not in done.stdout
            assert f"muster: setup ended with exit code {code}; run was not started" in done.stderr


def test_run_with_other_interpreter_is_executed_as_file(tmp_path: Path) -> None:
    text = "#!/usr/bin/env python3\nimport sys\nprint('$HOME', len(sys.argv))\nsys.exit(5)"
    for setup in ("", "X=1"):
        done = run(tmp_path, setup=setup, run=text)
        assert (done.returncode, done.stdout) == (5, "$HOME 1\n")


SHELLS = [
    "#!/bin/bash",
    "#!/bin/sh",
    "#! /usr/bin/env bash",
    "#!/usr/bin/bash -l",
    "#!/usr/bin/env -S bash -e",
]


def test_shell_script_with_setup_shares_shell(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for first in SHELLS:
        with subtests.test(first=first):
            assert run(tmp_path, setup="X=carried", run=f"{first}\necho $X").stdout == "carried\n"


def test_torchrun_starts_run_once_per_gpu(subtests: pytest.Subtests, launchers: Path) -> None:
    for gpus, count in [(0, 1), (4, 4)]:
        with subtests.test(gpus=gpus, count=count):
            done = run(
                launchers,
                launcher="torchrun",
                resources={"accelerators": gpus},
                setup="export X=1",
                run='echo "$X $RANK \'"\necho end',
            )
            assert done.stdout.splitlines() == [
                "option --standalone",
                "option --nnodes=1",
                f"option --nproc_per_node={count}",
                "option --no_python",
                "1 0 '",
                "end",
                "1 1 '",
                "end",
            ]


def test_torchrun_multi_node_uses_environment(launchers: Path) -> None:
    done = run(
        launchers, launcher="torchrun", num_nodes=2, resources={"accelerators": 8}, run="echo $RANK"
    )
    assert done.stdout.splitlines()[:2] == ["option --nproc_per_node=8", "option --no_python"]


def test_mpi_starts_one_rank_per_gpu(launchers: Path) -> None:
    done = run(
        launchers,
        launcher="mpi",
        num_nodes=2,
        resources={"accelerators": 2},
        run="echo $RANK; false",
    )
    assert done.stdout.splitlines() == ["option -np", "value 4", "0", "1"]
    assert done.returncode == 1


def test_missing_launcher_is_command_not_found(tmp_path: Path) -> None:
    done = run(tmp_path, "/nowhere", launcher="torchrun", run="echo hi")
    assert done.returncode == 127
    assert "torchrun" in done.stderr


@given(
    st.text(
        st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\r"),
        min_size=1,
        max_size=60,
    ).filter(str.strip)
)
@settings(max_examples=examples(40), deadline=None)
def test_any_text_reaches_bash_verbatim(text: str) -> None:
    """A launcher that prints its last argument stands for all uses of the text."""
    shown = script(parse_mapping({"launcher": "mpi", "run": text}))
    program = (
        f"mpirun() {{ printf '%s' \"${{@: -1}}\"; }}\n{shown.replace('exec mpirun', 'mpirun')}"
    )
    done = subprocess.run(
        ["bash", "/dev/stdin"], input=program.encode(), capture_output=True, timeout=30, check=False
    )
    assert done.stdout.decode() == (text if text.endswith("\n") else text + "\n")
