"""The shipped examples, run as a job runs them: the spec's script and environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from uuid import UUID

import pytest

from schedulers.spec import Task, environment, examples, parse_yaml, script
from schedulers.spec.examples import EXAMPLES_DIR, ORDER

EXAMPLES = {example.title: example for example in examples()}
BRIEF = {"DIGITS_EPOCHS": "1", "DIGITS_ENGINE": "plain"}


def run(folder: Path, title: str, index: int = 0) -> subprocess.CompletedProcess[str]:
    """Run one task of an example, shortened to one epoch."""
    spec = parse_yaml(EXAMPLES[title].yaml)
    task = Task(
        job_id=UUID(int=1),
        number=7,
        attempt_id=UUID(int=2),
        org="atlas",
        team="vision",
        index=index,
        examples_dir=str(EXAMPLES_DIR),
        output_dir=str(folder / "out"),
    )
    path = folder / "script.sh"
    path.write_text(script(spec))
    variables = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        **environment(spec, task),
        **BRIEF,
    }
    return subprocess.run(
        ["bash", path],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_spec_under_examples_is_offered() -> None:
    files = {str(path.relative_to(EXAMPLES_DIR)) for path in EXAMPLES_DIR.rglob("*.yaml")}
    assert files == set(ORDER)


def test_examples_have_no_special_requirements(subtests: pytest.Subtests) -> None:
    for title, example in EXAMPLES.items():
        with subtests.test(title=title):
            spec = parse_yaml(example.yaml)
            needed = {
                "two nodes": ["num_nodes"],
                "digits from a dataset": ["inputs"],
                "digits with checkpoints": ["outputs"],
            }
            found = [fault.field for fault in spec.unavailable(set())]
            assert found == needed.get(title, [])
            assert spec.policy.max_runtime is not None
            assert (spec.resources.gpus > 0) == (title in ("gpu check", "two gpus"))


def test_first_example_trains_and_keeps_its_model(tmp_path: Path) -> None:
    done = run(tmp_path, next(iter(EXAMPLES)))
    assert done.returncode == 0, done.stderr
    assert "test accuracy" in done.stdout
    assert (tmp_path / "out" / "model.json").stat().st_size > 10_000


def test_sweep_gives_every_task_its_own_rate(tmp_path: Path) -> None:
    lines = [run(tmp_path, "learning rates", index).stdout.splitlines()[0] for index in (0, 5)]
    assert lines == [
        "task 0: 0.01 times the usual learning rate",
        "task 5: 10 times the usual learning rate",
    ]


def test_hello_prints_its_job(tmp_path: Path) -> None:
    done = run(tmp_path, "hello")
    assert "job #7 of atlas/vision" in done.stdout
    assert "GPUs: none" in done.stdout
    assert done.stdout.endswith("Done in 1…\n")


def test_typo_fails_with_command_not_found(tmp_path: Path) -> None:
    done = run(tmp_path, "typo")
    assert done.returncode == 127
    assert "pyhton3: command not found" in done.stderr
