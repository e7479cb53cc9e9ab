"""Timeline of a storm by second: attempts by state, and kills. Equal lines show a stall."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from types import TracebackType

import psycopg

from schedulers.states import State

_HEAD = "    s   queued claimed  handed running    done  killed"


@dataclass
class Second:
    """Attempts by state at one moment, and the kills since the previous one."""

    at: float
    states: Counter[int] = field(default_factory=Counter)
    kills: tuple[str, ...] = ()

    def text(self) -> str:
        handed = sum(self.states[state] for state in (State.SUBMITTED, State.STARTING))
        running = sum(self.states[state] for state in (State.RUNNING, State.STOPPING))
        done = sum(count for state, count in self.states.items() if state >= State.SUCCEEDED)
        counts = (self.states[State.QUEUED], self.states[State.DISPATCHING], handed, running, done)
        return (
            f"{self.at:5.0f} "
            + " ".join(f"{count:7d}" for count in counts)
            + "  "
            + " ".join(self.kills)
        )


class Timeline:
    """Sample once a second over a separate connection, as a context manager."""

    def __init__(self, database_url: str, every: float = 1.0) -> None:
        self._url, self._every = database_url, every
        self._seconds: list[Second] = []
        self._kills: list[str] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Timeline:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def killed(self, victim: str) -> None:
        self._kills.append(victim)

    def text(self) -> str:
        return "\n".join([_HEAD, *(second.text() for second in self._seconds)])

    def _look(self) -> None:
        began = time.monotonic()
        with psycopg.connect(self._url, autocommit=True) as database:
            while True:
                rows = database.execute(
                    "SELECT state, count(*) FROM jobs_attempt GROUP BY state"
                ).fetchall()
                kills, self._kills = tuple(self._kills), []
                self._seconds.append(Second(time.monotonic() - began, Counter(dict(rows)), kills))
                if self._done.wait(self._every):
                    return
