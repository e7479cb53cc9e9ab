"""Explain Slurm's pending reason: the limit or nodes, who uses them, and the smallest change.

Pure. Slurm's own reason comes first. If the data read from Slurm contradicts it (a limit has
changed, jobs are not visible), only the reason is shown, without numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from portal.core.messages import Message
from schedulers import explanations
from schedulers.cached import AnswerCache
from schedulers.capacity import Candidates, capacity_of
from schedulers.contract import NodeFacts, PendingReason
from schedulers.slurm import pending_reasons
from schedulers.slurm.limits import AppliedLimit, SlurmLimits, over
from schedulers.slurm.queue import Queued
from schedulers.slurm.rows import Row
from schedulers.slurm.usage import LimitUsage, sentence
from schedulers.states import Wait

_LIMIT = re.compile(
    r"(?:(Assoc|QOS)(Grp|Max)|(Max)(?=.*PerAccount))"
    r"(Cpu|CPU|Node|Mem(?:ory)?|GRES|Gres|Jobs?)(Per(?:User|Account|Job|Node))?(?:Limit)?"
)
_KIND = {
    "cpu": "cpu",
    "node": "nodes",
    "mem": "memory",
    "memory": "memory",
    "gres": "gpu",
    "job": "jobs",
    "jobs": "jobs",
}
_ROUND = timedelta(minutes=5)
_MANY = 100


@dataclass(frozen=True)
class SlurmSnapshot:
    """A snapshot of Slurm.

    `users` are the system users that jobs of this portal run as. Jobs with equal requests in the
    same place get the same explanation.
    """

    queue: Sequence[Queued] = ()
    nodes: Sequence[NodeFacts] = ()
    limits: SlurmLimits = field(default_factory=SlurmLimits)
    by_id: Mapping[int, Queued] = field(default_factory=dict)
    users: frozenset[str] = frozenset()
    usage: LimitUsage | None = None
    answers: AnswerCache = field(default_factory=AnswerCache, compare=False, repr=False)

    def of(self, number: int) -> Queued | None:
        return self.by_id.get(number)

    def before(self, job: Queued) -> int:
        """Return how many pending jobs are ahead in one of the job's partitions.

        A job is ahead with a higher priority, or with the same priority and an earlier submission.
        """
        ahead = [
            line[: bisect_left(line, _turn(job))]
            for name in job.partitions
            if (line := self._lines.get(name))
        ]
        return len(ahead[0]) if len(ahead) == 1 else len({turn for line in ahead for turn in line})

    @property
    def holding(self) -> list[Queued]:
        return self.answers.once("holding", lambda: [one for one in self.queue if one.is_held])

    @property
    def _lines(self) -> Mapping[str, list[tuple[int, int]]]:
        return self.answers.once("lines", lambda: _lines(self.queue))


def _turn(job: Queued) -> tuple[int, int]:
    return -job.priority, job.row.id


def _lines(queue: Sequence[Queued]) -> dict[str, list[tuple[int, int]]]:
    """Group the pending jobs by partition, in order of priority."""
    lines: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for job in queue:
        if job.row.state == "PENDING":
            for name in set(job.partitions):
                lines[name].append(_turn(job))
    return {name: sorted(line) for name, line in lines.items()}


def _shape(job: Queued) -> Hashable:
    """Return what the numbers depend on, except for the job's position in the queue."""
    row = job.row
    return job.need, job.features, row.partition, row.account, row.qos, row.user


def picture_of(
    queue: Sequence[Queued],
    nodes: Sequence[NodeFacts],
    limits: SlurmLimits,
    users: Collection[str] = (),
    usage: LimitUsage | None = None,
) -> SlurmSnapshot:
    by_id = {one.row.id: one for one in queue}
    return SlurmSnapshot(queue, nodes, limits, by_id, frozenset(users), usage)


def explained(row: Row, snapshot: SlurmSnapshot | None) -> PendingReason:
    """Explain a pending job: as reasons.waiting, plus the numbers of the snapshot.

    Cached for rows that do not change between polls.
    """
    return (
        snapshot.answers.once(row, lambda: _explained(row, snapshot))
        if snapshot
        else pending_reasons.waiting(row)
    )


def _explained(row: Row, snapshot: SlurmSnapshot) -> PendingReason:
    plain = pending_reasons.waiting(row)
    job = snapshot.of(row.id)
    if job is None:
        return plain
    if plain.wait == Wait.BEHIND:
        return _expected(_behind(plain, job, snapshot), row)
    return _expected(
        snapshot.answers.once(
            (plain.native_reason, plain.wait, _shape(job)),
            lambda: _with_numbers(plain, job, snapshot),
        ),
        row,
    )


def _with_numbers(plain: PendingReason, job: Queued, snapshot: SlurmSnapshot) -> PendingReason:
    scene, limits = scene_of(job, snapshot)
    explanation = None
    if found := _LIMIT.fullmatch(plain.native_reason):
        explanation = _by_limit(plain, job, scene, _responsible(found, job, limits), snapshot)
    elif plain.wait in (Wait.CAPACITY, Wait.NODES_DOWN) and plain.native_reason not in (
        "Licenses",
        "FedJobLock",
    ):
        explanation = _by_capacity(plain, job, scene, snapshot)
    return explanation or _by_usage(plain, job, snapshot) or plain


def _by_usage(plain: PendingReason, job: Queued, snapshot: SlurmSnapshot) -> PendingReason | None:
    """Explain a limit whose use only Slurm counts, such as minutes."""
    text = sentence(plain.native_reason, job, snapshot.limits, snapshot.usage)
    return replace(plain, text=text) if text else None


def scene_of(job: Queued, snapshot: SlurmSnapshot) -> tuple[Candidates, list[AppliedLimit]]:
    """Return the nodes and limits that apply to a job."""
    row, once = job.row, snapshot.answers.once
    limits = once(
        ("limits", row.account, row.user, row.qos, row.partition, job.need.gpu_type),
        lambda: over(job, snapshot.limits, snapshot.holding),
    )
    nodes = once(
        ("nodes", row.partition, job.features),
        lambda: [capacity_of(node) for node in _usable(job, snapshot.nodes)],
    )
    return Candidates(nodes, [one.cap for one in limits]), limits


def _reserved(plain: PendingReason, job: Queued, snapshot: SlurmSnapshot) -> PendingReason | None:
    """Explain a job for which only reserved nodes have room."""
    usable = _usable(job, snapshot.nodes)
    kept = [node for node in usable if node.is_reserved]
    rest = Candidates([capacity_of(node) for node in usable if not node.is_reserved])
    if not kept or rest.admits(job.need):
        return None
    return replace(
        plain,
        wait=Wait.RESERVED,
        text=Message(
            "The nodes of partition {name} with room for it are reserved for others.",
            name=job.row.partition,
        ),
        advice=explanations.ADVICE[Wait.RESERVED],
        facts={**plain.facts, "reserved_nodes": len(kept)},
    )


def _usable(job: Queued, nodes: Sequence[NodeFacts]) -> list[NodeFacts]:
    """Return the nodes of its partitions with the requested features.

    Only a plain list of features is evaluated.
    """
    wanted = (
        set(job.features.split("&")) if re.fullmatch(r"[\w.-]+(&[\w.-]+)*", job.features) else set()
    )
    return [
        node
        for node in nodes
        if set(node.partitions) & set(job.partitions) and wanted <= set(node.labels)
    ]


def _responsible(
    found: re.Match[str], job: Queued, limits: Sequence[AppliedLimit]
) -> AppliedLimit | None:
    """Return the limit that Slurm's reason refers to: of that kind, and currently reached."""
    source, kind = found[1] or "QOS", _KIND[found[4].lower()]
    each = (found[5] or "").removeprefix("Per").lower()
    if not each and (found[2] or found[3]) == "Max":
        each = "user"
    return next(
        (
            one
            for one in limits
            if (one.source, one.cap.kind, one.cap.each) == (source, kind, each)
            and one.cap.refuses(job.need)
        ),
        None,
    )


def _by_limit(
    plain: PendingReason,
    job: Queued,
    scene: Candidates,
    blamed: AppliedLimit | None,
    snapshot: SlurmSnapshot,
) -> PendingReason | None:
    if blamed is None:
        return None
    text, facts = explanations.limit(blamed.cap, job.need)
    change = scene.smallest_change(job.need)
    if blamed.cap.refuses_for_ever(job.need):
        return replace(
            plain,
            wait=Wait.IMPOSSIBLE,
            text=text,
            advice=Message("Ask for less, or let the operator of the cluster raise the limit."),
            facts={**plain.facts, **facts, **explanations.changed(change)},
        )
    return replace(
        plain,
        wait=Wait.CLUSTER_LIMIT,
        text=text,
        facts={
            **plain.facts,
            **facts,
            **_held(job, blamed.holders, blamed.cap.kind, snapshot),
            **explanations.changed(change),
        },
    )


def _by_capacity(
    plain: PendingReason, job: Queued, scene: Candidates, snapshot: SlurmSnapshot
) -> PendingReason | None:
    """Explain missing resources: full, fragmented, or nodes out of service.

    Slurm may also keep free nodes for a job of higher priority; then its reason stands alone.
    """
    seen = Candidates(scene.nodes).judge(job.need)
    if seen.wait not in (Wait.CAPACITY, Wait.SCATTERED, Wait.NODES_DOWN, Wait.IMPOSSIBLE):
        if reserved := _reserved(plain, job, snapshot):
            return reserved
        return (
            replace(plain, facts={**plain.facts, **explanations.free_resources(scene, job.need)})
            if plain.wait == Wait.CAPACITY
            else None
        )
    text, facts = explanations.nodes(
        seen,
        scene,
        job.need,
        Message("partition {name}", context="part of a sentence", name=job.row.partition),
    )
    holders = [other for other in snapshot.holding if set(other.partitions) & set(job.partitions)]
    held = (
        _held(job, holders, seen.kind or "gpu", snapshot)
        if seen.wait in (Wait.CAPACITY, Wait.SCATTERED)
        else {}
    )
    advice = explanations.ADVICE[seen.wait]
    return replace(
        plain,
        wait=seen.wait,
        text=text,
        advice=advice,
        facts={
            **plain.facts,
            **facts,
            **held,
            **explanations.changed(scene.smallest_change(job.need)),
        },
    )


def _behind(plain: PendingReason, job: Queued, snapshot: SlurmSnapshot) -> PendingReason:
    """Explain how many jobs are ahead, and whether there would be room.

    Large numbers are rounded, as each change is written for every pending job.
    """
    first = snapshot.before(job)
    if not first:
        return plain
    first = first if first < _MANY else round(first, 2 - len(str(first)))
    partition = job.row.partition
    many = (
        Message("1 job comes first in partition {partition}.", partition=partition)
        if first == 1
        else Message(
            "{first} jobs come first in partition {partition}.", first=first, partition=partition
        )
        if first < _MANY
        else Message(
            "About {first} jobs come first in partition {partition}.",
            first=f"{first:,}",
            partition=partition,
        )
    )
    fitting, free = snapshot.answers.once(("free", _shape(job)), lambda: _capacity(job, snapshot))
    return replace(
        plain,
        text=Message.joined(" ", (many, fitting)),
        facts={**plain.facts, **free, "before": first},
    )


def _capacity(job: Queued, snapshot: SlurmSnapshot) -> tuple[str, dict[str, Any]]:
    scene, _ = scene_of(job, snapshot)
    return explanations.fitting(scene, job.need), explanations.free_resources(scene, job.need)


def _held(
    job: Queued, holders: Sequence[Queued], kind: str, snapshot: SlurmSnapshot
) -> dict[str, Any]:
    """Return who uses the resource.

    Our jobs by key, and the count and sum of all others: the viewer is unknown here.
    """
    holding, users = (
        [other for other in holders if other.amount(kind)],
        snapshot.users | {job.row.user},
    )
    ours = [
        (other.row.key, other.amount(kind), other.row.started)
        for other in holding
        if other.row.user in users
    ]
    return explanations.held(
        ours, [other.amount(kind) for other in holding if other.row.user not in users]
    )


def _expected(plain: PendingReason, row: Row) -> PendingReason:
    """Return the start time that Slurm expects, rounded to five minutes.

    Slurm changes its estimate every few seconds.
    """
    if not row.started or plain.wait not in (
        Wait.CAPACITY,
        Wait.SCATTERED,
        Wait.BEHIND,
        Wait.CLUSTER_LIMIT,
    ):
        return plain
    seconds = _ROUND.total_seconds()
    at = datetime.fromtimestamp(-(-row.started // seconds) * seconds, UTC)
    return replace(plain, facts={**plain.facts, "expected": at.isoformat()})
