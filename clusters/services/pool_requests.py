"""Requests for GPUs of a pool: made by teams, decided by operators, ended by their date.

No approval exceeds the capacity of the pool or of its cluster: approvals lock the cluster, and count
what is promised for an overlapping time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum

from clusters.capacity import inside_of
from clusters.models import Cluster, Gpu, Node, Pool, PoolGrant, PoolRequest, PoolReservation
from clusters.node_capacity import NodeUsage, node_usage_of
from clusters.pools import find_pool
from clusters.services.pool_reservations import end_for, reserve_for, scope_of
from portal.core import clock
from portal.core.errors import Conflict, InputErrors, InvalidInput
from portal.core.events import record
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.core.models import Event
from schedulers.contract import Rejected, Unavailable
from schedulers.mig import MODELS
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.approvals.kinds import STEPS, ApprovalKind
from workspaces.approvals.services import (
    clean,
    decide_request,
    end_due,
    end_request,
    submit_request,
)
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


class PoolRequests(ApprovalKind[PoolRequest]):
    name = "pool"
    title = Message("GPU request", context="text, clusters")
    model = PoolRequest
    decides = Permission.CLUSTERS_WRITE
    reads = Permission.NODES_READ
    by_operators = True
    page_decides = True
    steps = ("approve", "decline", "withdraw", "return")
    related = ("asker", "org", "team", "pool__cluster", "reservation", "renews__reservation")
    expires = "ends_at"

    def visible(self, actor: Actor) -> QuerySet[PoolRequest]:
        """Return the requests that the actor may see: those of one's teams, all for operators."""
        if actor.may(Permission.CLUSTERS_READ):
            return self.rows()
        found = [actor.teams_where(p) for p in (Permission.JOBS_READ, Permission.JOBS_SUBMIT)]
        if None in found:
            return self.rows()
        return self.rows().filter(team__in=frozenset().union(*(teams for teams in found if teams)))

    def text(self, row: PoolRequest) -> Message:
        return Message("{gpus} × {type} for {team}", context="text, clusters", **asked(row))

    def path(self, row: PoolRequest) -> str:
        return f"/{row.org.slug}/pool-requests/{row.id}"

    def page_path(self, row: PoolRequest) -> str:
        return self.path(row)

    def related_pages(self, row: PoolRequest) -> list[tuple[Message, str]]:
        place = f"/{row.org.slug}"
        free = (Message("Free GPUs", context="link"), f"{place}/capacity")
        team = (
            Message("Team {team}", context="link", team=row.team.name),
            f"{place}/teams/{row.team.slug}",
        )
        pool = row.pool
        return [
            team,
            (Message("Pool {pool}", context="link", pool=pool.name), f"{place}/pools/{pool.name}")
            if pool
            else free,
        ]

    def decide_path(self, row: PoolRequest) -> str:
        return f"/platform/pool-requests/{row.id}"

    def reason(self, row: PoolRequest) -> str:
        return row.purpose

    def authorize(self, actor: Actor, row: PoolRequest, do: str) -> None:
        if STEPS[do].is_of_asker:
            authorize(actor, Permission.JOBS_SUBMIT, row.team)
        else:
            authorize(actor, self.decides)

    def prepare(self, actor: Actor, row: PoolRequest, do: str, terms: Mapping[str, Any]) -> None:
        """Ask the cluster how it reserves, before the transaction; the answer is cached."""
        self.authorize(actor, row, do)
        if do == "approve":
            if not terms.get("pool"):
                raise InvalidInput.at("pool", "is required to approve")
            try:
                scope_of(find_pool(terms["pool"]).cluster)
            except (Rejected, Unavailable) as error:
                raise Conflict(str(error), code="cluster_settings") from error

    def locked(self, request_id: UUID, terms: Mapping[str, Any]) -> PoolRequest | None:
        if pool := terms.get("pool"):
            Cluster.objects.select_for_update().get(id=find_pool(pool).cluster_id)
        return super().locked(request_id, terms)

    def apply(self, actor: Actor, row: PoolRequest, do: str, terms: Mapping[str, Any]) -> None:
        if do == "approve":
            _promise(row, find_pool(terms["pool"]), terms.get("gpus"), terms.get("ends_at"))
        elif do == "return":
            _end_renewals(self, actor, row)

    def end(self, row: PoolRequest) -> None:
        """End the access, unless another request or an operator gave it."""
        row.ends_at = min(row.ends_at, clock.now())
        row.save(update_fields=["ends_at"])
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

    def facts(self, row: PoolRequest) -> dict[str, Any]:
        return {"name": str(self.text(row)), "team": row.team.slug}

    def terms(self, row: PoolRequest) -> dict[str, Any]:
        pool = row.pool.name if row.pool else ""
        return {"gpus": row.gpus, "until": row.ends_at.isoformat(), "pool": pool}

    def notice_title(self, what: str, row: PoolRequest) -> Message:
        if what == "requested":
            return Message(
                "{team} asks for {gpus} × {type}", context="title of a notification", **asked(row)
            )
        return super().notice_title(what, row)

    def events_of(self, row: PoolRequest) -> QuerySet[Event]:
        subjects = [row.id, *([row.reservation_id] if row.reservation_id else [])]
        return Event.objects.filter(
            org_id=row.org_id, subject_id__in=subjects, kind__startswith="pool."
        )

    def event_text(self, what: str, event: Event, first: Event, row: PoolRequest) -> Message | None:
        requested = first.data.get("after", {}).get("gpus", 0)
        return _history_text(what, event.data, gpu_text(row.gpu_type), requested)


KIND = PoolRequests()
decide = partial(decide_request, kind=KIND)


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
    kind, errors = gpu_type.strip().lower(), InputErrors()
    with errors:
        if kind not in known_types():
            raise InvalidInput.at("gpu_type", "must be a GPU model of a cluster, or a MIG profile")
    with errors:
        if not 0 < gpus <= MOST_GPUS:
            raise InvalidInput.at("gpus", Message("must be from 1 to {n}", n=MOST_GPUS))
    with errors:
        if not timedelta() < ends_at - begin <= LONGEST:
            raise InvalidInput.at("ends_at", "must be after the start, by at most two years")
    with errors:
        if renews is not None and renews.team_id != team.id:
            raise InvalidInput.at("renews", "must be a request of the same team")
    with errors:
        if budget is not None and not 0 < budget < 2**31:
            raise InvalidInput.at("budget", "must be a positive number of GPU-hours")
    errors.raise_all()
    if PoolRequest.objects.filter(team=team, state=State.OPEN).count() >= MOST_OPEN:
        raise Conflict(
            Message("The team has {n} open requests. Withdraw some of them first.", n=MOST_OPEN)
        )
    row = PoolRequest(
        org=org,
        team=team,
        asker_id=actor.user_id,
        gpu_type=kind,
        gpus=gpus,
        purpose=clean(purpose),
        budget=budget,
        starts_at=begin,
        ends_at=ends_at,
        renews=renews,
        pool=renews.pool if renews else None,
    )
    return submit_request(actor=actor, kind=KIND, row=row)


def known_types() -> set[str]:
    """Return what may be asked for: GPU types of clusters, and the MIG profiles of NVIDIA."""
    return set(suggested_types())


def suggested_types() -> list[str]:
    """Return the known types, those of clusters first."""
    present = sorted(Gpu.objects.order_by().values_list("type", flat=True).distinct())
    profiles = {f"mig-{one.name}" for model in MODELS.values() for one in model.profiles}
    return [*present, *sorted(profiles - set(present))]


def _promise(row: PoolRequest, chosen: Pool, gpus: int | None, ends_at: datetime | None) -> None:
    """Promise GPUs of a pool whose cluster is locked. Raises InvalidInput, Conflict."""
    cluster = chosen.cluster
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
    row.save()
    if row.starts_at <= clock.now():
        _grant(row)


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


def _end_renewals(kind: PoolRequests, actor: Actor, row: PoolRequest) -> None:
    """End the renewals of a request that have not begun, the last one first."""
    renewals = [row]
    for one in renewals:  # the list grows: a renewal may be renewed
        found = kind.rows().select_for_update(of=("self",))
        renewals += found.filter(renews=one, state=State.APPROVED, granted_at=None)
    for one in reversed(renewals[1:]):
        end_request(kind, one, what="returned", who=actor.email)


def end_approved(*, who: str, **of: Any) -> None:
    """End the approved requests of a pool, or of one team in it, before their date.

    Run in a transaction.
    """
    for row in KIND.rows().select_for_update(of=("self",)).filter(state=State.APPROVED, **of):
        end_request(KIND, row, what="returned", who=who)


def start_and_end() -> list[PoolRequest]:
    """Make the grants that are due and remove those past their end. Return what ended.

    Run in a platform scope; safe to run twice.
    """
    rows = KIND.rows().select_for_update(of=("self",))
    with transaction.atomic():
        due = rows.filter(state=State.APPROVED, granted_at=None, starts_at__lte=clock.now())
        for row in due.filter(pool__isnull=False):
            _grant(row)
        return end_due(KIND)


def due_reminders() -> list[PoolRequest]:
    """Record once each that a request ends in 14, 7 or 1 days; return those requests.

    Run in a platform scope.
    """
    now, found = clock.now(), list[PoolRequest]()
    with transaction.atomic():
        rows = KIND.rows().select_for_update(of=("self",))
        renewed = PoolRequest.objects.filter(state=State.APPROVED, renews=OuterRef("pk"))
        rows = rows.filter(~Exists(renewed), state=State.APPROVED)
        for row in rows.filter(ends_at__lte=now + timedelta(days=REMIND[0])):
            left, lasts = row.ends_at - now, row.ends_at - row.starts_at
            reached = [n for n in REMIND if left <= timedelta(days=n) < lasts]
            due = min(reached, default=REMIND[0] + 1)
            if reached and (row.reminded is None or row.reminded > due):
                row.reminded = due
                row.save(update_fields=["reminded"])
                record(KIND.event("ends_soon", "system", row, {}))
                found.append(row)
    return found


def requests_for(actor: Actor, *, most: int = 200) -> list[PoolRequest]:
    """Return the requests of the actor's teams, or all if the actor may grant pools.

    Open ones first, then those that run, by their end, then the latest others.
    """
    rows = KIND.visible(actor)
    running = Q(state__in=(State.OPEN, State.APPROVED))
    return [
        *rows.filter(state=State.OPEN).order_by("created_at")[:most],
        *rows.filter(state=State.APPROVED).order_by("ends_at")[:most],
        *rows.exclude(running).order_by("-decided_at")[:most],
    ]


def requests_in(actor: Actor, pool: Pool) -> list[PoolRequest]:
    """Return the approved requests in a pool that the actor may see, the next end first."""
    rows = KIND.visible(actor).filter(pool=pool, state=State.APPROVED)
    return list(rows.order_by("ends_at")[:MOST_OPEN])


def reservations_of_node(node: Node, actor: Actor) -> list[dict[str, Any]]:
    """Return which teams' GPUs are kept on a node now: gpus, team, href, ends_at.

    Teams of other organizations are named only to operators; `href` is "" for a request that the
    actor may not see.
    """
    return reservations_of_nodes(node.cluster_id, {node.name}, actor).get(node.name, [])


def reservations_of_nodes(
    cluster: UUID, nodes: Collection[str], actor: Actor
) -> dict[str, list[dict[str, Any]]]:
    """Return the same for several nodes of a cluster, by node. Two statements."""
    now: datetime = clock.now()
    with platform_scope("reservations keep GPUs from every organization"):
        rows = [
            row
            for row in PoolReservation.objects.select_related("team", "org", "pool")
            .filter(cluster=cluster, starts_at__lte=now)
            .exclude(state=PoolReservation.State.ENDED)
            .order_by("ends_at")
            if not row.nodes.keys().isdisjoint(nodes)
        ]
        seen = KIND.visible(actor).filter(reservation__in=rows, state=PoolRequest.State.APPROVED)
        asks = dict(seen.values_list("reservation_id", "id")) if rows else {}
    is_operator = actor.may(Permission.CLUSTERS_READ)
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        is_ours = row.org_id == actor.org_id
        ask = asks.get(row.id)
        for name in row.nodes.keys() & nodes:
            found[name].append(
                {
                    "gpus": row.nodes[name],
                    "type": row.gpu_type,
                    "team": row.team.name if is_ours or is_operator else "",
                    "href": f"/{row.org.slug}/pool-requests/{ask}"
                    if ask and (is_ours or is_operator)
                    else "",
                    "ends_at": row.ends_at,
                }
            )
    return dict(found)


def open_requests(actor: Actor, *, most: int = 200) -> list[PoolRequest]:
    """Return the open requests of every organization. Operators only; raises NotPermitted."""
    authorize(actor, Permission.CLUSTERS_READ)
    with platform_scope("operators decide on the requests of every organization"):
        return list(KIND.rows().filter(state=State.OPEN).order_by("created_at")[:most])


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


def _history_text(what: str, data: Mapping[str, Any], kind: str, requested: int) -> Message | None:
    """Return the line of the history for an event of a request or its reservation."""
    after = data.get("after", {})
    gpus, until = after.get("gpus", 0), str(after.get("until", ""))[:10]
    match what:
        case "requested":
            n = f"{gpus:,}"
            return Message(
                "Requested {n} × {type} until {until}",
                context="history",
                n=n,
                type=kind,
                until=until,
            )
        case "request_approved":
            text = Message(
                "Approved {n} × {type} in {pool} until {until}",
                n=f"{gpus:,}",
                type=kind,
                pool=after.get("pool", ""),
                until=until,
            )
            more = (
                Message("{n} were requested", context="history", n=f"{requested:,}")
                if requested not in (0, gpus)
                else ""
            )
            return Message.joined("; ", (text, more))
        case "reserved":
            return Message("Reservation {name} is active", name=data.get("reservation", ""))
        case "reservation_failed":
            text = Message(
                "Reservation {name} failed", context="history", name=data.get("reservation", "")
            )
            return Message.joined(": ", (text, str(after.get("note", ""))))
        case "released":
            return Message(
                "Reservation {name} ended", context="history", name=data.get("reservation", "")
            )
        case "ends_soon":
            return Message("Reminder: access ends on {until}", until=until)
    return None


def asked(row: PoolRequest) -> dict[str, Any]:
    """Return how texts name what is asked."""
    return {"gpus": f"{row.gpus:,}", "type": gpu_text(row.gpu_type), "team": row.team.name}
