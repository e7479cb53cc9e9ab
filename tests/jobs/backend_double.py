"""A double of a scheduler, for tests of the portal; the contract suite tests real backends.

It keeps state: a submitted job runs until it is stopped or finished, whatever the portal believes.
A test can therefore check at the end that nothing runs that the portal has given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schedulers.contract import (
    Capability,
    Handle,
    Launch,
    LogChunk,
    NodeFacts,
    Observation,
    OutputFolder,
    OutputRetention,
    Poll,
    Probe,
    Unavailable,
)
from schedulers.states import Reason, State


class BackendDouble:
    """A scheduler in memory.

    `alive`: running launches by key. `ended`: results of the others. `before_submit` may raise, or
    change the state.
    """

    name, title = "local", "this machine"
    capabilities = frozenset({Capability.PLACES})

    def __init__(self) -> None:
        self.alive: dict[str, Launch] = {}
        self.ended: dict[str, Observation] = {}
        self.starts: list[str] = []
        self.stops: list[str] = []
        self.is_away = False
        self.before_submit: Callable[[Launch], None] = lambda launch: None

    def submit(self, launch: Launch) -> Handle:
        self.before_submit(launch)
        if launch.key not in self.alive and launch.key not in self.ended:
            self.alive[launch.key] = launch
            self.starts.append(launch.key)
        return Handle(launch.key, f"pid {self.starts.index(launch.key)}")

    def find(self, key: str) -> Handle | None:
        return Handle(key, f"pid {self.starts.index(key)}") if key in self.starts else None

    def poll(self, keys: Iterable[str]) -> Poll:
        seen, missing = [], []
        for key in keys:
            if key in self.alive:
                seen.append(
                    Observation(key, State.RUNNING, native_id=f"pid {self.starts.index(key)}")
                )
            elif key in self.ended:
                seen.append(self.ended[key])
            else:
                missing.append(key)
        return Poll(seen, missing)

    def cancel(self, key: str, grace: float = 30) -> None:
        self.stops.append(key)
        if key in self.alive:
            self.finish(key, Reason.CANCELED)

    def finish(self, key: str, reason: Reason = Reason.COMPLETED) -> None:
        """End the job, as if it ended by itself or was stopped."""
        del self.alive[key]
        self.ended[key] = Observation(
            key, reason.final_state, reason=reason, exit_code=0 if reason == Reason.COMPLETED else 1
        )

    def probe(self) -> Probe:
        return Probe(True, "a double")

    def inventory(self) -> list[NodeFacts]:
        if self.is_away:
            raise Unavailable("no answer")
        return []

    def render(self, launch: Launch) -> str:
        return launch.script

    def output_of(self, key: str) -> OutputFolder:
        return OutputFolder(f"/jobs/{key}/out", OutputRetention.WEEK)

    def read_log(self, key: str, after: int, limit: int = 1 << 20) -> LogChunk:
        return LogChunk(after, b"", 0)

    def forget(self, key: str) -> None:
        self.ended.pop(key, None)
