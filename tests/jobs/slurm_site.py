"""A cluster on the rig's Slurm, with helpers that inspect both sides."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from clusters.backends import backend_of
from clusters.models import Cluster
from clusters.services.connections import connect_cluster
from clusters.services.inventory import take_inventory
from jobs.dispatch.watch.watcher import Watcher
from jobs.models import Attempt, Job
from portal.core import clock
from portal.core.models import Event
from schedulers.slurm.rest import signed
from schedulers.states import State
from tests.jobs.stage import dispatch_all, only_attempt, submit
from tests.rig.seeds import courses
from tests.rig.slurm import Slurm
from tests.story import Story
from workspaces.tenancy.scope import platform_scope

SEEDS = courses([1, 2, 3])


@dataclass
class Site:
    """The cluster and its jobs; each run of a job adds a line to a file."""

    story: Story
    slurm: Slurm
    cluster: Cluster
    folder: Path
    jobs: list[Job] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watcher = Watcher(self.cluster.id)

    def submit(self, script: str = "true", **spec: Any) -> Job:
        self.jobs.append(
            job := submit(
                self.story, run=f"echo ran >> {self.folder}/{len(self.jobs)}\n{script}", **spec
            )
        )
        return job

    def look(self) -> None:
        self.watcher.wake.set()
        self.watcher.look()

    def until(self, condition: Callable[[], Any], seconds: float) -> float:
        """Poll and dispatch until the condition holds; return the seconds it took."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() - began < seconds, self.describe()
            dispatch_all()
            self.look()
            time.sleep(0.1)
        return time.monotonic() - began

    def describe(self) -> str:
        """Describe both sides, for assertion messages."""
        ours = [
            (a.key, a.state, a.native_id, a.wait, a.reason, a.evidence)
            for a in Attempt.objects.order_by("id")
        ]
        return f"{ours}\n{self.slurm.run('squeue', '--states=all', '-o', '%i %j %T %r')}"

    def states(self) -> list[State]:
        return [State(job.state) for job in Job.objects.order_by("number")]

    def is_over(self) -> bool:
        return all(state.is_final for state in self.states())

    def runs(self) -> list[int]:
        """Return how often each job ran."""
        files = [self.folder / str(n) for n in range(len(self.jobs))]
        return [len(file.read_text().splitlines()) if file.exists() else 0 for file in files]

    def remote(self) -> list[int]:
        """Return how many Slurm jobs exist, or existed recently, for each job."""
        names = self.slurm.run("squeue", "--noheader", "--states=all", "-o", "%j").split()
        return [names.count(only_attempt(job).key) for job in self.jobs]

    def expire_leases(self) -> None:
        """Make all leases expire."""
        Attempt.objects.exclude(lease=None).update(lease_until=clock.after(-1))

    def told(self, kind: str) -> int:
        return Event.objects.filter(kind=kind).count()


@contextmanager
def site_on(story: Story, slurm: Slurm, *, by_rest: bool = True) -> Iterator[Site]:
    """Connect by slurmrestd or by commands, and clean up afterwards."""
    folder = slurm.work / uuid4().hex
    for path in (folder, folder / "spool"):
        path.mkdir()
        path.chmod(0o1777)
    options = {"spool": str(folder / "spool"), "user": slurm.user}
    options |= (
        {"rest_url": slurm.rest_url, "rest_token": token(slurm, 3600)}
        if by_rest
        else {"conf": str(slurm.conf)}
    )
    with platform_scope("test"):
        cluster = connect_cluster(
            actor=story.actor(story.dot), name="hpc", backend="slurm", options=options
        )
        take_inventory(cluster, backend_of(cluster))
        yield Site(story, slurm, cluster, folder)
        slurm.run("scancel", "--user", slurm.user)


def token(slurm: Slurm, life: int) -> str:
    """Return a token that is valid for so many seconds; expired if negative."""
    return signed(slurm.jwt_key.read_bytes(), slurm.user, int(time.time()), life)
