"""A backend of each kind on a folder of its own, and short words for what the tests do with it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jobs.backends import backends
from jobs.backends.base import Handle, Launch, Observation
from tests.rig.kube import folder_of, options_of

# How each backend is made for a test. A backend without a line here fails the suite.
MAKERS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "kubernetes": lambda path: options_of(),
    "local": lambda path: {"root": str(path / "jobs")},
}
# Where a test and its jobs see the same files, if that is not the test's own folder.
FOLDERS: dict[str, Callable[[Path], Path]] = {"kubernetes": folder_of}


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
        return Launch(**{"key": key, "name": "a test", "script": script, "grace": 1.0, **more})

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


@pytest.fixture(params=sorted(backends()))
def stage(request: pytest.FixtureRequest, tmp_path: Path, wait_for: Any) -> Iterator[Stage]:
    path = FOLDERS.get(request.param, lambda own: own)(tmp_path)
    made = Stage(backends()[request.param], MAKERS[request.param](tmp_path), path, wait_for)
    yield made
    for key in made.keys:
        made.backend.cancel(key, 0)
    wait_for(lambda: all(o.state.is_final for o in made.backend.poll(made.keys).observations), 20)
    for key in made.keys:
        made.backend.forget(key)
