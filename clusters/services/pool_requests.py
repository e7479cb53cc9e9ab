"""Requests for GPUs of a pool: made by teams, decided by operators, ended by their date.

No approval exceeds the capacity of the pool or of its cluster: approvals lock the cluster, and count
what is promised for an overlapping time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from clusters.capacity import inside_of
from clusters.models import Cluster, Gpu, Pool, PoolGrant, PoolRequest
from clusters.node_capacity import NodeUsage, node_usage_of
from clusters.services.pool_reservations import end_for, reserve_for, scope_of
from clusters.services.pools import find_pool
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, record
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from schedulers.contract import Rejected, Unavailable
from schedulers.mig import MODELS
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team
from workspaces.tenancy.scope import platform_scope

State = PoolRequest.State
MOST_GPUS, MOST_OPEN = 100_000, 20  # of one request; open requests of one team
LONGEST = timedelta(days=2 * 366)
REMIND = (14, 7, 1)  # days before the end


@dataclass(frozen=True)
class Promise:
    """GPUs of one class in a pool: how many there are, and promised in a time."""

    total: int
    promised: int

    @property
    def left(self) -> int:
        return max(self.total - self.promised, 0)


@transaction.atomic
def request_pool(
    *,
    actor: Actor,
    org: Organization,
    team: Team,
    gpu_type: str,
    gpus: int,
    ends_at: datetime,
    starts_at: datetime | None = None,
    purpose: str = "",
    budget: int | None = None,
    renews: PoolRequest | None = None,
) -> PoolRequest:
    """Ask for GPUs until a date. Raises NotPermitted, InvalidInput, Conflict."""
    authorize(actor, Permission.JOBS_SUBMIT, team)
    assert actor.user_id is not None
    begin = max(starts_at or clock.now(), clock.now())
    kind = gpu_type.strip().lower()
    if kind not in known_types():
        raise InvalidInput.at("gpu_type", "must be a GPU model of a cluster, or a MIG profile")
    if not 0 < gpus <= MOST_GPUS:
        raise InvalidInput.at("gpus", Message("must be from 1 to {n}", n=MOST_GPUS))
    if not timedelta() < ends_at - begin <= LONGEST:
        raise InvalidInput.at("ends_at", "must be after the start, by at most two years")
    if renews is not None and renews.team_id != team.id:
        raise InvalidInput.at("renews", "must be a request of the same team")
    if budget is not None and not 0 < budget < 2**31:
        raise InvalidInput.at("budget", "must be a positive number of GPU-hours")
    if PoolRequest.objects.filter(team=team, state=State.OPEN).count() >= MOST_OPEN:
        raise Conflict(
            Message("The team has {n} open requests. Withdraw some of them first.", n=MOST_OPEN)
        )
    row = PoolRequest.objects.create(
        org=org,
        team=team,
        asker_id=actor.user_id,
        gpu_type=kind,
        gpus=gpus,
        purpose=_clean(purpose),
        budget=budget,
        starts_at=begin,
        ends_at=ends_at,
        renews=renews,
        pool=renews.pool if renews else None,
    )
    _record_event("requested", actor.email, row)
    return row


def known_types() -> set[str]:
    """Return what may be asked for: GPU types of clusters, and the MIG profiles of NVIDIA."""
    profiles = {f"mig-{one.name}" for model in MODELS.values() for one in model.profiles}
    return profiles | set(Gpu.objects.order_by().values_list("type", flat=True).distinct())


def visible_request(actor: Actor, request_id: UUID) -> PoolRequest:
    """Return a request that the actor may see. Raises NotFound."""
    row = visible_requests(actor).filter(id=request_id).first()
    if row is None:
        raise NotFound(Message("There is no such request."))
    return row


def approve(
    *,
    actor: Actor,
    request_id: UUID,
    pool: str,
    gpus: int | None = None,
    ends_at: datetime | None = None,
    word: str = "",
) -> PoolRequest:
    """Approve a request, perhaps with fewer GPUs or another end: the team may use the pool.

    Raises NotPermitted, NotFound, InvalidInput, and Conflict if it was decided or there is not
    enough left.
    """
    authorize(actor, Permission.CLUSTERS_WRITE)
    chosen = find_pool(pool)
    try:
        scope_of(chosen.cluster)  # asks the cluster before the transaction; the answer is cached
    except (Rejected, Unavailable) as error:
        raise Conflict(str(error), code="cluster_settings") from error
    return _approve(actor, request_id, chosen, gpus, ends_at, word)


@transaction.atomic
def _approve(
    actor: Actor,
    request_id: UUID,
    chosen: Pool,
    gpus: int | None,
    ends_at: datetime | None,
    word: str,
) -> PoolRequest:
    cluster = Cluster.objects.select_for_update().get(id=chosen.cluster_id)
    row = _open(request_id)
    if chosen.gpu_type not in ("", row.gpu_type):
        raise InvalidInput.at(
            "pool",
            Message(
                "{name} has only {type} GPUs.", name=chosen.name, type=gpu_text(chosen.gpu_type)
            ),
        )
    row.gpus = row.gpus if gpus is None else gpus
    row.ends_at = ends_at or row.ends_at
    row.starts_at = max(row.starts_at, clock.now())
    if row.gpus < 1 or row.ends_at <= row.starts_at:
        raise InvalidInput("An approval needs at least one GPU and an end in the future.")
    machines = node_usage_of(cluster)
    for place in (chosen, None):
        found = promise_in(cluster, place, row, machines)
        if found.left < row.gpus:
            raise Conflict(
                Message(
                    "{place} has {total} {type}, and {promised} are promised for that time. "
                    "Approve at most {left}, or choose another pool.",
                    place=chosen.name if place else cluster.name,
                    total=found.total,
                    type=gpu_text(row.gpu_type),
                    promised=found.promised,
                    left=found.left,
                ),
                code="not_enough",
            )
    row.pool = chosen
    reserve_for(row, machines)
    _decide(row, actor, State.APPROVED, word)
    if row.starts_at <= clock.now():
        _grant(row)
    return row


def promise_in(
    cluster: Cluster, pool: Pool | None, row: PoolRequest, machines: Sequence[NodeUsage]
) -> Promise:
    """Return the GPUs of a request's class in a pool, or in the whole cluster, and those promised.

    Promises to every organization count that overlap its time. `machines` are the cluster's nodes.
    """
    inside = inside_of(pool, machines) if pool else machines
    with platform_scope("what is promised is promised for every organization"):
        rows = PoolRequest.objects.filter(
            state=State.APPROVED,
            gpu_type=row.gpu_type,
            starts_at__lt=row.ends_at,
            ends_at__gt=row.starts_at,
        )
        rows = rows.filter(pool=pool) if pool else rows.filter(pool__cluster=cluster)
        promised = rows.aggregate(n=Sum("gpus"))["n"] or 0
    return Promise(sum(machine.gpus.get(row.gpu_type, 0) for machine in inside), promised)


@transaction.atomic
def decline(*, actor: Actor, request_id: UUID, word: str = "") -> PoolRequest:
    """Decline a request. Raises NotPermitted, NotFound, Conflict."""
    authorize(actor, Permission.CLUSTERS_WRITE)
    return _decide(_open(request_id), actor, State.DECLINED, word)


@transaction.atomic
def withdraw(*, actor: Actor, request_id: UUID) -> PoolRequest:
    """Withdraw an open request of one's team. Raises NotPermitted, NotFound, Conflict."""
    row = _open(request_id)
    authorize(actor, Permission.JOBS_SUBMIT, row.team)
    return _decide(row, actor, State.WITHDRAWN, "")


@transaction.atomic
def give_back(*, actor: Actor, request_id: UUID) -> PoolRequest:
    """Return the GPUs before the end, also those of renewals that have not begun.

    The team's new jobs no longer go to the pool. Raises NotPermitted, NotFound, Conflict.
    """
    row = PoolRequest.objects.select_for_update().filter(id=request_id).first()
    if row is None:
        raise NotFound(Message("There is no such request."))
    authorize(actor, Permission.JOBS_SUBMIT, row.team)
    if row.state != State.APPROVED:
        raise Conflict(Message("There is nothing to return."))
    ended = [row]
    for one in ended:  # the list grows: a renewal may be renewed
        ended += PoolRequest.objects.select_for_update().filter(
            renews=one, state=State.APPROVED, granted_at=None
        )
    for one in reversed(ended):
        _end(one, "returned", actor.email)
    return row


def end_approved(*, who: str, **of: Any) -> None:
    """End the approved requests of a pool, or of one team in it, before their date.

    Run in a transaction.
    """
    rows = PoolRequest.objects.select_for_update(of=("self",)).select_related("team", "pool", "org")
    for row in rows.filter(state=State.APPROVED, **of):
        _end(row, "returned", who)


def start_and_end() -> list[PoolRequest]:
    """Make the grants that are due and remove those past their end. Return what ended.

    Run in a platform scope; safe to run twice.
    """
    now = clock.now()
    rows = PoolRequest.objects.select_for_update(of=("self",)).select_related(
        "team", "asker", "pool", "org"
    )
    ended = []
    with transaction.atomic():
        begin = rows.filter(state=State.APPROVED, granted_at=None, starts_at__lte=now)
        for row in begin.filter(pool__isnull=False):
            _grant(row)
        for row in rows.filter(state=State.APPROVED, ends_at__lte=now):
            _end(row, "expired", "system")
            ended.append(row)
    return ended


def due_reminders() -> list[PoolRequest]:
    """Record once each that a request ends in 14, 7 or 1 days; return those requests.

    Run in a platform scope.
    """
    now, found = clock.now(), list[PoolRequest]()
    with transaction.atomic():
        rows = PoolRequest.objects.select_for_update(of=("self",)).select_related(
            "team", "asker", "pool", "org"
        )
        renewed = PoolRequest.objects.filter(state=State.APPROVED, renews=OuterRef("pk"))
        rows = rows.filter(~Exists(renewed), state=State.APPROVED)
        for row in rows.filter(ends_at__lte=now + timedelta(days=REMIND[0])):
            left, lasts = row.ends_at - now, row.ends_at - row.starts_at
            reached = [n for n in REMIND if left <= timedelta(days=n) < lasts]
            due = min(reached, default=REMIND[0] + 1)
            if reached and (row.reminded is None or row.reminded > due):
                row.reminded = due
                row.save(update_fields=["reminded"])
                _record_event("ends_soon", "system", row)
                found.append(row)
    return found


def requests_for(actor: Actor, *, most: int = 200) -> list[PoolRequest]:
    """Return the requests of the actor's teams, or all if the actor may grant pools.

    Open ones first, then those that run, by their end, then the latest others.
    """
    rows = visible_requests(actor)
    running = Q(state__in=(State.OPEN, State.APPROVED))
    return [
        *rows.filter(state=State.OPEN).order_by("created_at")[:most],
        *rows.filter(state=State.APPROVED).order_by("ends_at")[:most],
        *rows.exclude(running).order_by("-decided_at")[:most],
    ]


def requests_in(actor: Actor, pool: Pool) -> list[PoolRequest]:
    """Return the approved requests in a pool that the actor may see, the next end first."""
    rows = visible_requests(actor).filter(pool=pool, state=State.APPROVED)
    return list(rows.order_by("ends_at")[:MOST_OPEN])


def open_requests(actor: Actor, *, most: int = 200) -> list[PoolRequest]:
    """Return the open requests of every organization. Operators only; raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators decide on the requests of every organization"):
        rows = PoolRequest.objects.select_related("team", "asker", "org")
        return list(rows.filter(state=State.OPEN).order_by("created_at")[:most])


def visible_requests(actor: Actor) -> QuerySet[PoolRequest]:
    """Return the requests that the actor may see: those of one's teams, all for operators."""
    rows = PoolRequest.objects.select_related(
        "team", "asker", "pool__cluster", "org", "reservation"
    )
    if actor.may(Permission.CLUSTERS_READ):
        return rows
    found = [actor.teams_where(p) for p in (Permission.JOBS_READ, Permission.JOBS_SUBMIT)]
    if None in found:
        return rows
    return rows.filter(team__in=frozenset().union(*(teams for teams in found if teams)))


def _open(request_id: UUID) -> PoolRequest:
    row = (
        PoolRequest.objects.select_for_update(of=("self",))
        .select_related("team", "asker", "org", "renews__reservation")
        .filter(id=request_id)
        .first()
    )
    if row is None:
        raise NotFound(Message("There is no such request."))
    if row.state != State.OPEN:
        raise Conflict(Message("This request was decided already."))
    return row


def _decide(row: PoolRequest, actor: Actor, state: State, word: str) -> PoolRequest:
    row.state, row.word = state, _clean(word)
    row.decided_at, row.decided_by = clock.now(), actor.email
    row.save()
    _record_event(f"request_{state}", actor.email, row, State.OPEN)
    return row


def _grant(row: PoolRequest) -> None:
    """Give the team access to the pool; a grant without an end, or with a later one, stays."""
    assert row.pool_id is not None
    grant, is_new = PoolGrant.objects.select_for_update().get_or_create(
        pool_id=row.pool_id,
        team=row.team,
        defaults={"org_id": row.org_id, "ends_at": row.ends_at},
    )
    if not is_new and grant.ends_at is not None and grant.ends_at < row.ends_at:
        PoolGrant.objects.filter(id=grant.id).update(ends_at=row.ends_at)
    row.granted_at = clock.now()
    row.save(update_fields=["granted_at"])


def _end(row: PoolRequest, what: str, who: str) -> None:
    """End an approved request; access ends unless another request or an operator gave it."""
    row.state = State.ENDED
    row.ends_at = min(row.ends_at, clock.now())
    row.save(update_fields=["state", "ends_at"])
    others = PoolRequest.objects.filter(
        pool_id=row.pool_id, team=row.team, state=State.APPROVED, granted_at__isnull=False
    ).exclude(id=row.id)
    last: datetime | None = max((other.ends_at for other in others), default=None)
    grants = PoolGrant.objects.filter(pool_id=row.pool_id, team=row.team, ends_at__isnull=False)
    if last is None:
        grants.delete()
    else:
        grants.update(ends_at=last)
    end_for(row)
    _record_event(what, who, row, State.APPROVED)


def _clean(text: str) -> str:
    return "".join(c for c in text.strip() if c.isprintable() or c == "\n")[:500]


def _record_event(what: str, who: str, row: PoolRequest, before: State | None = None) -> None:
    after: dict[str, Any] = {
        "state": str(row.state),
        "gpus": row.gpus,
        "until": row.ends_at.isoformat(),
        "pool": row.pool.name if row.pool else "",
    }
    data = {
        "name": f"{row.gpus} {row.gpu_type} for {row.team.slug}",
        "team": row.team.slug,
        "before": {"state": str(before)} if before else {},
        "after": {name: value for name, value in after.items() if value},
    }
    record(EventRecord(f"pool.{what}", row.org_id, "pool_request", row.id, who, data))
