"""Start real child processes for the agent, and provide a clock that tests advance."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from muster_agent.processes import ProcFs

Spawn = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """`spawn(python_code, session=True)`: start a child; its session is killed when the test ends."""
    children: list[subprocess.Popen[bytes]] = []

    def start(
        code: str, *, session: bool = True, env: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-c", code],
            start_new_session=session,
            stdout=subprocess.PIPE,
            env={**os.environ, **(env or {})},
        )
        children.append(child)
        return child

    yield start
    for child in children:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


@pytest.fixture
def jobs_dir(tmp_path: Path) -> Path:
    path = tmp_path / "jobs"
    path.mkdir()
    return path


@pytest.fixture
def state_of(jobs_dir: Path) -> Callable[..., Path]:
    """`state_of(key, pid, started=None)`: write a job's folder as its supervisor does."""

    def write(key: str, pid: int, started: float | str | None = None) -> Path:
        process = ProcFs().process(pid)
        assert process is not None or started is not None
        folder = jobs_dir / key
        folder.mkdir(exist_ok=True)
        result = started if started is not None else process.started if process else 0
        (folder / "state.json").write_text(json.dumps({"key": key, "pid": pid, "started": result}))
        return folder

    return write
