"""When a pending job is expected to start, who says so, and how sure it is.

The rules are in `docs/design/jobs.md`, "Expected start". The queue of a cluster is played forward once
for all jobs that are asked about, so a list takes as many queries as one job.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.fields.json import KeyTextTransform, KeyTransform

from clusters.capacity import inside_of
from clusters.models import Cluster, Pool
from clusters.node_capacity import NodeUsage, node_usage_in
from jobs.dispatch.claims import request_of
from jobs.models import Attempt, Dependency, Job
from jobs.models.attempt import held_by, placed_on
from jobs.scheduling.admission import (
    QUOTA_WAITS,
    AdmissionRequest,
    meters_of_request,
    type_meters,
)
from jobs.scheduling.advice import ExpectedStartShape
from jobs.scheduling.forecast import PendingTask, RunningTask, held_on, starts
from jobs.scheduling.pending_summary import is_pending
from jobs.scheduling.snapshot import limits_of
from portal.core import clock
from portal.core.messages import Message
from schedulers import capabilities_of, title_of
from schedulers.capacity import ReservedGpus, gpu_amounts
from schedulers.contract import Capability
from schedulers.spec.grammar import parse_duration
from schedulers.states import State, Wait
from workspaces.quotas.gpu_hours import next_reset
from workspaces.quotas.limits import GPU_HOURS, STORAGE, Meter, QuotaUsage
from workspaces.quotas.limits import meters as quota_meters
from workspaces.tenancy.scope import platform_scope

MOST_RUNNING, MOST_QUEUED = 5_000, 200  # tasks of a cluster that are played
DRAFT = "draft"

_WAITS_FOR_CAPACITY = frozenset(
    {
        *(Wait.QUOTA_USER, Wait.QUOTA_TEAM, Wait.QUOTA_ORG, Wait.ARRAY_LIMIT),
        *(Wait.CAPACITY, Wait.SCATTERED, Wait.BEHIND, Wait.EVALUATING),
    }
)
_UNKNOWN = {
    Wait.HELD: Message("Unknown: it is on hold."),
    Wait.NO_CLUSTER: Message("Unknown: no cluster is connected."),
    Wait.IMPOSSIBLE: Message("Never as it is: no node is large enough."),
    Wait.CLUSTER_DOWN: Message("Unknown: the cluster isn't responding."),
    Wait.CLUSTER_HELD: Message("Unknown: the cluster's own scheduler holds it."),
    Wait.CLUSTER_LIMIT: Message("Unknown: it waits for a limit of the cluster itself."),
    Wait.NODES_DOWN: Message("Unknown: the nodes that could run it are down or drained."),
    Wait.RESERVED: Message("Unknown: the nodes that could run it are reserved."),
    Wait.IMAGE: Message("Soon: as soon as its image is there."),
    Wait.INPUTS: Message("Soon: as soon as its data is there."),
}


@dataclass(frozen=True)
class ExpectedStart:
    """The answer. `at` is None if it is not known; `text` is one sentence."""

    sureness: str
    text: str
    at: datetime | None = None
    source: str = "Muster"

    def as_dict(self) -> ExpectedStartShape:
        return {
            "at": self.at,
            "sureness": self.sureness,  # type: ignore[typeddict-item]
            "text": self.text,
            "source": self.source,
        }


def expected_start(attempt: Attempt) -> ExpectedStart:
    """Return the expected start of one pending attempt; its job and cluster are loaded."""
    return expected_starts([attempt])[attempt.id]


def expected_start_of(job: Job) -> ExpectedStart | None:
    """Return the expected start of a job; None if it is not pending."""
    if not is_pending(job):
        return None
    rows = Attempt.objects.filter(job=job, is_current=True, state=job.state)
    attempt = rows.select_related("job__pool", "cluster").order_by("index").first()
    return expected_start(attempt) if attempt else None


def expected_starts(attempts: Sequence[Attempt]) -> dict[UUID, ExpectedStart]:
    """Return the expected start of pending attempts, by id; their jobs and clusters are loaded."""
    found: dict[UUID, ExpectedStart] = {}
    open_ones = []
    needs = _open_needs([a for a in attempts if a.wait == Wait.DEPENDENCY])
    for attempt in attempts:
        known = _by_rule(attempt, needs)
        if known is None:
            open_ones.append(attempt)
        else:
            found[attempt.id] = known
    if open_ones:
        forecast = Forecast.of({a.cluster_id: a.cluster for a in open_ones}.values(), open_ones)
        found |= {attempt.id: forecast.of_attempt(attempt) for attempt in open_ones}
    return found


@dataclass(frozen=True)
class Draft:
    """A job that is not submitted yet. `seconds`: its time limit, 0 for none."""

    cluster: Cluster
    pool: Pool | None
    request: AdmissionRequest
    priority: int
    seconds: int


def expected_start_of_draft(draft: Draft, wait: Wait, facts: Mapping[str, Any]) -> ExpectedStart:
    """Return when a job would start that was submitted now and waits for this reason."""
    known = _by_facts(wait, facts, draft.cluster)
    if known:
        return known
    return Forecast.of([draft.cluster], [], [draft.request]).of_draft(draft, wait, facts)


# -- what needs no forecast


def _by_rule(
    attempt: Attempt, needs: Mapping[UUID, Sequence[tuple[int, datetime | None]]]
) -> ExpectedStart | None:
    """Return what the reason alone says; None if the queue must be played."""
    wait, cluster = Wait(attempt.wait or Wait.EVALUATING), attempt.cluster
    if attempt.job.is_held:
        wait = Wait.HELD
    elif cluster.trouble and wait not in (Wait.DEPENDENCY, Wait.NO_CLUSTER, Wait.IMPOSSIBLE):
        wait = Wait.CLUSTER_DOWN
    if wait == Wait.DEPENDENCY:
        return _after(needs.get(attempt.job_id, ()))
    if wait == Wait.BACKOFF and attempt.due_at:
        return _at("planned", attempt.due_at, Message("The next attempt starts about {at}."))
    return _by_facts(wait, attempt.wait_facts, cluster)


def _by_facts(wait: Wait, facts: Mapping[str, Any], cluster: Cluster) -> ExpectedStart | None:
    if expected := facts.get("expected"):
        return _by_scheduler(datetime.fromisoformat(expected), title_of(cluster.backend))
    if wait == Wait.RESERVED and (until := facts.get("until")):
        text = Message("Starts no earlier than {at}, when the reservation ends.")
        return _at("not_before", datetime.fromisoformat(until), text)
    if facts.get("resource") == GPU_HOURS:
        text = Message("Starts no earlier than {at}, when the monthly limit resets.")
        return _at("not_before", next_reset(), text)
    if facts.get("resource") == STORAGE and wait in _WAITS_FOR_CAPACITY:
        return ExpectedStart("unknown", Message("Unknown: it waits until storage is freed."))
    if wait in _WAITS_FOR_CAPACITY:
        return None
    return ExpectedStart("unknown", _UNKNOWN.get(wait, Message("Unknown.", context="text, jobs")))


def _after(needs: Sequence[tuple[int, datetime | None]]) -> ExpectedStart:
    """Return the start after these jobs, each with the time when it reaches its limit."""
    endless = next((number for number, end in needs if end is None), None)
    if not needs or endless is not None:
        text = (
            Message("Unknown: #{n} has no time limit, or has not started.", n=endless)
            if endless is not None
            else Message("Unknown: it waits for another job.")
        )
        return ExpectedStart("unknown", text)
    number, end = max(((n, end) for n, end in needs if end), key=lambda one: one[1])
    return _at(
        "if_limits",
        end,
        Message("Starts about {at}, if #{n} uses its whole time limit.", at="{at}", n=number),
    )


def _by_scheduler(at: datetime, who: str) -> ExpectedStart:
    if at <= clock.now():
        return ExpectedStart(
            "unknown",
            Message("Unknown: the last estimate of {who} has passed.", who=who),
            None,
            who,
        )
    return _at(
        "planned", at, Message("Starts about {at}, as {who} plans it.", at="{at}", who=who), who
    )


def _at(sureness: str, at: datetime, text: Message, source: str = "Muster") -> ExpectedStart:
    """Return the answer for a time, in whole minutes and never in the past."""
    now = clock.now()
    minutes = math.ceil(max(at, now + timedelta(seconds=1)).timestamp() / 60)
    at = datetime.fromtimestamp(minutes * 60, UTC)
    shown = f"{at:%H:%M} UTC" if at - now < timedelta(hours=20) else f"{at:%Y-%m-%d %H:%M} UTC"
    params = {name: shown if value == "{at}" else value for name, value in text.params.items()}
    filled = Message(text.template, **{"at": shown, **params})
    filled.forms = text.forms
    return ExpectedStart(sureness, filled, at, source)


def _open_needs(
    attempts: Sequence[Attempt],
) -> Mapping[UUID, Sequence[tuple[int, datetime | None]]]:
    """Return the jobs that each job still waits for, with the time when each reaches its limit."""
    found: dict[UUID, list[tuple[int, datetime | None]]] = defaultdict(list)
    if not attempts:
        return found
    rows = Dependency.objects.filter(job__in={a.job_id for a in attempts}).select_related("needs")
    for row in rows:
        need = row.needs
        if State(need.state).is_final:
            continue
        limit = need.spec.get("policy", {}).get("max_runtime")
        is_single = need.array_size is None
        end = (
            need.started_at + timedelta(seconds=parse_duration(limit))
            if limit and need.started_at and is_single
            else None
        )
        found[row.job_id].append((need.number, end))
    return found


# -- the forecast


@dataclass
class Forecast:
    """What runs and waits on clusters, and when what waits would start."""

    machines: Mapping[UUID, Sequence[NodeUsage]]
    limits: Mapping[Meter, QuotaUsage]
    running: Mapping[UUID, Sequence[RunningTask]]
    endless: Mapping[UUID, int]  # running tasks without a time limit
    queued: Mapping[UUID, Sequence[Attempt]]
    _played: dict[UUID, dict[Any, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        clusters: Iterable[Cluster],
        attempts: Sequence[Attempt],
        requests: Sequence[AdmissionRequest] = (),
    ) -> Forecast:
        """Load it with a fixed number of queries."""
        found = list(clusters)
        with platform_scope("what others run and wait for decides when a job starts"):
            queued = {cluster.id: list(_queue_of(cluster)) for cluster in found}
            asked = [request_of(a) for rows in (*queued.values(), attempts) for a in rows]
            limits = limits_of([*asked, *requests])
            machines = node_usage_in(found)
            running, endless = _running(machines, {meter.org_id for meter in limits})
        return cls(machines, limits, running, endless, queued)

    def of_attempt(self, attempt: Attempt) -> ExpectedStart:
        cluster = attempt.cluster
        at = self._starts(cluster).get(attempt.id)
        if at is not None:
            return self._about(at, cluster, attempt.state)
        ahead = [one for one in self.queued[cluster.id] if one.id != attempt.id]
        alone = self._task(attempt, cluster)
        return self._later(alone, cluster, len(ahead))

    def of_draft(self, draft: Draft, wait: Wait, facts: Mapping[str, Any]) -> ExpectedStart:
        cluster = draft.cluster
        names = self._names(cluster, draft.pool)
        task = self._pending(DRAFT, draft.request, draft.seconds or None, names)
        task = self._with_type(task, draft.request, wait, facts)
        ahead = [one for one in self.queued[cluster.id] if one.priority >= draft.priority]
        queue = [self._task(one, cluster) for one in ahead]
        at = self._play(cluster, [*queue, task]).get(DRAFT)
        if at is not None:
            return self._about(at, cluster, State.QUEUED)
        return self._later(task, cluster, len(ahead))

    def _about(self, at: float, cluster: Cluster, state: int) -> ExpectedStart:
        """Return the answer for a time at which the queue lets a task start."""
        places = Capability.PLACES in capabilities_of(cluster.backend)
        who = title_of(cluster.backend)
        if at <= clock.now().timestamp():
            if places or state == State.QUEUED:
                return ExpectedStart("now", Message("Now: there is room for it."), clock.now())
            return ExpectedStart(
                "unknown", Message("Unknown: {who} has room, and has not said when.", who=who)
            )
        text = Message("Starts about {at}, if running jobs use their whole time limits.")
        if not places:
            text = Message(
                "Starts about {at}, if running jobs use their whole time limits and {who} starts nothing "
                "else first.",
                at="{at}",
                who=who,
            )
        return _at("if_limits", datetime.fromtimestamp(at, UTC), text)

    def _later(self, task: PendingTask, cluster: Cluster, ahead: int) -> ExpectedStart:
        """Return the answer for a task that the whole queue never lets start."""
        at = self._play(cluster, [task]).get(task.key)
        if at is not None and ahead:
            text = Message.plural(
                ahead,
                "Not before {at}: {n} job is ahead, and its time limit is not known.",
                "Not before {at}: {n} jobs are ahead, and some have no time limit.",
                at="{at}",
                n=ahead,
            )
            return _at("not_before", datetime.fromtimestamp(at, UTC), text)
        if endless := self.endless.get(cluster.id, 0):
            return ExpectedStart(
                "unknown",
                Message.plural(
                    endless,
                    "Unknown: {n} running job has no time limit.",
                    "Unknown: {n} running jobs have no time limit.",
                    n=endless,
                ),
            )
        return ExpectedStart("unknown", Message("Unknown: no running job frees what it needs."))

    def _starts(self, cluster: Cluster) -> dict[Any, float]:
        if cluster.id not in self._played:
            queue = [self._task(one, cluster) for one in self.queued[cluster.id]]
            self._played[cluster.id] = self._play(cluster, queue)
        return self._played[cluster.id]

    def _play(self, cluster: Cluster, queue: Sequence[PendingTask]) -> dict[Any, float]:
        machines = self.machines[cluster.id]
        holds: Collection[ReservedGpus] = [hold for m in machines for hold in m.reserved_gpus]
        nodes = [machine.capacity for machine in machines]
        running = self.running.get(cluster.id, ())
        return starts(nodes, self.limits, running, queue, clock.now().timestamp(), holds)

    def _task(self, attempt: Attempt, cluster: Cluster) -> PendingTask:
        limit = attempt.job.spec.get("policy", {}).get("max_runtime")
        seconds = parse_duration(limit) if limit else None
        names = self._names(cluster, attempt.job.pool)
        request = request_of(attempt)
        task = self._pending(attempt.id, request, seconds, names)
        task = self._with_type(task, request, attempt.wait, attempt.wait_facts)
        # What its scheduler has already counts against its quotas.
        return task if attempt.state == State.QUEUED else replace(task, checked={}, meters={})

    def _pending(
        self,
        key: Any,
        request: AdmissionRequest,
        seconds: int | None,
        names: frozenset[str] | None,
    ) -> PendingTask:
        checked = {m: n for m, n in meters_of_request(request).items() if m in self.limits}
        held = {m: n for m, n in checked.items() if m.resource not in (GPU_HOURS, STORAGE)}
        return PendingTask(key, request.resources, request.team_id, seconds, names, checked, held)

    def _with_type(
        self, task: PendingTask, request: AdmissionRequest, wait: str, facts: Mapping[str, Any]
    ) -> PendingTask:
        """Add the meters of the GPU type whose limit a request for any type waits for."""
        resource = str(facts.get("resource", ""))
        if wait not in QUOTA_WAITS.values() or not resource.startswith("gpu."):
            return task
        kind, gpus = resource.removeprefix("gpu."), request.resources.in_all("gpu")
        more = {m: n for m, n in type_meters(request, {kind: gpus}).items() if m in self.limits}
        return replace(task, checked={**task.checked, **more}, meters={**task.meters, **more})

    def _names(self, cluster: Cluster, pool: Pool | None) -> frozenset[str] | None:
        """Return the nodes of a pool; where the portal places jobs, a pool restricts nothing."""
        if pool is None or Capability.PLACES in capabilities_of(cluster.backend):
            return None
        return frozenset(m.node.name for m in inside_of(pool, self.machines[cluster.id]))


def _queue_of(cluster: Cluster) -> QuerySet[Attempt]:
    """Return the tasks that wait for room, in the planner's order."""
    ready = Q(state=State.QUEUED, due_at__isnull=False) | (Q(state=State.SUBMITTED) & ~Q(wait=""))
    rows = Attempt.objects.filter(ready, cluster=cluster, is_current=True)
    waits = [str(wait) for wait in _WAITS_FOR_CAPACITY]
    rows = rows.filter(wait__in=["", *waits]).select_related("job__pool")
    return rows.order_by("-priority", "queued_at", "id")[:MOST_QUEUED]


def _running(
    machines: Mapping[UUID, Sequence[NodeUsage]], orgs: Collection[UUID]
) -> tuple[Mapping[UUID, Sequence[RunningTask]], Mapping[UUID, int]]:
    """Return the running tasks for each cluster, and how many of them have no time limit.

    Tasks of other clusters hold quotas of the same organizations, and nodes of none.
    """
    rows = Attempt.objects.filter(
        Q(cluster__in=list(machines)) | Q(org__in=list(orgs)),
        has_reservation=True,
        state__gt=State.QUEUED,
        state__lt=State.SUCCEEDED,
    ).exclude(state=State.SUBMITTED)
    limit = KeyTextTransform("max_runtime", KeyTransform("policy", "job__spec"))
    fields = ("cluster_id", "started_at", "node", "nodes", "placement", "job__resources", "limit")
    whose = ("gpu_types", "org_id", "job__team_id", "job__owner_id")
    found: dict[UUID, list[RunningTask]] = defaultdict(list)
    endless: dict[UUID, int] = defaultdict(int)
    types = {
        cluster: {m.node.name: list(m.gpus) for m in there} for cluster, there in machines.items()
    }
    now = clock.now()
    for row in (
        rows.annotate(limit=limit).order_by("id").values_list(*fields, *whose)[:MOST_RUNNING]
    ):
        cluster, since, node, nodes, placement, resources, text, kinds, org, team, owner = row
        ends = None
        if text:
            ends = ((since or now) + timedelta(seconds=parse_duration(text))).timestamp()
        on = nodes or ([node] if node else [])
        held = held_on(resources, on, types.get(cluster, {}))
        if placement:
            held = {
                part["node"]: _placed(part, held.get(part["node"], {}))
                for part in placed_on(placement)
            }
        task = RunningTask(ends, held, quota_meters(org, team, owner, held_by(resources, kinds)))
        endless[cluster] += ends is None
        for one in machines:
            if one == cluster:
                found[one].append(task)
            elif org in orgs:
                found[one].append(RunningTask(ends, {}, task.meters))
    return found, endless


def _placed(placement: Mapping[str, Any], held: Mapping[str, int]) -> Mapping[str, int]:
    """Return what the portal assigned: its amounts, and the GPUs by type as they were asked for."""
    kinds = {name: n for name, n in held.items() if name.startswith("gpu.")}
    gpus = gpu_amounts({name[4:]: n for name, n in kinds.items()}) if kinds else {}
    return {
        "cpu": placement["cpus"],
        "memory": placement["memory"],
        "gpu": len(placement["uuids"]),
        **gpus,
    }
