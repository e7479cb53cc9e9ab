"""Create the organization and replay a week of its jobs through the services, under a set clock."""

from __future__ import annotations

import heapq
import random
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F

from clusters import backends
from clusters.models import Cluster, Pool
from clusters.services.inventory import take_inventory
from clusters.services.mig_plans import change_settings
from clusters.services.pools import create_pool, grant_pool
from demo import checkpoints
from demo.backend import SimulatedCluster
from demo.pace import Action, Progress, paced, short_transaction
from demo.recipes import PEOPLE, RECIPES, SLUG, TEAMS, Recipe
from experiments.services.experiments import default_experiment
from jobs import services
from jobs.dispatch.claims import dispatch_cluster
from jobs.dispatch.watch import logs, observations
from jobs.models import Attempt, Job, JobOutput
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.lease_holder import new_lease
from schedulers.spec import parse_mapping
from schedulers.states import FINAL_FLOOR, State
from workspaces.access.actors import actor_of
from workspaces.models import Organization, Team, User
from workspaces.organizations.bootstrap import PLATFORM
from workspaces.organizations.services import (
    add_member,
    add_team_member,
    create_org,
    create_team,
)
from workspaces.quotas.set_limits import set_quota
from workspaces.tenancy.scope import no_scope, org_scope, platform_scope

CLUSTER, DAYS = "aurora-gpu", 7
AGE = 42  # days of the organization
MOST_REPLAYED = 40  # H100 nodes during the replay, in which each decision looks at all GPUs
SEEN_AFTER = 1.0  # seconds after which a watcher notices what happened
_WAITING = 6  # large jobs at the end: five fill the quota of their team
_SAVES = (0.5, 0.98)  # parts of a job's runtime after which it saves its checkpoint
_SAVED_FROM = 600  # seconds of runtime; shorter ones end before
_UNSEEN = timedelta(days=36500)  # added to the due times of jobs that the portal must not start
_POOLS = {"h100": "Training, 8 GPUs a node", "l40s": "Evaluation and notebooks"}
_LIMITS = (
    ("language", "gpu.h100", 40),
    ("vision", "gpu.h100", 24),
    ("speech", "gpu.h100", 16),
    ("robotics", "gpu.h100", 16),
    ("robotics", "gpu.l40s", 12),
)

Plan = Callable[[Organization], Iterable[tuple[datetime, Action]]]


@dataclass(frozen=True)
class Demo:
    """What was created. `password` signs in as `email`."""

    org: Organization
    email: str
    password: str
    jobs: int


def create(
    jobs: int = 300,
    *,
    seed: int = 1,
    nodes: tuple[int, int] = (10, 8),
    plans: Iterable[Plan] = (),
    progress: Progress | None = None,
) -> Demo:
    """Create the organization `aurora` with a week of jobs, the last of which still run.

    `nodes`: how many with 8 H100 each, and how many with 4 L40S. `plans` return further actions
    and their times. Everything happens in the order of time, as the audit trail requires. Raises
    Conflict if the organization exists.
    """
    if Organization.objects.filter(slug=SLUG).exists():
        raise Conflict(f"The demo exists: organization {SLUG}.")
    progress = progress or Progress()
    rng, start = random.Random(seed), clock.now() - timedelta(days=DAYS)
    password = secrets.token_urlsafe(9)
    progress.step("Creating the organization, its teams and a simulated cluster …")
    cluster, pools = _cluster(min(nodes[0], MOST_REPLAYED), nodes)
    with clock.frozen(clock.now() - timedelta(days=AGE)):
        org, people, teams = _people(password)
        with platform_scope("the demo grants its pools"):
            for pool in pools:
                for member in teams.values():
                    grant_pool(actor=PLATFORM, pool=pool, team=member)
        for team, resource, limit in _LIMITS:
            with org_scope(org.id):
                set_quota(
                    actor=actor_of(people[0]).enter(org),
                    org=org,
                    scope="team",
                    subject=team,
                    resource=resource,
                    limit=limit,
                )
        with org_scope(org.id):  # else the running portal creates them, dated after the replay
            for each in teams.values():
                default_experiment(actor=actor_of(people[0]).enter(org), team=each)
    progress.step(f"Replaying {jobs} jobs of {DAYS} days …")
    replay = _Replay(org, cluster, people, teams, rng)
    for plan in plans:
        for at, action in plan(org):
            replay.at(at.timestamp(), partial(paced, action))
    replay.run(_submissions(rng, jobs, start, people), progress)
    if nodes[0] > MOST_REPLAYED:
        progress.step(f"Adding the other {nodes[0] - MOST_REPLAYED:,} nodes …")
    _set_nodes(cluster, nodes)
    replay.show()
    return Demo(org, people[0].email, password, jobs)


def _people(password: str) -> tuple[Organization, list[User], dict[str, Team]]:
    with no_scope():
        hashed = make_password(password)  # once: it takes a second
        users = [
            User.objects.create(email=_email(name), password=hashed, name=name)
            for name, _, _ in PEOPLE
        ]
        org = create_org(actor=PLATFORM, slug=SLUG, name="Aurora Labs", owner=users[0])
    with org_scope(org.id):
        owner = actor_of(users[0]).enter(org)
        teams = {
            slug: create_team(actor=owner, org=org, slug=slug, name=name)
            for slug, name in TEAMS.items()
        }
        owner = actor_of(users[0]).enter(org)
        for user, (_, role, members) in zip(users, PEOPLE, strict=True):
            if role != "owner":
                add_member(actor=owner, org=org, email=user.email, role=role, has_agreed=True)
            for team in members:
                if role != "owner":
                    add_team_member(actor=owner, team=teams[team], email=user.email)
    return org, users, teams


def _email(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name.replace("ı", "i")).encode("ascii", "ignore")
    return f"{ascii_name.decode().lower().replace(' ', '.')}@aurora.example"


def _cluster(replayed: int, nodes: tuple[int, int]) -> tuple[Cluster, list[Pool]]:
    """Connect the cluster now: the installation's audit trail has no earlier events.

    Its row is as old as the organization, so that its GPUs count in the past week. `replayed`: the
    number of H100 nodes for the replay.
    """
    with platform_scope("the demo connects its cluster"):
        row = Cluster.objects.create(
            name=CLUSTER,
            backend=SimulatedCluster.name,
            created_at=clock.now() - timedelta(days=AGE),
            is_enabled=False,  # until the replay has ended
        )
        _set_nodes(row, (replayed, nodes[1]), is_replay=True)
        change_settings(actor=PLATFORM, cluster=row, method="agent", nodes_at_once=2)
        last = f"r{1 + nodes[0] // 5}"
        create_pool(
            actor=PLATFORM,
            cluster=row,
            name="mig",
            labels={"rack": last, "gpu": "h100"},
            note="MIG instances for courses",
        )
        return row, [
            create_pool(actor=PLATFORM, cluster=row, name=gpu_type, gpu_type=gpu_type, note=note)
            for gpu_type, note in _POOLS.items()
        ]


def _set_nodes(cluster: Cluster, nodes: tuple[int, int], *, is_replay: bool = False) -> None:
    with platform_scope("the demo changes the nodes of its cluster"):
        cluster.config = {"name": CLUSTER, "h100_nodes": nodes[0], "l40s_nodes": nodes[1]}
        if is_replay:
            cluster.config["is_replay"] = True
        cluster.save(update_fields=["config"])
        take_inventory(cluster, backends.backend_of(cluster))


@dataclass(frozen=True)
class Submission:
    at: datetime
    owner: User
    recipe: Recipe
    variant: int
    cancel_after: float | None


def _submissions(
    rng: random.Random, jobs: int, start: datetime, people: list[User]
) -> list[Submission]:
    """Spread the jobs over the days; most are submitted in working hours.

    Among the last are a notebook that keeps its GPUs idle, and more training of one team than its
    quota allows.
    """
    by_team = {
        team: [u for u, (_, _, members) in zip(people, PEOPLE, strict=True) if team in members]
        for team in TEAMS
    }
    made: list[Submission] = []
    while len(made) < jobs - 1 - _WAITING:
        at = start + timedelta(seconds=rng.uniform(0, DAYS * 86400 - 60))
        if rng.random() > (1.0 if 8 <= at.hour < 19 and at.weekday() < 5 else 0.25):
            continue
        recipe = rng.choices(RECIPES, [recipe.share for recipe in RECIPES])[0]
        owner = rng.choice(by_team[recipe.team])
        cancel = rng.uniform(0.05, 0.6) if rng.random() < 0.05 else None
        made.append(Submission(at, owner, recipe, rng.randint(1, 4), cancel))
    known = {recipe.name: recipe for recipe in RECIPES}
    idle, large = known["notebook"], known["llm-7b-pretrain"]
    end = start + timedelta(days=DAYS)
    made.append(Submission(end - timedelta(hours=5), by_team[idle.team][0], idle, 1, None))
    for n in range(_WAITING):
        at, owner = end - timedelta(minutes=12 * n + 5), by_team[large.team][n % 4]
        made.append(Submission(at, owner, large, n + 1, None))
    return sorted(made, key=lambda one: one.at)


class _Replay:
    """Run submissions, ends and cancellations in the order of their times."""

    def __init__(
        self,
        org: Organization,
        cluster: Cluster,
        people: list[User],
        teams: dict[str, Team],
        rng: random.Random,
    ) -> None:
        self.org, self.cluster, self.teams, self.rng = org, cluster, teams, rng
        self.actors = {user.id: actor_of(user).enter(org) for user in people}
        self.backend: Any = backends.backend_of(cluster)
        self._order, self._lease = count(), new_lease()
        self._due: list[tuple[float, int, Action]] = []
        self._planned: set[str] = set()

    def run(self, submissions: list[Submission], progress: Progress) -> None:
        until, total = clock.now(), len(submissions)
        for number, one in enumerate(submissions, 1):
            self.at(one.at.timestamp(), lambda one=one: self._submit(one))  # type: ignore[misc]
            text = f"Replaying jobs: {number} of {total} …"
            self.at(one.at.timestamp(), lambda text=text: progress.detail(text))  # type: ignore[misc]
        with platform_scope("the demo replays jobs"):
            while self._due and self._due[0][0] <= until.timestamp():
                when, _, action = heapq.heappop(self._due)
                with clock.frozen(datetime.fromtimestamp(when, until.tzinfo)):
                    action()

    def show(self) -> None:
        """Leave the cluster and its queue to the running portal."""
        with platform_scope("the demo replays jobs"):
            with transaction.atomic():
                self._show(True)
            self._observe()
            dispatch_cluster(self.cluster)

    def _show(self, is_shown: bool) -> None:
        """Show or hide the cluster and its queue.

        The running portal, whose clock is not set, would start and poll these jobs at its own time, and
        save their outputs: events of now, before which all others of the replay would seem backdated.
        """
        Cluster.objects.filter(id=self.cluster.id).update(is_enabled=is_shown)
        Attempt.objects.filter(cluster=self.cluster, state=State.QUEUED).update(
            due_at=F("due_at") - _UNSEEN if is_shown else F("due_at") + _UNSEEN
        )
        outputs = JobOutput.objects.filter(attempt__cluster=self.cluster, is_over=False)
        outputs.update(
            lease=None if is_shown else self._lease,
            lease_until=None if is_shown else clock.now() + _UNSEEN,
        )

    def at(self, when: float, action: Action) -> None:
        """Do something at a time, after what was planned for that time before."""
        heapq.heappush(self._due, (when, next(self._order), action))

    def _schedule(self, when: float, action: Action) -> None:
        """Do something that needs the cluster and its queue, in one transaction."""

        def shown() -> None:
            with self._shown():
                action()

        self.at(when, shown)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        """Have the cluster and its queue for one short transaction."""
        with short_transaction():
            self._show(True)
            yield
            self._show(False)

    def _submit(self, one: Submission) -> None:
        actor = self.actors[one.owner.id]
        with self._shown(), org_scope(self.org.id):
            job = services.submit_job(
                actor=actor,
                team=self.teams[one.recipe.team],
                spec=parse_mapping(spec_of(one.recipe, one.variant)),
            )
        if one.cancel_after is not None:
            delay = one.cancel_after * one.recipe.hours * 3600
            self.at(clock.now().timestamp() + delay, lambda: self._cancel(job, actor))
        self._advance()

    def _cancel(self, job: Job, actor: Any) -> None:
        with self._shown(), org_scope(self.org.id):
            services.cancel_job(actor=actor, job=job)
        self._advance()
        self.at(clock.now().timestamp() + 5, self._advance)

    def _advance(self) -> None:
        """Do what the dispatcher and the watcher do in one round."""
        self.cluster.refresh_from_db()
        with self._shown():
            self._observe()
        with self._shown():
            is_started = bool(dispatch_cluster(self.cluster))
        if not is_started:
            return
        with self._shown():
            self._observe()
        for run in self.backend.runs.all():
            if run.key not in self._planned:
                self._planned.add(run.key)
                self._schedule(run.started + SEEN_AFTER, self._observe)  # nothing became free
                self.at(run.finished + SEEN_AFTER, self._advance)
                if run.recipe.checkpoint and run.seconds > _SAVED_FROM:
                    for share in _SAVES:
                        self.at(run.started + share * run.seconds, partial(self._save, run.key))

    def _save(self, key: str) -> None:
        """Save the outputs of a job that still runs."""
        active = observations.active_attempts(self.cluster, State.RUNNING)
        ids = [one.id for one in active if one.key == key]
        with short_transaction():
            checkpoints.save(Attempt.objects.filter(id__in=ids))

    def _observe(self) -> None:
        stopping = observations.active_attempts(self.cluster, State.STOPPING)
        observations.send_stops(self.backend, stopping)
        active = observations.active_attempts(self.cluster)
        if active:
            poll = self.backend.poll([one.key for one in active])
            observations.apply_poll(self.cluster, active, poll)
        ended = list(
            Attempt.objects.filter(
                cluster=self.cluster, state__gte=FINAL_FLOOR, is_log_sealed=False
            ).exclude(native_id="")
        )
        logs.seal(self.backend, ended)


def spec_of(recipe: Recipe, variant: int) -> dict[str, Any]:
    """Return a job spec as a person would write it."""
    spec: dict[str, Any] = {
        "name": recipe.name,
        "resources": {
            "accelerators": {recipe.pool: recipe.gpus},
            "cpus": recipe.cpus,
            "memory": recipe.memory,
        },
        "run": recipe.command,
        "policy": {"pool": recipe.pool, "max_runtime": f"{max(round(recipe.hours * 2.5), 1)}h"},
        "labels": {"project": recipe.name},
    }
    if recipe.environment:
        spec["envs"] = dict(recipe.environment) | {"SEED": str(variant)}
    if recipe.checkpoint:
        spec["outputs"] = {
            "ckpt": {"checkpoint": recipe.checkpoint, "every": "2h", "keep": {"last": 2}}
        }
    if recipe.tasks:
        spec["array"] = {"size": recipe.tasks, "max_parallel": 6}
    return spec


def runs_of(cluster: Cluster) -> Iterator[Any]:
    """Yield the simulated runs of a cluster."""
    backend: Any = backends.backend_of(cluster)
    yield from backend.runs.all()
