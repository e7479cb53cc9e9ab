"""A cluster on a double of Kubernetes, with helpers that inspect both sides."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clusters.backends import backend_of
from clusters.models import Cluster
from clusters.services.connections import connect_cluster
from clusters.services.inventory import take_inventory
from jobs import services
from jobs.dispatch.watch.watcher import Watcher
from jobs.models import Attempt, Job
from portal.core import clock
from schedulers.kubernetes import names
from schedulers.states import State
from tests.jobs.stage import dispatch_all, only_attempt, submit
from tests.rig.kubernetes_double import Double
from tests.story import Story
from workspaces.tenancy.scope import org_scope


class Killed(BaseException):
    """The death of a worker; no handler catches it."""


@dataclass
class Site:
    """The cluster and its jobs.

    Each run of a job adds a line to a file; each Job created on the cluster is counted.
    """

    story: Story
    double: Double
    cluster: Cluster
    folder: Path
    jobs: list[Job] = field(default_factory=list)
    made: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.watcher = Watcher(self.cluster.id)
        self.double.store.listeners.append(self._count_created)

    def _count_created(self, kind: str, plural: str, thing: dict[str, Any]) -> None:
        if (kind, plural) == ("ADDED", "jobs"):
            self.made[thing["metadata"]["annotations"][names.KEY]] += 1

    def submit(self, script: str = "true", **more: Any) -> Job:
        self.jobs.append(
            job := submit(
                self.story, run=f"echo ran >> {self.folder}/{len(self.jobs)}\n{script}", **more
            )
        )
        return job

    def look(self) -> None:
        self.watcher.wake.set()
        self.watcher.look()

    def until(self, condition: Callable[[], Any], seconds: float = 20) -> Any:
        """Poll and dispatch until the condition holds; return its value."""
        began = time.monotonic()
        while not (found := condition()):
            assert time.monotonic() - began < seconds, self.describe()
            dispatch_all()
            self.look()
            time.sleep(0.05)
        return found

    def describe(self) -> str:
        """Describe both sides, for assertion messages."""
        ours = [
            (a.key, a.state, a.native_id, a.wait, a.reason, a.evidence)
            for a in Attempt.objects.order_by("id")
        ]
        theirs = [
            (thing["metadata"]["name"], thing.get("status"))
            for plural in ("jobs", "pods")
            for thing in self.double.store.all(plural, "")
        ]
        return f"{ours}\n{theirs}"

    def states(self) -> list[State]:
        return [State(job.state) for job in Job.objects.order_by("number")]

    def is_over(self) -> bool:
        return all(state.is_final for state in self.states())

    def runs(self) -> list[int]:
        """Return how often each job ran."""
        files = [self.folder / str(n) for n in range(len(self.jobs))]
        return [len(file.read_text().splitlines()) if file.exists() else 0 for file in files]

    def remote(self) -> list[int]:
        """Return how many Kubernetes Jobs were created for each job."""
        return [self.made[only_attempt(job).key] for job in self.jobs]

    def pods(self, job: Job) -> list[dict[str, Any]]:
        """Return the current pods of a job."""
        found: list[dict[str, Any]] = self.double.store.all(
            "pods", "", f"{names.KEY}={names.object_name(only_attempt(job).key)}"
        )
        return found

    def cancel(self, job: Job) -> None:
        fresh = Job.objects.get(id=job.id)
        if not State(fresh.state).is_final:
            with org_scope(self.story.atlas.id):
                services.cancel_job(actor=self.story.actor(self.story.ada), job=fresh)

    def expire_leases(self) -> None:
        """Make all leases expire."""
        Attempt.objects.exclude(lease=None).update(lease_until=clock.after(-1))


def connected(story: Story, double: Double, folder: Path, **options: Any) -> Site:
    """Connect the cluster. Call it in the platform scope."""
    given = {"server": double.url, "token": double.token, "image": "local/bash:1", **options}
    cluster = connect_cluster(
        actor=story.actor(story.dot), name="k8s", backend="kubernetes", options=given
    )
    take_inventory(cluster, backend_of(cluster))
    return Site(story, double, cluster, folder)
