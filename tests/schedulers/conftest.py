"""A backend of each kind on a folder of its own, and short words for what the tests do with it."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from schedulers import backends
from schedulers.contract import Handle, Launch, Observation
from schedulers.kubernetes.backend import KubernetesBackend
from tests.rig.kube import folder_of, options_of
from tests.rig.kubernetes_double import Double


def _slurm(path: Path, request: pytest.FixtureRequest, by_rest: bool) -> dict[str, Any]:
    """The rig's Slurm, whose jobs run as a plain user."""
    slurm, spool = request.getfixturevalue("slurm"), path / "spool"
    spool.mkdir()
    spool.chmod(0o1777)
    way = (
        {"rest_url": slurm.rest_url, "rest_key": slurm.jwt_key.read_text()}
        if by_rest
        else {"conf": str(slurm.conf)}
    )
    return {"spool": str(spool), "user": slurm.user, **way}


# How each backend is made for a test, by its name, or by its name and a way to reach it. A backend without a line here fails the suite.
MAKERS: dict[str, Callable[[Path, pytest.FixtureRequest], dict[str, Any]]] = {
    "kubernetes": lambda *_: options_of(),
    "local": lambda path, _: {"root": str(path / "jobs")},
    "slurm-commands": lambda path, request: _slurm(path, request, by_rest=False),
    "slurm-rest": lambda path, request: _slurm(path, request, by_rest=True),
}


def _marked(maker: str) -> Any:
    """A real Slurm beyond the lifecycle in tests/jobs/test_slurm_lifecycle.py is no part of `make test`."""
    return (
        pytest.param(maker, marks=pytest.mark.integration) if maker.startswith("slurm") else maker
    )


SLURM = pytest.mark.parametrize(
    "stage", [_marked("slurm-commands"), _marked("slurm-rest")], indirect=True
)
COMMANDS = pytest.mark.parametrize("stage", [_marked("slurm-commands")], indirect=True)
REST = pytest.mark.parametrize("stage", [_marked("slurm-rest")], indirect=True)


def backend_of(maker: str) -> str:
    """The name of the backend that a line of MAKERS makes."""
    return maker.partition("-")[0]


UID = 70000  # of the team whose jobs these are, on clusters that need one


@dataclass
class Stage:
    """A backend under test. `again()` is a new object on the same folder, as after a restart of the portal."""

    kind: Any
    options: dict[str, Any]
    path: Path
    wait_for: Callable[..., Any]
    keys: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.backend = self.again()

    def again(self) -> Any:
        return self.kind.configured(self.options)

    def launch(self, script: str, **more: Any) -> Launch:
        self.keys.append(key := more.pop("key", f"t-{uuid.uuid4().hex}"))
        return Launch(
            **{"key": key, "name": "a test", "script": script, "grace": 1.0, "uid": UID, **more}
        )

    def submit(self, script: str, **more: Any) -> Handle:
        return self.backend.submit(self.launch(script, **more))

    def look(self, key: str, backend: Any = None) -> Observation:
        return next(iter((backend or self.backend).poll([key]).observations))

    def ended(self, key: str, seconds: float = 20, backend: Any = None) -> Observation:
        seen = self.wait_for(lambda: (o := self.look(key, backend)).state.is_final and o, seconds)
        assert seen.reason is not None and seen.reason.final_state == seen.state
        return seen

    def run(self, script: str, **more: Any) -> tuple[Observation, bytes]:
        """Its end and its whole output."""
        key = self.submit(script, **more).key
        return self.ended(key), self.log(key)

    def log(self, key: str) -> bytes:
        return self.backend.read_log(key, 0, 64 << 20).data

    def logged(self, key: str, text: bytes, seconds: float = 10) -> None:
        self.wait_for(lambda: text in self.log(key), seconds)


def a_sleep() -> str:
    """A command that is found again among all processes of this machine."""
    return f"sleep {10**9 + uuid.uuid4().int % 10**9}"


def running(words: str) -> str:
    """The processes of this machine with these words in their command lines, one in each line."""
    done = subprocess.run(["pgrep", "-f", words], capture_output=True, text=True, check=False)
    return done.stdout


def cleaned_up(made: Stage) -> Iterator[Stage]:
    """Yield it, then end and forget every job that the test started."""
    yield made
    for key in made.keys:
        made.backend.cancel(key, 0)
    made.wait_for(
        lambda: all(o.state.is_final for o in made.backend.poll(made.keys).observations), 20
    )
    for key in made.keys:
        made.backend.forget(key)


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder that a test and its jobs both see, whoever those run as."""
    if "kubernetes" in request.node.name:
        return folder_of(tmp_path)
    if "slurm" not in request.node.name:
        return request.getfixturevalue("shared_folder")
    folder = Path(request.getfixturevalue("slurm").work) / uuid.uuid4().hex
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


@pytest.fixture(params=[_marked(maker) for maker in sorted(MAKERS)])
def stage(request: pytest.FixtureRequest, place: Path, wait_for: Any) -> Iterator[Stage]:
    yield from cleaned_up(
        Stage(
            backends()[backend_of(request.param)],
            MAKERS[request.param](place, request),
            place,
            wait_for,
        )
    )


@pytest.fixture
def double() -> Iterator[Double]:
    made = Double()
    yield made
    made.close()


@pytest.fixture
def backend(double: Double) -> KubernetesBackend:
    return KubernetesBackend.configured(
        {"server": double.url, "token": double.token, "image": "local/bash:1"}
    )
