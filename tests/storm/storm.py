"""A storm: a server stack on durable PostgreSQL, HTTP submissions, and seeded kills of its parts.

Invariants, checked in the jobs' own output and the database: every accepted submission exists once,
ran once and succeeded; everything settles within `SETTLE` seconds of the last kill.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import httpx
import psutil
import psycopg

from schedulers.states import State
from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder
from tests.rig.redis import start_redis
from tests.storm.timeline import Timeline

SETTLE = 30.0  # seconds after the last submission and kill
PATIENCE = 60.0  # seconds during which a submission is retried
CLIENTS = 8
VICTIMS = ("web", "worker", "watcher", "redis")


@dataclass
class Outcome:
    """Result of a storm. `faults` is empty if nothing was lost or ran twice."""

    seed: int
    submits: int
    kills: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    seconds: float = 0.0
    settled: float | None = None
    faults: list[str] = field(default_factory=list)
    timeline: str = ""

    def text(self) -> str:
        kills = ", ".join(f"{name} {count}×" for name, count in sorted(self.kills.items()))
        settled = (
            f"settled {self.settled:.1f} s after the last"
            if self.settled is not None
            else "NOT settled"
        )
        faults = "none lost, none twice" if not self.faults else "; ".join(self.faults)
        return (
            f"seed {self.seed}: {self.submits} submits in {self.seconds:.0f} s, killed {kills}, "
            f"{self.repeated} requests repeated; {settled}; {faults}"
        )


class Storm:
    """The main thread kills parts; a thread pool submits."""

    def __init__(self, folder: Folder, *, seed: int, submits: int, pace: float) -> None:
        """Prepare the storm. `pace` is the mean time between kills in seconds."""
        self._folder, self._random, self._pace = folder, random.Random(seed), pace
        self._redis = start_redis(folder, name=f"redis-{seed}")
        postgres = start_postgres(folder, durable=True, name=f"postgres-{seed}")
        self._portal = Portal(
            folder,
            postgres.url,
            self._redis.url,
            name=f"portal-{seed}",
            settings={"MUSTER_API_RATE": "1000000"},
        )
        self._marks = folder.path / f"marks-{seed}"
        self._marks.mkdir()
        self._marks.chmod(0o1777)  # jobs run as their team's system user
        folder.path.chmod(0o711)
        self._outcome = Outcome(seed, submits)
        self._lock = threading.Lock()

    def run(self) -> Outcome:
        """Run the storm and return the result."""
        self._portal.start()
        self._client = httpx.Client(
            base_url=self._portal.url,
            headers={"Authorization": f"Bearer {self._portal.token()}"},
            timeout=20,
        )
        self._timeline = Timeline(self._portal.database_url)
        with self._timeline:
            accepted = self._submit_under_kills()
            with psycopg.connect(self._portal.database_url, autocommit=True) as database:
                self._settle(database)
                self._judge(database, accepted)
        self._outcome.timeline = self._timeline.text()
        self._portal.stop()
        return self._outcome

    def _submit_under_kills(self) -> list[str]:
        began = time.monotonic()
        with self._client, ThreadPoolExecutor(CLIENTS) as pool:
            futures = [pool.submit(self._submit, number) for number in range(self._outcome.submits)]
            try:
                self._kill_until_done(futures)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            accepted = [future.result() for future in futures]
        self._outcome.seconds = time.monotonic() - began
        return accepted

    def _submit(self, number: int) -> str:
        """Retry with one idempotency key until accepted; return the job's id.

        Raises if the job is refused.
        """
        mark = self._marks / f"{number:06d}"
        spec = {
            "name": f"storm-{number}",
            "run": f"echo ran >> {mark}",
            "resources": {"cpus": 0.1, "memory": "64Mi"},
        }
        key, deadline = str(uuid.uuid4()), time.monotonic() + PATIENCE
        while True:
            try:
                answer = self._client.post(
                    "/api/v1/orgs/home/jobs",
                    json={"team": "default", "spec": spec},
                    headers={"Idempotency-Key": key},
                )
                if answer.status_code in {200, 201}:
                    return str(answer.json()["id"])
                if answer.status_code < 500 and answer.status_code not in {409, 429}:
                    raise RuntimeError(
                        f"submit {number} was refused: {answer.status_code} {answer.text[:500]}"
                    )
            except httpx.TransportError as error:
                answer = error  # type: ignore[assignment]
            with self._lock:
                self._outcome.repeated += 1
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"submit {number} was not accepted within {PATIENCE:g} s; last: {answer!r}"
                )
            time.sleep(0.1)

    def _kill_until_done(self, asked: list[Future[str]]) -> None:
        while not all(future.done() for future in asked):
            due = time.monotonic() + self._random.expovariate(1 / self._pace)
            while time.monotonic() < due and not all(future.done() for future in asked):
                time.sleep(0.02)
            self._kill(self._random.choice(VICTIMS))

    def _kill(self, victim: str) -> None:
        if victim == "redis":
            os.kill(self._redis.pid, signal.SIGKILL)
            time.sleep(self._random.uniform(0.1, 1.0))  # Redis has no supervisor but us
            self._redis = start_redis(self._folder, port=self._redis.port, name="redis-again")
        else:
            try:
                whole = psutil.Process(self._portal.part(victim))
                self._random.choice([whole, *whole.children()]).kill()
            except (psutil.NoSuchProcess, FileNotFoundError, ValueError):
                return  # it is restarting
        self._outcome.kills[victim] += 1
        self._timeline.killed(victim)

    def _settle(self, database: psycopg.Connection[tuple[int]]) -> None:
        """Wait until nothing is unfinished and record the duration."""
        began = time.monotonic()
        while time.monotonic() - began < 10 * SETTLE:
            row = database.execute(
                "SELECT count(*) FROM jobs_attempt WHERE state < %s", [State.SUCCEEDED]
            ).fetchone()
            if row == (0,):
                self._outcome.settled = time.monotonic() - began
                return
            time.sleep(0.1)

    def _judge(self, database: psycopg.Connection[tuple[int]], accepted: list[str]) -> None:
        faults = self._outcome.faults
        ends = dict(
            database.execute(
                "SELECT id::text, state FROM jobs_job WHERE name LIKE 'storm-%'"
            ).fetchall()
        )
        faults += [
            f"lost: job {job} was accepted and is not there" for job in accepted if job not in ends
        ]
        if len(set(accepted)) != self._outcome.submits or len(ends) != self._outcome.submits:
            faults.append(f"{self._outcome.submits} submits made {len(ends)} jobs")
        words = Counter(State(state).label for state in ends.values())
        if set(words) - {"succeeded"}:
            faults.append(f"ends: {dict(words)}")
        times = Counter(len(path.read_text().splitlines()) for path in self._marks.iterdir())
        if times != Counter({1: self._outcome.submits}):
            faults.append(f"runs of a job: {dict(times)} of {self._outcome.submits}")
        if self._outcome.settled is None or self._outcome.settled > SETTLE:
            faults.append(f"not settled within {SETTLE:g} s")
