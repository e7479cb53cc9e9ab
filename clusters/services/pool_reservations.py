"""Reservations: GPUs that a cluster keeps for one team, because a request for a pool was approved.

An approval chooses the nodes and writes the row; `reconcile` makes the cluster agree with the rows.
It is idempotent, so it continues after a crash and repairs what was changed by hand. It never takes
other nodes than the row names, and only replaces those that are gone.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from django.db import transaction
from django.db.models import Max, Q

from clusters.backends import backend_of
from clusters.capacity import inside_of, natural
from clusters.models import Cluster, Pool, PoolGrant, PoolRequest, PoolReservation
from clusters.node_capacity import NodeUsage, node_usage_of
from clusters.workload import ReservationPreviewShape, workload
from portal.core import clock
from portal.core.errors import Conflict, PortalError
from portal.core.events import EventRecord, record
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.core.wakeups import wake_worker
from schedulers import backends, capabilities_of
from schedulers.contract import (
    Capability,
    Identity,
    Rejected,
    ReservationFacts,
    ReservationRequest,
    ReservationScope,
    SupportsReservations,
    Unavailable,
)
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
State = PoolReservation.State
REMEMBERED = timedelta(days=1)  # for which a cluster is searched for leftovers of ended ones
SHOWN_NODES = 6


@dataclass(frozen=True)
class ReservationPreview:
    """What an approval would keep for the team, and how.

    `gpus` may be more than requested if whole nodes are kept. `busy` are the GPUs of others that
    must become free first. `problem` says why it cannot be done; then nothing is kept.
    """

    text: str
    nodes: Mapping[str, int]
    gpus: int = 0
    busy: int = 0
    problem: str = ""

    def as_dict(self) -> ReservationPreviewShape:
        return {
            "text": self.text,
            "nodes": sorted(self.nodes, key=natural),
            "gpus": self.gpus,
            "must_become_free": self.busy,
            "problem": self.problem,
        }


def scope_of(cluster: Cluster) -> ReservationScope:
    """Return what the cluster keeps for a team; where the portal places jobs, it keeps GPUs."""
    if cluster.backend not in backends():
        return ReservationScope.NONE
    able_to = capabilities_of(cluster.backend, lambda: cluster.config)
    if Capability.PLACES in able_to:
        return ReservationScope.GPUS
    if Capability.RESERVATIONS not in able_to:
        return ReservationScope.NONE
    return _native(cluster).reservation_scope


def preview(row: PoolRequest, pool: Pool, machines: Sequence[NodeUsage]) -> ReservationPreview:
    """Return what approving the request in this pool would do. `machines`: the cluster's nodes."""
    cluster = pool.cluster
    try:
        scope = scope_of(cluster)
    except (Rejected, Unavailable) as error:
        return ReservationPreview("", {}, problem=str(error))
    if scope == ReservationScope.NONE:
        nothing = Message(
            "{name} keeps nothing for single teams: other teams with access can use these GPUs.",
            name=cluster.name,
        )
        return ReservationPreview(nothing, {})
    earlier = _extended(row, pool)
    try:
        nodes = (
            earlier.nodes
            if earlier and _is_free(earlier, row, cluster)
            else _choose(row, pool, machines, scope)
        )
        name = earlier.name if earlier and nodes is earlier.nodes else name_of(cluster, row)
        text = _text(cluster, _request(name, row, pool, nodes))
    except (PortalError, Rejected, Unavailable) as error:
        return ReservationPreview("", {}, problem=str(error))
    return ReservationPreview(text, nodes, sum(nodes.values()), busy_gpus(row, nodes, machines))


def reserve_for(row: PoolRequest, machines: Sequence[NodeUsage]) -> None:
    """Write the reservation of a request that is being approved, or extend that which it renews.

    Call it with the cluster locked. Raises Conflict if there are not enough nodes left.
    """
    assert row.pool is not None
    cluster, pool = row.pool.cluster, row.pool
    try:
        scope = scope_of(cluster)
    except (Rejected, Unavailable) as error:
        raise Conflict(str(error), code="cluster_settings") from error
    if scope == ReservationScope.NONE:
        return
    wake_worker("clusters.run_pool_requests")
    earlier = _extended(row, pool)
    if earlier and _is_free(earlier, row, cluster):
        PoolReservation.objects.filter(id=earlier.id).update(ends_at=row.ends_at)
        row.reservation = earlier
        return
    nodes = _choose(row, pool, machines, scope)
    try:
        _text(cluster, _request(name_of(cluster, row), row, pool, nodes))
    except (Rejected, Unavailable) as error:
        raise Conflict(str(error), code="cluster_settings") from error
    row.reservation = PoolReservation.objects.create(
        org_id=row.org_id,
        team=row.team,
        cluster=cluster,
        pool=pool,
        name=name_of(cluster, row),
        gpu_type=row.gpu_type,
        gpus=row.gpus,
        nodes=nodes,
        is_whole=scope != ReservationScope.GPUS,
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        state=State.PENDING if row.starts_at <= clock.now() else State.PLANNED,
    )


def end_for(row: PoolRequest) -> None:
    """End the reservation of a request that has ended, unless a renewal goes on with it."""
    if row.reservation_id is None:
        return
    others = PoolRequest.objects.filter(
        reservation=row.reservation_id, state=PoolRequest.State.APPROVED
    ).exclude(id=row.id)
    last = others.aggregate(end=Max("ends_at"))["end"]
    PoolReservation.objects.filter(id=row.reservation_id).update(ends_at=last or clock.now())
    wake_worker("clusters.run_pool_requests")


def reconcile() -> None:
    """Make every cluster agree with its reservations. Run in a platform scope, without a lock."""
    recent = clock.now() - REMEMBERED
    rows = PoolReservation.objects.filter(~Q(state=State.ENDED) | Q(ended_at__gt=recent))
    for cluster in Cluster.objects.filter(id__in=rows.values("cluster")):
        try:
            _reconcile(cluster)
        except Exception:
            log.exception("reservations of cluster %s", cluster.name)


def busy_gpus(
    row: PoolRequest | PoolReservation, nodes: Mapping[str, int], machines: Sequence[NodeUsage]
) -> int:
    """Count the GPUs of these nodes that jobs of others use and the team was promised."""
    used = workload().gpus_used_by([row.team_id], {m.node.cluster_id for m in machines})
    busy = 0
    for machine in machines:
        if gpus := nodes.get(machine.node.name, 0):
            own = used.get((machine.node.cluster_id, machine.node.name, row.team_id), Counter())
            unused = machine.capacity.free.get(f"gpu.{row.gpu_type}", 0)
            busy += max(gpus - own[row.gpu_type] - own[""] - unused, 0)
    return busy


def name_of(cluster: Cluster, row: PoolRequest) -> str:
    """Return the name of a request's reservation in its cluster."""
    return f"{_prefix(cluster)}{row.id.hex[-10:]}"


def nodes_text(nodes: Iterable[str]) -> str:
    """Return names for people: "n1, n2 and 3 more"."""
    names = sorted(nodes, key=natural)
    if len(names) <= SHOWN_NODES:
        return ", ".join(names)
    shown = ", ".join(names[: SHOWN_NODES - 1])
    return Message(
        "{names} and {n} more",
        context="text, clusters",
        names=shown,
        n=len(names) - SHOWN_NODES + 1,
    )


def _prefix(cluster: Cluster) -> str:
    """Return the beginning of the names: that of this portal's cluster, and of no other's."""
    return f"muster-{cluster.id.hex[-8:]}-"


def _native(cluster: Cluster) -> SupportsReservations:
    return cast(SupportsReservations, backend_of(cluster))


def _is_native(cluster: Cluster) -> bool:
    """Return whether the cluster keeps the GPUs, not the portal's own admission."""
    return Capability.RESERVATIONS in capabilities_of(cluster.backend, lambda: cluster.config)


def _text(cluster: Cluster, request: ReservationRequest) -> str:
    if _is_native(cluster):
        return _native(cluster).plan_reservation(request)
    return Message.plural(
        request.gpus,
        "Keeps {n} {type} GPU on {nodes} for the team: jobs of other teams wait.",
        "Keeps {n} {type} GPUs on {nodes} for the team: jobs of other teams wait.",
        n=request.gpus,
        type=gpu_text(request.gpu_type),
        nodes=nodes_text(request.nodes),
    )


def _request(
    name: str, row: PoolRequest | PoolReservation, pool: Pool, nodes: Iterable[str]
) -> ReservationRequest:
    grant = PoolGrant.objects.filter(pool=pool, team=row.team_id).first()
    return ReservationRequest(
        name,
        row.gpu_type,
        row.gpus,
        row.ends_at,
        tuple(sorted(nodes, key=natural)),
        row.org.slug,
        row.team.slug,
        Identity(grant.run_as, grant.account, grant.qos) if grant else Identity(),
        pool.partition,
        dict(pool.labels),
    )


def _extended(row: PoolRequest, pool: Pool) -> PoolReservation | None:
    """Return the reservation that a renewal goes on with: of the same GPUs, without a gap."""
    earlier = row.renews.reservation if row.renews else None
    fits = (
        earlier is not None
        and earlier.state != State.ENDED
        and (earlier.pool_id, earlier.gpu_type, earlier.gpus, earlier.team_id)
        == (pool.id, row.gpu_type, row.gpus, row.team_id)
        and row.starts_at <= earlier.ends_at
    )
    return earlier if fits else None


def _is_free(earlier: PoolReservation, row: PoolRequest, cluster: Cluster) -> bool:
    """Return whether nobody else was promised the same nodes for the time of a renewal."""
    held = _held(cluster, row.starts_at, row.ends_at, row.gpu_type, without=earlier)
    machines = {m.node.name: m for m in node_usage_of(cluster)} if held else {}
    return all(
        node not in held
        or (
            not earlier.is_whole
            and node in machines
            and machines[node].gpus.get(row.gpu_type, 0) - held[node] >= gpus
        )
        for node, gpus in earlier.nodes.items()
    )


def _held(
    cluster: Cluster,
    start: datetime,
    end: datetime,
    gpu_type: str,
    without: PoolReservation | None = None,
) -> Counter[str]:
    """Return the GPUs by node that are promised to others in this time; whole nodes with all."""
    held: Counter[str] = Counter()
    with platform_scope("reservations of every organization exclude each other"):
        rows = PoolReservation.objects.exclude(state=State.ENDED).filter(
            cluster=cluster, starts_at__lt=end, ends_at__gt=start
        )
        for one in rows.exclude(id=without.id) if without else rows:
            if one.is_whole or one.gpu_type == gpu_type:
                held.update(one.nodes)
    return held


def _choose(
    row: PoolRequest | PoolReservation,
    pool: Pool,
    machines: Sequence[NodeUsage],
    scope: ReservationScope,
    keep: Mapping[str, int] | None = None,
) -> dict[str, int]:
    """Choose nodes with enough GPUs: those in service first, then those with the fewest in use.

    `keep` are already part of it. Raises Conflict if too few are left for that time.
    """
    is_whole = scope != ReservationScope.GPUS
    without = row if isinstance(row, PoolReservation) else None
    held = _held(pool.cluster, row.starts_at, row.ends_at, row.gpu_type, without)
    chosen = dict(keep or {})
    options = []
    for machine in inside_of(pool, machines):
        name, total = machine.node.name, machine.gpus.get(row.gpu_type, 0)
        left = total if not held[name] else 0 if is_whole else total - held[name]
        if left > 0 and name not in chosen:
            unused = machine.capacity.free.get(f"gpu.{row.gpu_type}", 0)
            rank = (machine.node.state != "ready", max(left - unused, 0))
            options.append((rank, -left, natural(name), name))
    options.sort()
    if scope == ReservationScope.POOL:
        if any(held[machine.node.name] for machine in inside_of(pool, machines)):
            options.clear()
        chosen |= {name: -left for _, left, _, name in options}
    need = row.gpus - sum(chosen.values())
    while need > 0 and options:
        best = options[0]
        enough = [one for one in options if one[0] == best[0] and -one[1] >= need]
        taken = max(enough, key=lambda one: one[1]) if enough else best
        options.remove(taken)
        chosen[taken[3]] = -taken[1] if is_whole else min(-taken[1], need)
        need += taken[1]
    if need > 0:
        raise Conflict(
            Message(
                "{name} has too few nodes that are not reserved for that time. Approve fewer GPUs, "
                "or choose another pool.",
                name=pool.name,
            ),
            code="not_enough",
        )
    return chosen


def _reconcile(cluster: Cluster) -> None:
    known: dict[str, ReservationFacts] | None = None
    left: dict[str, Exception] = {}  # what could not be removed, and why
    trouble: Exception | None = None
    if _keeps(cluster) and _is_native(cluster):
        try:
            known = {one.name: one for one in _native(cluster).reservations(_prefix(cluster))}
        except (Rejected, Unavailable) as error:
            trouble = error
    # Read afterwards: what another process makes meanwhile has a row, and is no leftover
    now = clock.now()
    rows = list(
        PoolReservation.objects.select_related("org", "team", "pool__cluster", "cluster")
        .exclude(state=State.ENDED)
        .filter(cluster=cluster, starts_at__lte=now)
    )
    due = [row for row in rows if row.ends_at > now and _has_access(row)]
    if not _keeps(cluster):
        _give_up(cluster, rows, due)
        return
    if trouble:
        for row in rows:
            _note(row, _failed(row, trouble), str(trouble))
        return
    if known is not None:
        over = {row.name: row.pool.partition if row.pool else "" for row in rows if row not in due}
        unknown = known.keys() - {row.name for row in due}
        left = _remove(cluster, dict.fromkeys(unknown, "") | over)
    machines = node_usage_of(cluster) if due else []
    for row in rows:
        if row in due:
            _apply(row, machines, known)
        elif row.name in left:
            _note(row, _failed(row, left[row.name]), str(left[row.name]))
        else:
            _note(row, State.ENDED)


def _keeps(cluster: Cluster) -> bool:
    able_to = capabilities_of(cluster.backend, lambda: cluster.config)
    return Capability.PLACES in able_to or Capability.RESERVATIONS in able_to


def _give_up(
    cluster: Cluster, rows: Iterable[PoolReservation], due: Collection[PoolReservation]
) -> None:
    """Remove what a cluster keeps whose settings no longer allow it, and say so."""
    if Capability.RESERVATIONS in capabilities_of(cluster.backend):
        try:
            found = _native(cluster).reservations(_prefix(cluster))
            _remove(cluster, {one.name: "" for one in found})
        except (Rejected, Unavailable) as error:
            log.warning("reservations of cluster %s are not removed: %s", cluster.name, error)
    text = Message(
        "The settings of {name} no longer keep GPUs for single teams.", name=cluster.name
    )
    for row in rows:
        row.applied_at = None if row in due else row.applied_at
        _note(row, *((State.FAILED, text) if row in due else (State.ENDED,)))


def _has_access(row: PoolReservation) -> bool:
    """Return whether the team may still use the pool; otherwise nothing is kept for it."""
    if row.pool is None:
        return False
    return row.pool.is_open or PoolGrant.objects.filter(pool=row.pool, team=row.team).exists()


def _remove(cluster: Cluster, over: Mapping[str, str]) -> dict[str, Exception]:
    """End these reservations of the cluster; return why, for those that could not be ended.

    `over` are the partitions of their pools by name, as far as known.
    """
    left: dict[str, Exception] = {}
    for name, partition in over.items():
        try:
            _native(cluster).unreserve(name, partition)
        except (Rejected, Unavailable) as error:
            log.warning("reservation %s of cluster %s stays: %s", name, cluster.name, error)
            left[name] = error
    return left


def _apply(
    row: PoolReservation,
    machines: Sequence[NodeUsage],
    known: Mapping[str, ReservationFacts] | None,
) -> None:
    """Make the cluster keep the GPUs of a row, and note how far it is."""
    assert row.pool is not None
    present = {machine.node.name for machine in machines}
    if row.nodes.keys() - present and not _replace_nodes(row, machines, present):
        return
    if known is not None:
        request = _request(row.name, row, row.pool, row.nodes)
        seen = known.get(row.name)
        try:
            if seen is None or not _agrees(seen, request):
                _native(row.cluster).reserve(request)
        except (Rejected, Unavailable) as error:
            _note(row, _failed(row, error), str(error))
            return
    if row.applied_at is None:
        row.applied_at = clock.now()
    if busy := busy_gpus(row, row.nodes, machines):
        text = Message.plural(
            busy,
            "{n} GPU is still used by a job of others, which must end first.",
            "{n} GPUs are still used by jobs of others, which must end first.",
            n=busy,
        )
        _note(row, State.PENDING, text)
    else:
        _note(row, State.ACTIVE)


@transaction.atomic
def _replace_nodes(
    row: PoolReservation, machines: Sequence[NodeUsage], present: Collection[str]
) -> bool:
    """Choose other nodes for those that are gone; return whether that worked."""
    assert row.pool is not None
    Cluster.objects.select_for_update().get(id=row.cluster_id)  # no approval takes them meanwhile
    gone = [name for name in row.nodes if name not in present]
    kept = {name: gpus for name, gpus in row.nodes.items() if name in present}
    try:
        nodes = _choose(row, row.pool, machines, scope_of(row.cluster), keep=kept)
    except (Conflict, Rejected, Unavailable):
        text = Message("{nodes} is gone, and no other node is left.", nodes=nodes_text(gone))
        _note(row, State.FAILED, text)
        return False
    PoolReservation.objects.filter(id=row.id).update(nodes=nodes)
    row.nodes = nodes
    return True


def _agrees(seen: ReservationFacts, request: ReservationRequest) -> bool:
    is_same_end = seen.ends_at is None or abs(seen.ends_at - request.ends_at) < timedelta(minutes=2)
    if seen.nodes:
        return is_same_end and set(seen.nodes) == set(request.nodes)
    return is_same_end and seen.gpus == request.gpus


def _failed(row: PoolReservation, error: Exception) -> State:
    """Return the state after an error: a cluster that does not respond is asked again."""
    if not isinstance(error, Unavailable):
        return State.FAILED
    return State(row.state) if row.applied_at else State.PENDING


@transaction.atomic
def _note(row: PoolReservation, state: State, note: str = "") -> None:
    """Write the state; a new one is an event, except that something is still waited for."""
    before, now = row.state, clock.now()
    rows = PoolReservation.objects.select_for_update().filter(id=row.id).exclude(state=State.ENDED)
    is_new = before != state
    ended = {"ended_at": now} if state == State.ENDED else {}
    changed = rows.filter(state=before).update(
        state=state, note=note[:500], applied_at=row.applied_at, checked_at=now, **ended
    )
    if not changed:
        return
    row.state, row.note = state, note
    what = {State.ACTIVE: "reserved", State.FAILED: "reservation_failed", State.ENDED: "released"}
    if is_new and state in what:
        data = {
            "name": f"{row.gpus} {row.gpu_type} for {row.team.slug}",
            "team": row.team.slug,
            "cluster": row.cluster.name,
            "reservation": row.name,
            "before": {"state": str(before)},
            "after": {"state": str(state), **({"note": str(note)} if note else {})},
        }
        record(
            EventRecord(
                f"pool.{what[state]}", row.org_id, "pool_reservation", row.id, "system", data
            )
        )
