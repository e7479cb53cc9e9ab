"""What use costs: of days, of jobs so far, and of a job to be submitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Sum

from billing.amounts import at_ms, by_day, day_of, hours_of, money, rounded, start_of
from billing.models import LedgerLine, UsageDay
from billing.selectors.access import visible_teams
from billing.services.ledger import GpuClasses, UsageSpan, resources_of, runs_of
from billing.services.prices import PriceList, account_of
from jobs.models import Attempt, Job
from jobs.specs.stored import request_of
from portal.core import clock
from schedulers.spec import JobSpec
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.models import Team

MOST_ATTEMPTS = 500
Used = tuple[UUID, str, date, int, str]  # team, resource class, day, quantity, kind of line


def cost_of(used: Iterable[Used], prices: PriceList) -> dict[UUID, Decimal]:
    """Return the cost by team, less discounts, without rounding; what has no price is left out."""
    found: dict[UUID, Decimal] = defaultdict(Decimal)
    for team, resource, day, quantity, kind in used:
        if (price := prices.hourly(resource, day, team, kind)) is not None:
            found[team] += hours_of(resource, quantity) * price
    return found


def used_in(org_id: UUID, first: date, last: date) -> list[Used]:
    """Return what the ledger has for these days."""
    rows = (
        UsageDay.objects.filter(org_id=org_id, day__gte=first, day__lte=last)
        .order_by()
        .values_list("team_id", "resource", "day", "kind")
        .annotate(n=Sum("quantity"))
    )
    return [(team, resource, day, int(n), kind) for team, resource, day, kind, n in rows]


def running_in(org_id: UUID, first: date) -> list[Used]:
    """Return what running attempts have used that is not in the ledger: today, and since `first`."""
    return [
        (run.team_id, name, day, n * ms, "job")
        for run, day, ms in unbilled(first, org_id=org_id)
        for name, n in run.resources.items()
    ]


def unbilled(first: date, **where: Any) -> Iterator[tuple[UsageSpan, date, int]]:
    """Yield the days since `first` of running attempts that are not in the ledger, such as today.

    With each the milliseconds that the attempt ran. `where` filters the attempts.
    """
    now = clock.now_ms()
    today = start_of(day_of(now))
    rows = Attempt.objects.filter(
        state__gt=State.DISPATCHING,
        state__lt=State.SUCCEEDED,
        started_at__isnull=False,
        **where,
    )
    known = _accrued(rows.filter(started_at__lt=at_ms(today)))
    for run in runs_of(rows, GpuClasses(), now):
        for day, a, b in by_day(max(run.start, start_of(first)), run.end):
            if (run.attempt_id, day) not in known:
                yield run, day, b - a


def _accrued(rows: Any) -> set[tuple[UUID, date]]:
    """Return the days of running attempts that the ledger has."""
    lines = LedgerLine.objects.filter(source__in=rows.order_by().values("id"))
    return set(lines.order_by().values_list("source", "day").distinct())


def cost_of_jobs(job_ids: Collection[UUID]) -> tuple[Decimal | None, str]:
    """Return what jobs of one organization cost until now, with the currency; None without prices.

    Many attempts are read from the ledger, which is two minutes behind.
    """
    job = Job.objects.filter(id__in=list(job_ids)).only("org_id").first()
    if job is None:
        return None, ""
    account = account_of(job.org_id)
    prices = PriceList(account.currency, job.org_id)
    if prices.is_empty:
        return None, ""
    rows = Attempt.objects.filter(job_id__in=list(job_ids), started_at__isnull=False)
    used: list[Used] = []
    if rows.count() > MOST_ATTEMPTS:
        active = rows.filter(state__lt=State.SUCCEEDED)
        lines = LedgerLine.objects.filter(job_id__in=list(job_ids)).exclude(
            source__in=active.order_by().values("id")
        )
        sums = lines.order_by().values_list("team_id", "resource", "day", "kind")
        used = [
            (team, resource, day, int(n), kind)
            for team, resource, day, kind, n in sums.annotate(Sum("quantity"))
        ]
        rows = active
    used += _used_by(runs_of(rows, GpuClasses(), clock.now_ms()))
    costs = cost_of(used, prices)
    return (sum(costs.values(), Decimal()) if costs else None), account.currency


def _used_by(runs: Iterable[UsageSpan]) -> Iterator[Used]:
    for run in runs:
        for kind, day, start, end in run.spans():
            for resource, units in run.resources.items():
                yield run.team_id, resource, day, units * (end - start), kind


def cost_of_job(job_ids: Collection[UUID]) -> str:
    """Return the cost of jobs as text; "" if nothing has a price."""
    cost, currency = cost_of_jobs(job_ids)
    return "" if cost is None else money(cost, currency)


def price_of_spec(actor: Actor, team: Team | None, spec: JobSpec) -> dict[str, Any] | None:
    """Return what all tasks of a job cost in an hour, and at most: until their time limit.

    The discount of a team counts for those who see what it uses.
    """
    if actor.org_id is None:
        return None
    teams = visible_teams(actor)
    seen = team.id if team and (teams is None or team.id in teams) else None
    account = account_of(actor.org_id)
    prices = PriceList(account.currency, actor.org_id)
    day = clock.now().date()
    totals = request_of(spec).totals
    amounts = resources_of(totals, "gpu")
    hourly = Decimal()
    known = False
    for resource, units in amounts.items():
        price = prices.hourly(resource, day, seen)
        if price is not None:
            known = True
            hourly += hours_of(resource, units * 3_600_000) * price
    if not known:
        return None
    hourly *= spec.tasks
    limit = spec.policy.max_runtime
    most = hourly * Decimal(limit) / 3600 if limit else None
    return {
        "currency": account.currency,
        "hourly": str(rounded(hourly, account.currency)),
        "most": None if most is None else str(rounded(most, account.currency)),
        "hourly_text": money(hourly, account.currency),
        "most_text": None if most is None else money(most, account.currency),
    }
