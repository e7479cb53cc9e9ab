"""Explain failed attempts by the errors (XIDs) that their GPUs reported while they ran.

An error of the hardware is the platform's fault, and the next attempt avoids that GPU or node. An
error that programs cause is named in the evidence. Where it is not known which GPUs an attempt had,
errors of its nodes count: of the hardware always, of programs only if it had all GPUs of the node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from clusters.models import Device, Node
from jobs.models import Attempt
from jobs.models.attempt import placed_on
from jobs.specs.stored import spec_of
from portal import series
from portal.core import clock
from portal.core.messages import Message
from portal.core.models import Event
from schedulers.states import Reason, State
from schedulers.xids import Xid, XidClass, xid_of

BEFORE, AFTER = timedelta(seconds=5), timedelta(seconds=30)  # around a run, for its errors
LATE = timedelta(minutes=10)  # how long after its end an attempt is still explained
PATIENCE = timedelta(seconds=15)  # how long an end waits for the report of the node's agent
MAX_SKEW = timedelta(hours=1)  # of a node's clock; beyond, the time of arrival counts
# Ends that a GPU error can cause; a scheduler sees only the exit code, or the node's loss.
EXPLAINED = frozenset(
    {
        Reason.USER_ERROR,
        Reason.KILLED_BY_SIGNAL,
        Reason.NODE_FAILED,
        Reason.INTERRUPTED,
        Reason.LOST,
    }
)
_BY_PROGRAM = frozenset({Reason.USER_ERROR, Reason.KILLED_BY_SIGNAL})
Place = tuple[UUID, str]  # cluster and node


@dataclass(frozen=True)
class GpuError:
    """One XID. `gpu` is None if the driver no longer knows which GPU it was."""

    at: datetime
    node: str
    gpu: int | None
    uuid: str
    xid: Xid
    jobs: Sequence[str]

    @property
    def text(self) -> Message:
        if self.gpu is None:
            return Message(
                "A GPU on node {node} reported XID {code} ({meaning}).",
                node=self.node,
                code=self.xid.code,
                meaning=self.xid.meaning,
            )
        return Message(
            "GPU {gpu} on node {node} reported XID {code} ({meaning}).",
            gpu=self.gpu,
            node=self.node,
            code=self.xid.code,
            meaning=self.xid.meaning,
        )


def explain(ended: Sequence[Attempt]) -> list[Attempt]:
    """Set reason and evidence of attempts that a GPU error explains; return those that changed.

    What the next attempt should avoid is in `avoid_next`.
    """
    due = [a for a in ended if _is_explainable(a)]
    if not due:
        return []
    errors = _errors_of(due)
    changed = []
    for attempt in due:
        mine = [e for place in places_of(attempt) for e in errors.get(place, ())]
        mine = [e for e in mine if e.xid.code and _is_during(attempt, e)]
        worst = next((e for e in mine if e.xid.kind.is_hardware), None)
        programs = attempt.reason in _BY_PROGRAM and [
            e for e in mine if e.xid.kind is XidClass.PROGRAM
        ]
        if worst:
            attempt.reason = Reason.XID
            attempt.evidence = Message.joined(" ", (worst.text, attempt.evidence))
            attempt.avoid_next = _with_avoided(attempt, worst)
            changed.append(attempt)
        elif programs:
            cause = Message(
                "This is an error of the program, such as an access outside its memory."
            )
            attempt.evidence = Message.joined(" ", (programs[0].text, cause, attempt.evidence))
            changed.append(attempt)
    return changed


def _is_explainable(attempt: Attempt) -> bool:
    return bool(
        attempt.state == State.FAILED
        and attempt.reason in EXPLAINED
        and attempt.started_at
        and attempt.node
        and attempt.job.resources.get("gpu")
        and " XID " not in attempt.evidence
    )


def places_of(attempt: Attempt) -> list[Place]:
    """Return the nodes of an attempt."""
    return [(attempt.cluster_id, name) for name in attempt.nodes or [attempt.node]]


def _errors_of(attempts: Sequence[Attempt]) -> dict[Place, list[GpuError]]:
    """Return the errors that count for these attempts, by node and time."""
    places = {place for attempt in attempts for place in places_of(attempt)}
    nodes = {
        pk: (cluster, name)
        for pk, cluster, name in Node.objects.filter(
            cluster__in={cluster for cluster, _ in places}, name__in={name for _, name in places}
        ).values_list("id", "cluster_id", "name")
        if (cluster, name) in places
    }
    since = min(a.started_at for a in attempts if a.started_at) - MAX_SKEW
    rows = Event.objects.filter(
        subject_id__in=list(nodes), kind="node.xid", at__gte=since
    ).order_by("position")
    uuids = _uuids(nodes)
    found: dict[Place, list[GpuError]] = defaultdict(list)
    for row in rows:
        if row.subject_id is not None and (error := _error(row, nodes[row.subject_id][1], uuids)):
            found[nodes[row.subject_id]].append(error)
    return found


def _uuids(nodes: Iterable[UUID]) -> dict[tuple[UUID, int], str]:
    rows = Device.objects.filter(node__in=list(nodes)).values_list("node_id", "index", "uuid")
    return {(node, index): uuid for node, index, uuid in rows}


def _error(row: Event, node: str, uuids: Mapping[tuple[UUID, int], str]) -> GpuError | None:
    data, code = row.data, row.data.get("code")
    if not isinstance(code, int) or isinstance(code, bool) or row.subject_id is None:
        return None
    gpu = data.get("gpu")
    index = gpu if isinstance(gpu, int) and not isinstance(gpu, bool) else None
    return GpuError(
        _time(row),
        node,
        index,
        uuids.get((row.subject_id, index), "") if index is not None else "",
        xid_of(code, str(data.get("meaning", "")), str(data.get("action", ""))),
        data.get("jobs") or (),
    )


def _time(row: Event) -> datetime:
    """Return when it happened: by the node's clock, unless that is far off."""
    at = row.data.get("at")
    if isinstance(at, int) and 0 < at < 1 << 43:
        reported_at = datetime.fromtimestamp(at / 1000, UTC)
        if abs(reported_at - row.at) < MAX_SKEW:
            return reported_at
    return row.at


def _is_during(attempt: Attempt, error: GpuError) -> bool:
    """Return whether the error was on a GPU of the attempt while it ran."""
    assert attempt.started_at is not None
    end = attempt.finished_at or clock.now()
    if not attempt.started_at - BEFORE <= error.at <= end + AFTER:
        return False
    if attempt.key in error.jobs:
        return True
    known = [uuid for part in placed_on(attempt.placement) for uuid in part["uuids"]]
    if known and error.uuid and not any(str(uuid).startswith("MIG-") for uuid in known):
        return error.uuid in known
    return error.xid.kind.is_hardware or _has_whole_node(attempt, error.node)


def _has_whole_node(attempt: Attempt, node: str) -> bool:
    gpus = Device.objects.filter(node__cluster=attempt.cluster_id, node__name=node).aggregate(
        n=Count("id")
    )["n"]
    asked = attempt.job.resources.get("gpu", 0) // max(len(places_of(attempt)), 1)
    return bool(0 < gpus <= asked)


def _with_avoided(attempt: Attempt, error: GpuError) -> dict[str, list[str]]:
    """Return what the attempts of this task avoid by now: nodes, and GPUs by UUID."""
    before = attempt.avoid or {}
    gpus = [*before.get("gpus", []), *([error.uuid] if error.uuid else [])]
    nodes = [*before.get("nodes", []), error.node]
    return {"nodes": list(dict.fromkeys(nodes))[-20:], "gpus": list(dict.fromkeys(gpus))[-20:]}


def ended_late(cluster_id: UUID, node: str) -> list[UUID]:
    """Return attempts on a node that failed a moment ago without this explanation."""
    rows = Attempt.objects.filter(
        cluster=cluster_id,
        state=State.FAILED,
        reason__in=EXPLAINED,
        finished_at__gte=clock.now() - LATE,
    ).filter(Q(node=node) | Q(nodes__isnull=False))
    return [
        pk
        for pk, first, several in rows.values_list("id", "node", "nodes")[:1000]
        if node in (several or [first])
    ]


def awaiting_agents(ends: Mapping[UUID, datetime | None]) -> set[UUID]:
    """Return attempts whose failure should be judged only after the agents' next reports.

    Of the ended ones (with the time of the end) those that may be retried if a GPU was at fault, and
    on whose nodes an agent reports but has not since. The wait is a few seconds at most.
    """
    now = clock.now()
    # A clock of a node that is ahead must not make an end wait until then
    fresh = {pk for pk, at in ends.items() if at is not None and abs(now - at) < PATIENCE}
    rows = Attempt.objects.filter(id__in=fresh, job__resources__has_key="gpu").exclude(node="")
    waiting = [a for a in rows.select_related("job") if _may_retry_xid(a)]
    if not waiting:
        return set()
    names = {place for attempt in waiting for place in places_of(attempt)}
    nodes = {
        (cluster, name): f"node:{pk.hex}"
        for pk, cluster, name in Node.objects.filter(
            cluster__in={c for c, _ in names}, name__in={n for _, n in names}
        ).values_list("id", "cluster_id", "name")
    }
    reported = series.latest_times(list(nodes.values()), ["memory.used"])
    oldest = int((now - timedelta(minutes=2)).timestamp() * 1000)

    def is_behind(attempt: Attempt) -> bool:
        end = ends[attempt.id]
        ended = int(end.timestamp() * 1000) if end else 0
        times = [reported.get(nodes.get(place, ""), 0) for place in places_of(attempt)]
        return any(oldest <= at <= ended for at in times)

    return {attempt.id for attempt in waiting if is_behind(attempt)}


def _may_retry_xid(attempt: Attempt) -> bool:
    policy: Any = spec_of(attempt.job).policy
    return attempt.ordinal <= policy.retries and (
        not policy.retry_on or Reason.XID in policy.retry_on
    )
