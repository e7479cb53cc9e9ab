"""GPU-hours and cost of the subjects of lists over 30 days: from the ledger, and what runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Case, IntegerField, Q, QuerySet, Sum, Value, When

from billing.amounts import hours_of, rounded
from billing.costs import unbilled
from billing.models import LedgerKind, Price, UsageDay
from billing.selectors.access import visible_teams
from billing.services.ledger import UsageSpan
from billing.services.prices import PriceList, account_of, price_lists
from workspaces.access.actors import Actor
from workspaces.subjects import DAYS, SubjectKind, UseSource, first_day

Subject = Any  # the key of a subject: an id, or the id of a cluster and the name of a pool
_FIELDS = {  # of `UsageDay` and `UsageSpan`, which make the key
    SubjectKind.ORG: ("org_id",),
    SubjectKind.TEAM: ("team_id",),
    SubjectKind.USER: ("user_id",),
    SubjectKind.POOL: ("cluster_id", "pool"),
    SubjectKind.CLUSTER: ("cluster_id",),
}
_OF_ATTEMPTS = {
    "org_id": "org_id",
    "team_id": "job__team_id",
    "user_id": "job__owner_id",
    "cluster_id": "cluster_id",
}
_OF_OPERATORS = (SubjectKind.ORG, SubjectKind.CLUSTER)
_HOURS = frozenset({"gpu_hours", "trend"})


def use_of(kind: SubjectKind, keys: Sequence[Subject], actor: Actor) -> Mapping[Subject, Any]:
    """Return GPU-hours, cost and trend of subjects, within what the actor may see.

    A person or a pool counts in the teams whose use the actor sees, and one's own use counts. What
    was promised to a team and not used has a cost, but is no GPU-hour of its own. Clusters have
    organizations of several currencies, so they have no cost.
    """
    if kind not in _FIELDS:
        return {}
    teams = None if kind in _OF_OPERATORS else visible_teams(actor)
    seen = [key for key in keys if _is_seen(kind, key, teams, actor)]
    if not seen:
        return {}
    first = first_day()
    org_id = None if kind in _OF_OPERATORS else actor.org_id
    where: dict[str, Any] = {"org_id": org_id} if org_id else {}
    rows = UsageDay.objects.filter(_among(kind, seen), day__gte=first, **where)
    if teams is not None:
        rows = rows.filter(Q(team__in=teams) | Q(user_id=actor.user_id))
    used = _Used(kind, first, _price_lists(kind, seen, org_id), org_id)
    used.add_days(rows)
    name, wanted = _FIELDS[kind][0], set(seen)
    ids = {key[0] if kind is SubjectKind.POOL else key for key in seen}
    for run, day, ms in unbilled(first, **where, **{f"{_OF_ATTEMPTS[name]}__in": ids}):
        is_seen = teams is None or run.team_id in teams or run.user_id == actor.user_id
        if is_seen and used.key_of(run) in wanted:
            used.add_run(run, day, ms)
    return {key: used.facts(key) for key in seen}


def sees(actor: Actor) -> frozenset[str]:
    """Return which of these figures the actor may see of some subject."""
    if actor.org_id is None:
        return _HOURS | {"cost"} if Price.objects.exists() else _HOURS
    if visible_teams(actor) == frozenset():
        return frozenset()
    prices = PriceList(account_of(actor.org_id).currency)
    return _HOURS if prices.is_empty else _HOURS | {"cost"}


SOURCE = UseSource(use_of, sees)


class _Used:
    """What subjects used since a day, in GPU-milliseconds by day, and money.

    `org_id` is None where the subjects are organizations, each with its prices.
    """

    def __init__(
        self,
        kind: SubjectKind,
        first: date,
        prices: Mapping[UUID, PriceList],
        org_id: UUID | None,
    ):
        self.fields, self.first, self.prices, self.org_id = _FIELDS[kind], first, prices, org_id
        self.days: dict[Subject, list[int]] = defaultdict(lambda: [0] * DAYS)
        self.cost: dict[Subject, Decimal] = defaultdict(Decimal)

    def add_days(self, rows: QuerySet[UsageDay]) -> None:
        """Add the sums of the ledger. Two statements: hours by day, and cost by price."""
        n = len(self.fields)
        gpus = rows.filter(resource__startswith="gpu").exclude(kind=LedgerKind.RESERVATION)
        sums = gpus.order_by().values_list(*self.fields, "day").annotate(n=Sum("quantity"))
        for *key, day, quantity in sums:
            self._add_hours(_key(key), day, int(quantity))
        if not self.prices:
            return
        starts = sorted(
            {self.first}.union(*(p.changes_after(self.first) for p in self.prices.values()))
        )
        steps = [When(day__gte=day, then=Value(i)) for i, day in reversed([*enumerate(starts)])]
        cells = (
            rows.annotate(step=Case(*steps, output_field=IntegerField()))
            .order_by()
            .values_list(*self.fields, "org_id", "team_id", "kind", "resource", "step")
            .annotate(n=Sum("quantity"))
        )
        for *key, org, team, kind, resource, step, quantity in cells:
            self._add_cost(_key(key[:n]), org, team, kind, resource, starts[step], int(quantity))

    def add_run(self, run: UsageSpan, day: date, ms: int) -> None:
        """Add a day of a running attempt that the ledger does not have."""
        key = self.key_of(run)
        for resource, units in run.resources.items():
            if resource.startswith("gpu"):
                self._add_hours(key, day, units * ms)
            self._add_cost(key, run.org_id, run.team_id, "job", resource, day, units * ms)

    def key_of(self, run: UsageSpan) -> Subject:
        return _key([getattr(run, name) for name in self.fields])

    def facts(self, key: Subject) -> dict[str, Any]:
        """Return the fields of a subject."""
        hours = [round(float(hours_of("gpu", n)), 3) for n in self.days[key]]
        found = {"gpu_hours": round(sum(hours), 3), "trend": hours}
        if prices := self.prices.get(self.org_id or key):
            cost = str(rounded(self.cost[key], prices.currency))
            return {**found, "cost": cost, "currency": prices.currency}
        return found

    def _add_hours(self, key: Subject, day: date, quantity: int) -> None:
        if 0 <= (n := (day - self.first).days) < DAYS:
            self.days[key][n] += quantity

    def _add_cost(
        self,
        key: Subject,
        org: UUID,
        team: UUID,
        kind: str,
        resource: str,
        day: date,
        quantity: int,
    ) -> None:
        prices = self.prices.get(org)
        if prices and (price := prices.hourly(resource, day, team, kind)) is not None:
            self.cost[key] += hours_of(resource, quantity) * price


def _key(values: Sequence[Any]) -> Subject:
    return values[0] if len(values) == 1 else tuple(values)


def _is_seen(kind: SubjectKind, key: Subject, teams: frozenset[UUID] | None, actor: Actor) -> bool:
    """Return whether the actor sees the use of a subject, if only a part of it."""
    if teams is None:
        return True
    if kind is SubjectKind.TEAM:
        return key in teams
    return bool(teams) or (kind is SubjectKind.USER and key == actor.user_id)


def _among(kind: SubjectKind, keys: Sequence[Subject]) -> Q:
    if kind is SubjectKind.POOL:
        return Q(cluster_id__in={cluster for cluster, _ in keys}, pool__in={p for _, p in keys})
    return Q((f"{_FIELDS[kind][0]}__in", list(keys)))


def _price_lists(
    kind: SubjectKind, keys: Sequence[Subject], org_id: UUID | None
) -> dict[UUID, PriceList]:
    """Return the price lists that are not empty, by organization."""
    if kind is SubjectKind.CLUSTER:
        return {}
    lists = price_lists([org_id] if org_id else list(keys))
    return {org: prices for org, prices in lists.items() if not prices.is_empty}
