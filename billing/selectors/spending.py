"""Cost and hours of an organization by team and resource class."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import Sum

from billing import costs
from billing.amounts import digits, hours_of, money, month_of, next_month, rounded, unit_of
from billing.models import Budget, Price, UsageDay
from billing.selectors.access import visible_teams
from billing.services.prices import LOST, PriceList, account_of, costs_like_a_gpu
from portal.core import clock
from workspaces.access.actors import Actor
from workspaces.models import Organization, Team

KEPT_FOR = 120  # seconds
FORECAST_FROM = timedelta(days=7)


@dataclass(frozen=True)
class Spending:
    """What teams used from a day to another, and what it costs; None without a price."""

    currency: str
    has_prices: bool
    first: date
    last: date
    rows: list[dict[str, Any]]  # by team and resource class
    teams: list[dict[str, Any]]
    days: dict[date, dict[str, Decimal]]  # cost by slug of the team
    total: Decimal

    def as_dict(self) -> dict[str, Any]:
        return {
            "currency": self.currency,
            "first": self.first,
            "last": self.last,
            "total": str(rounded(self.total, self.currency)),
            "teams": [
                {"team": one["team"], "cost": str(rounded(one["cost"], self.currency))}
                for one in self.teams
            ],
            "items": [
                {
                    "team": row["team"],
                    "kind": row["kind"],
                    "resource": row["resource"],
                    "hours": f"{row['hours']:.6f}",
                    "unit": row["unit"],
                    "cost": None
                    if row["cost"] is None
                    else str(rounded(row["cost"], self.currency)),
                }
                for row in self.rows
            ],
            "next": None,
            "previous": None,
        }


def spending(
    actor: Actor, org: Organization, first: date, last: date, team: UUID | None = None
) -> Spending:
    """Return what the teams that the actor may see used from `first` to `last`, and today so far."""
    account = account_of(org.id)
    prices = PriceList(account.currency, org.id)
    teams = visible_teams(actor)
    shown = None if teams is None and team is None else ({team} if team else set(teams or ()))
    if team and teams is not None and team not in teams:
        shown = set()
    names = Team.objects.in_bulk()
    cells: dict[tuple[UUID, str, str], list[Any]] = defaultdict(lambda: [0, None])
    days: dict[date, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for whose, kind, resource, day, n in _used(org, first, last, shown):
        cell = cells[whose, kind, resource]
        cell[0] += n
        hours = hours_of(resource, n)
        if (price := prices.hourly(resource, day, whose, kind)) is not None:
            cell[1] = (cell[1] or Decimal()) + hours * price
            days[day][names[whose].slug if whose in names else ""] += hours * price
    rows = [
        {
            "team": names[whose].slug if whose in names else "",
            "team_name": names[whose].name if whose in names else "",
            "kind": kind,
            "resource": resource,
            "hours": hours_of(resource, n),
            "unit": unit_of(resource),
            "cost": cost,
        }
        for (whose, kind, resource), (n, cost) in cells.items()
    ]
    rows.sort(key=lambda row: (-(row["cost"] or 0), row["team_name"], row["resource"]))
    return Spending(
        account.currency,
        not prices.is_empty,
        first,
        last,
        rows,
        _by_team(rows),
        days,
        sum((row["cost"] or Decimal() for row in rows), Decimal()),
    )


@dataclass(frozen=True)
class Forecast:
    """The cost of a month at its end: `so_far`, and `daily` for each day that is left."""

    so_far: Decimal
    daily: Decimal  # mean of the last whole days
    whole_days: int  # of which it is the mean
    first: date  # today, whose remaining cost is part of the forecast
    last: date
    today: Decimal  # cost of today so far

    @property
    def days(self) -> dict[date, Decimal]:
        """Return the cost to come, by day; of today what is missing to a usual day."""
        left = (self.last - self.first).days
        found = {self.first: max(self.daily - self.today, Decimal())}
        return found | {self.first + timedelta(days=n + 1): self.daily for n in range(left)}

    @property
    def total(self) -> Decimal:
        return self.so_far + sum(self.days.values(), Decimal())


def forecast_of(actor: Actor, org: Organization, team: UUID | None = None) -> Forecast | None:
    """Return what this month will cost; None without prices or before the first whole day of use.

    Each day that is left costs the mean of the last seven whole days, or of those since the first
    use; so a new level is seen after some days, and a weekend is part of it.
    """
    today = clock.now().date()
    month = month_of(today)
    found = spending(actor, org, min(month, today - FORECAST_FROM), today, team)
    costs_by_day = {day: sum(row.values(), Decimal()) for day, row in found.days.items()}
    earlier = [day for day in costs_by_day if today - FORECAST_FROM <= day < today]
    if not found.has_prices or not earlier:
        return None
    whole = (today - min(earlier)).days
    return Forecast(
        so_far=sum((cost for day, cost in costs_by_day.items() if day >= month), Decimal()),
        daily=sum((costs_by_day[day] for day in earlier), Decimal()) / whole,
        whole_days=whole,
        first=today,
        last=next_month(month) - timedelta(days=1),
        today=costs_by_day.get(today, Decimal()),
    )


def cost_of_month(actor: Actor) -> str:
    """Return the cost of this month so far as text, at most two minutes old; "" without prices."""
    if actor.org_id is None:
        return ""
    teams = visible_teams(actor)
    whose = "all" if teams is None else "-".join(sorted(team.hex for team in teams))
    key = f"month-cost:{actor.org_id}:{sha256(whose.encode()).hexdigest()[:32]}"
    found: str | None = cache.get(key)
    if found is None:
        today = clock.now().date()
        row = spending(actor, Organization.objects.get(id=actor.org_id), month_of(today), today)
        found = money(row.total, row.currency) if row.has_prices else ""
        cache.set(key, found, KEPT_FOR)
    return found


def _used(
    org: Organization, first: date, last: date, teams: Collection[UUID] | None
) -> list[tuple[UUID, str, str, date, int]]:
    rows = UsageDay.objects.filter(org=org, day__gte=first, day__lte=last)
    rows = rows if teams is None else rows.filter(team__in=teams)
    sums = (
        rows.order_by()
        .values_list("team_id", "kind", "resource", "day")
        .annotate(n=Sum("quantity"))
    )
    found = [(team, kind, resource, day, int(n)) for team, kind, resource, day, n in sums]
    if last >= clock.now().date():
        found += [
            (team, kind, resource, day, n)
            for team, resource, day, n, kind in costs.running_in(org.id, first)
            if teams is None or team in teams
        ]
    return found


def _by_team(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        one = found.setdefault(
            row["team"],
            {
                "team": row["team"],
                "name": row["team_name"],
                "cost": Decimal(),
                "gpu_hours": Decimal(),
            },
        )
        one["cost"] += row["cost"] or 0
        if row["resource"].startswith("gpu"):
            one["gpu_hours"] += row["hours"]
    return sorted(found.values(), key=lambda one: (-one["cost"], -one["gpu_hours"], one["name"]))


def budget_rows(actor: Actor) -> list[dict[str, Any]]:
    """Return the budgets that the actor may see, the organization's first."""
    teams = visible_teams(actor)
    rows = Budget.objects.select_related("team", "org")
    if teams is not None:
        rows = rows.filter(team__in=teams)
    month = month_of(clock.now().date())
    found = [
        {
            "team": row.team.slug if row.team else None,
            "name": row.team.name if row.team else row.org.name,
            "amount": row.amount,
            "spent": row.spent if row.month == month else Decimal(),
            "stops": row.stops,
            "percent": round(100 * row.spent / row.amount) if row.month == month else 0,
        }
        for row in rows
    ]
    return sorted(found, key=lambda one: (one["team"] is not None, one["name"]))


def price_rows(currency: str = "") -> list[dict[str, Any]]:
    """Return all prices by currency, class and day, with the last day of each and whether it is valid."""
    rows = Price.objects.order_by("currency", "resource", "-starts_on")
    rows = rows.filter(currency=currency) if currency else rows
    today, found = clock.now().date(), list[dict[str, Any]]()
    later: Price | None = None
    for row in rows:
        is_same = later and (later.currency, later.resource) == (row.currency, row.resource)
        until = later.starts_on if later and is_same else None
        found.append(
            {
                "id": row.id,
                "currency": row.currency,
                "resource": row.resource,
                "unit": "percent" if row.resource == LOST else unit_of(row.resource),
                "amount": digits(row.amount, row.currency, ""),
                "starts_on": row.starts_on,
                "ends_before": until,
                "is_valid": row.starts_on <= today and (until is None or until > today),
            }
        )
        later = row
    return found


def unpriced_classes() -> list[str]:
    """Return classes used in the last months that no price list covers. In a platform scope."""
    used = set(UsageDay.objects.order_by().values_list("resource", flat=True).distinct())
    priced = set(Price.objects.order_by().values_list("resource", flat=True).distinct())
    return sorted(
        name for name in used - priced if not ("gpu" in priced and costs_like_a_gpu(name))
    )
