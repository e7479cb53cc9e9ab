"""The clients of the Hugging Face Hub against a running portal."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cases import read_case
from tests.rig.environment import ROOT
from tests.rig.mlflow import python_of
from tests.rig.portal import Portal

PROGRAMS = ROOT / "tests" / "datasets" / "programs"


@pytest.fixture(scope="module")
def hub(running_portal: Portal) -> Portal:
    return running_portal


@pytest.fixture
def run(hub: Portal, tmp_path: Path) -> Callable[..., Any]:
    """Return `run(environment, program, *arguments)`: what a program prints last, as JSON.

    With `lines` it is that number of lines.
    """
    token = hub.token()

    def run_program(
        environment: str, program: str | Path, *arguments: str, lines: int = 0, **variables: str
    ) -> Any:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "MUSTER_"))}
        done = subprocess.run(
            [python_of(environment), PROGRAMS / program, *arguments],
            cwd=tmp_path,
            env=kept
            | {
                "HF_ENDPOINT": f"{hub.url}/hf",
                "HF_TOKEN": token,
                "HF_HOME": str(tmp_path / "cache"),
                "HF_HUB_DISABLE_PROGRESS_BARS": "1",
                "HF_HUB_DISABLE_TELEMETRY": "1",
                "HOME": str(tmp_path),
                **variables,
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-5000:]}"
        if lines:
            return done.stdout.splitlines()[-lines:]
        return json.loads(done.stdout.splitlines()[-1])

    return run_program


def test_the_newest_client_uploads_by_xet_and_reads_back(run):
    first, second = run("hf", "hub.py", "digits", "dataset")
    assert first != second


def test_a_pull_request_never_commits_to_main(run, tmp_path):
    (tmp_path / "case.py").write_bytes(read_case("hf-create-pr.py"))
    refused, end = run("hf", tmp_path / "case.py", "home", lines=2)
    assert end == "ok"
    assert "create_pr: There are no pull" in refused


def test_the_newest_client_finds_what_it_asks_for(run):
    assert run("hf", "questions.py") == "done"


@pytest.mark.integration
@pytest.mark.parametrize("environment", ["hf0", "hf1", "hf"])
@pytest.mark.parametrize("transfer", ["xet", "lfs"])
@pytest.mark.parametrize("kind", ["dataset", "model"])
def test_clients_upload_and_read_back(run, environment, transfer, kind):
    is_disabled = {"HF_HUB_DISABLE_XET": "1"} if transfer == "lfs" else {}
    run(environment, "hub.py", f"{environment}-{transfer}", kind, **is_disabled)


@pytest.mark.integration
@pytest.mark.parametrize("environment", ["hf0", "hf1", "hf"])
@pytest.mark.parametrize("transfer", ["xet", "lfs"])
def test_the_command_line_uploads_and_downloads(run, tmp_path, environment, transfer):
    data = {"weights.bin": os.urandom(11_000_000), "a/README.md": b"# Text", "a/b/empty": b""}
    for path, content in data.items():
        (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / path).write_bytes(content)
    is_disabled = {"HF_HUB_DISABLE_XET": "1"} if transfer == "lfs" else {}
    repository = f"home/cli-{environment}-{transfer}"
    hf = str(Path(python_of(environment)).with_name("hf"))
    run(environment, "command.py", hf, repository, **is_disabled)
    found = tmp_path / "found"
    assert data == {path: (found / path).read_bytes() for path in data}


@pytest.mark.integration
def test_libraries_load_stream_and_push(run):
    assert run("hf1", "libraries.py") == "done"
