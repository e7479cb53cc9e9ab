"""Create a backend of each kind in its own folder, with helpers for the tests."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from schedulers import backends
from schedulers.contract import Closeable, Handle, Launch, Observation, Unavailable
from schedulers.kubernetes.backend import KubernetesBackend
from tests.rig.gateway import serving
from tests.rig.kube import folder_of, options_of
from tests.rig.kubernetes_double import Double
from tests.rig.podman import PYTHON, own_network, podman
from tests.schedulers.launches import a_launch


def _slurm(path: Path, request: pytest.FixtureRequest, by_rest: bool) -> dict[str, Any]:
    """Return a backend of the rig's Slurm, whose jobs run as an unprivileged user."""
    slurm, spool = request.getfixturevalue("slurm"), path / "spool"
    spool.mkdir()
    spool.chmod(0o1777)
    way = (
        {"rest_url": slurm.rest_url, "rest_key": slurm.jwt_key.read_text()}
        if by_rest
        else {"conf": str(slurm.conf)}
    )
    return {"spool": str(spool), "user": slurm.user, **way}


__all__ = ["own_network", "podman", "serving"]

# Makers of backends by name, optionally with the access path. A backend that is missing here fails
# the suite.
MAKERS: dict[str, Callable[[Path, pytest.FixtureRequest], dict[str, Any]]] = {
    "kubernetes": lambda *_: options_of(),
    "local": lambda path, _: {"root": str(path / "jobs")},
    "slurm-commands": lambda path, request: _slurm(path, request, by_rest=False),
    "slurm-rest": lambda path, request: _slurm(path, request, by_rest=True),
}


# Makers of backends whose jobs open connections to the portal for their ports; those of Slurm do.
TUNNELS: dict[str, Callable[[Path, pytest.FixtureRequest], dict[str, Any]]] = {
    "kubernetes-tunnel": lambda *_: options_of() | {"ports": "tunnel"},
    "local-tunnel": lambda path, request: _containers(path, request) | {"ports": "tunnel"},
}


def _containers(path: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return a backend whose containers have a network of their own."""
    name, _address = request.getfixturevalue("own_network")
    options = [f"--network=ns:/run/netns/{name}", *PYTHON]
    podman = request.getfixturevalue("podman")
    return {"root": str(path / "jobs"), "podman": podman, "run_options": options}


def _marked(maker: str) -> Any:
    """Mark tests of a real Slurm, other than tests/jobs/test_slurm_lifecycle.py, as integration."""
    return (
        pytest.param(maker, marks=pytest.mark.integration) if maker.startswith("slurm") else maker
    )


SLURM = pytest.mark.parametrize(
    "stage", [_marked("slurm-commands"), _marked("slurm-rest")], indirect=True
)
COMMANDS = pytest.mark.parametrize("stage", [_marked("slurm-commands")], indirect=True)
REST = pytest.mark.parametrize("stage", [_marked("slurm-rest")], indirect=True)


def backend_of(maker: str) -> str:
    """Return the backend name of a key of MAKERS."""
    return maker.partition("-")[0]


UID = 70000  # of the team that owns the jobs, on clusters that need one


@dataclass
class Stage:
    """A backend under test.

    `again()` returns a new object on the same folder, as after a restart of the portal.
    """

    kind: Any
    options: dict[str, Any]
    path: Path
    wait_for: Callable[..., Any]
    keys: list[str] = field(default_factory=list)
    made: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.backend = self.again()

    def again(self) -> Any:
        self.made.append(self.kind.configured(self.options))
        return self.made[-1]

    def launch(self, script: str, **more: Any) -> Launch:
        self.keys.append(key := more.pop("key", f"t-{uuid.uuid4().hex}"))
        return a_launch(script, **{"key": key, "grace": 1.0, "uid": UID, **more})

    def submit(self, script: str, **more: Any) -> Handle:
        return self.backend.submit(self.launch(script, **more))

    def look(self, key: str, backend: Any = None) -> Observation:
        return next(iter((backend or self.backend).poll([key]).observations))

    def ended(self, key: str, seconds: float = 20, backend: Any = None) -> Observation:
        seen = self.wait_for(lambda: (o := self.look(key, backend)).state.is_final and o, seconds)
        assert seen.reason is not None and seen.reason.final_state == seen.state
        return seen

    def run(self, script: str, **more: Any) -> tuple[Observation, bytes]:
        """Run a script; returns its end and its whole output."""
        key = self.submit(script, **more).key
        return self.ended(key), self.log(key)

    def log(self, key: str) -> bytes:
        return self.backend.read_log(key, 0, 64 << 20).data

    def logged(self, key: str, text: bytes, seconds: float = 10) -> None:
        self.wait_for(lambda: text in self.log(key), seconds)


def a_sleep() -> str:
    """Return a command that can be identified among all processes of this machine."""
    return f"sleep {10**9 + uuid.uuid4().int % 10**9}"


def running(words: str) -> str:
    """Return the command lines on this machine that contain these words, one per line."""
    done = subprocess.run(["pgrep", "-f", words], capture_output=True, text=True, check=False)
    return done.stdout


def cleaned_up(made: Stage) -> Iterator[Stage]:
    """Yield the stage, then end and forget every job that the test started."""
    yield made
    for key in made.keys:
        made.backend.cancel(key, 0)
    made.wait_for(
        lambda: all(o.state.is_final for o in made.backend.poll(made.keys).observations), 20
    )
    for key in made.keys:
        made.wait_for(lambda key=key: is_forgotten(made, key), 20)
    for backend in made.made:
        if isinstance(backend, Closeable):
            backend.close()


def is_forgotten(made: Stage, key: str) -> bool:
    """Forget a job as the portal does: a backend that is not ready is asked again."""
    try:
        made.backend.forget(key)
    except Unavailable:
        return False
    return True


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder visible to the test and its jobs, whatever users they run as."""
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
            (MAKERS | TUNNELS)[request.param](place, request),
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
def backend(double: Double) -> Iterator[KubernetesBackend]:
    made = KubernetesBackend.configured(
        {"server": double.url, "token": double.token, "image": "local/bash:1"}
    )
    yield made
    made.close()
