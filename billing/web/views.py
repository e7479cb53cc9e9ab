"""Pages of cost, budgets and statements of an organization."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from billing.amounts import money, month_of, next_month, resource_text, start_of
from billing.api.views import as_file, days_of, month_in, statement_of
from billing.documents import KINDS, ROUNDING, line_texts, period
from billing.models import LedgerLine, Statement
from billing.selectors import spending as spent
from billing.selectors.access import team_rows
from billing.services import budgets, statements
from billing.services.prices import account_of
from portal.core import clock
from portal.core.errors import NotFound
from portal.core.messages import Message
from portal.web.charts import COLOURS, Chart, Curve, chart_of
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.web.base import action, page

_DAY, _CENT = timedelta(days=1), Decimal("0.01")
MOST_TEAMS = 7  # of the chart


def crumbs(slug: str) -> list[tuple[Any, str]]:
    return [(Message("Usage", context="navigation"), f"/{slug}/usage")]


@page(None, ("GET", "HEAD", "POST"))
def cost(request: Any) -> HttpResponse:
    """Show hours and cost by team and class, and the budgets; set a budget."""
    if request.method == "POST":
        return _set_budget(request)
    first, last = days_of(request.GET)
    teams = list(team_rows(request.actor))
    slug = request.GET.get("team", "")
    team = next((row for row in teams if row.slug == slug), None)
    if slug and team is None:
        raise NotFound(Message("There is no team {x} that you can see.", x=slug[:40]))
    found = spent.spending(request.actor, request.org, first, last, team.id if team else None)
    shown = [row for row in found.rows if row["cost"] is None or row["cost"] >= _CENT]
    top = max((one["cost"] for one in found.teams), default=Decimal()) or Decimal(1)
    today = clock.now().date()
    month = month_of(today)
    earlier = month_of(month - _DAY)
    is_current = first == month and today <= last < next_month(month)
    forecast = (
        spent.forecast_of(request.actor, request.org, team.id if team else None)
        if is_current
        else None
    )
    return render(
        request,
        "billing/cost.html",
        {
            "page_title": Message("Cost", context="page title"),
            "crumbs": crumbs(request.org.slug),
            "tab": "cost",
            "spending": found,
            "rows": [
                row
                | {
                    "kind_text": KINDS.get(row["kind"], row["kind"]),
                    "resource_text": resource_text(row["resource"]),
                    "cost_text": money(row["cost"], found.currency),
                }
                for row in shown
            ],
            "cheap": len(found.rows) - len(shown),
            "teams_shown": [
                one | {"cost_text": money(one["cost"], found.currency), "share": one["cost"] / top}
                for one in found.teams
            ],
            "total_text": money(found.total, found.currency),
            "gpu_hours": sum(
                (row["hours"] for row in found.rows if row["resource"].startswith("gpu")),
                Decimal(),
            ),
            "chart": _cost_by_day(found, forecast),
            "forecast": forecast and _forecast_texts(forecast, found.currency),
            "budgets": [
                row
                | {
                    "spent_text": money(row["spent"], found.currency),
                    "amount_text": money(row["amount"], found.currency),
                    "level": "is-full"
                    if row["percent"] >= 100
                    else "is-high"
                    if row["percent"] >= 80
                    else "",
                }
                for row in spent.budget_rows(request.actor)
            ],
            "teams": teams,
            "team": slug,
            "first": first,
            "last": last,
            "months": [
                (f"{m:%Y-%m}", m.isoformat(), (next_month(m) - _DAY).isoformat())
                for m in (month, earlier)
            ],
            "may_bill": request.actor.may(P.BILLING_READ),
            "may_budget": request.actor.may(P.QUOTAS_WRITE),
        },
    )


def _cost_by_day(found: spent.Spending, forecast: spent.Forecast | None) -> Chart:
    """Return the cost of each day by team, those that cost most below; then what is expected."""
    coming = forecast.days if forecast else {}
    used = [day for day, costs in found.days.items() if any(costs.values())]
    if not used:
        return chart_of([])
    last = max([*used, *coming])
    days = [min(used) + _DAY * n for n in range((last - min(used)).days + 1)]
    top, rest = found.teams[:MOST_TEAMS], found.teams[MOST_TEAMS:]

    def curve(label: Message | str, teams: list[dict[str, Any]], colour: str) -> Curve:
        slugs, total = {one["team"] for one in teams}, sum(one["cost"] for one in teams)
        values = [
            float(sum(found.days[day].get(slug, 0) for slug in slugs))
            if day in found.days
            else None
            for day in days
        ]
        return Curve(label, values, colour, "bars", money(Decimal(total), found.currency))

    curves = [curve(one["name"], [one], COLOURS[at]) for at, one in enumerate(top) if one["cost"]]
    if any(one["cost"] for one in rest):
        curves.append(curve(Message("Others", context="curve of a chart"), rest, "--text-3"))
    if forecast:
        values = [float(coming[day]) if day in coming else None for day in days]
        note = money(forecast.total - forecast.so_far, found.currency)
        curves.append(
            Curve(
                Message("Forecast", context="text, billing"), values, "--text-2", "forecast", note
            )
        )
    times = [start_of(day) // 1000 for day in days]
    return chart_of(times, *curves, unit=found.currency, is_stacked=True, is_daily=True)


def _forecast_texts(forecast: spent.Forecast, currency: str) -> dict[str, Any]:
    return {
        "total": money(forecast.total, currency),
        "so_far": money(forecast.so_far, currency),
        "daily": money(forecast.daily, currency),
        "whole_days": forecast.whole_days,
        "last": forecast.last,
    }


def _set_budget(request: Any) -> HttpResponse:
    form = request.POST

    def act() -> None:
        slug = form.get("team", "")
        team = Team.objects.filter(slug=slug).first() if slug else None
        if slug and team is None:
            raise NotFound(Message("There is no team {x} that you can see.", x=slug[:40]))
        if form.get("do") == "remove":
            budgets.remove_budget(actor=request.actor, org=request.org, team=team)
            return
        budgets.set_budget(
            actor=request.actor,
            org=request.org,
            team=team,
            amount=form.get("amount", ""),
            stops=bool(form.get("stops")),
        )

    removed = form.get("do") == "remove"
    done = Message("Budget removed.") if removed else Message("Budget saved.")
    return action(request, request.path, done, act)


@page(P.BILLING_READ)
def statement_list(request: Any) -> HttpResponse:
    """List issued statements, and the drafts of this month and of the last one, if it had use."""
    today = clock.now().date()
    rows = list(Statement.objects.order_by("-month"))
    month = month_of(today)
    earlier = month_of(month - _DAY)
    issued = {row.month for row in rows}
    had_use = LedgerLine.objects.filter(day__gte=earlier, day__lt=month).exists()
    drafts = [m for m in (month, *([earlier] if had_use else [])) if m not in issued]
    return render(
        request,
        "billing/statements.html",
        {
            "page_title": Message("Statements", context="page title"),
            "crumbs": crumbs(request.org.slug),
            "tab": "statements",
            "rows": [
                {"row": row, "total": money(row.total, row.currency), "month": f"{row.month:%Y-%m}"}
                for row in rows
            ],
            "drafts": [(m, m == month) for m in drafts],
            "account": account_of(request.org.id),
        },
    )


@page(P.BILLING_READ)
def statement(request: Any, month: str) -> Any:
    """Show a statement or a draft; `as` downloads it."""
    document, row = statement_of(request.org, month_in(month))
    if wanted := request.GET.get("as", ""):
        return as_file(request.org, document, row, wanted)
    currency = document["currency"]
    return render(
        request,
        "billing/statement.html",
        {
            "page_title": document["number"],
            "crumbs": [
                *crumbs(request.org.slug),
                (
                    Message("Statements", context="navigation"),
                    f"/{request.org.slug}/usage/statements",
                ),
            ],
            "document": document,
            "rounding": ROUNDING,
            "period": period(document),
            "row": row,
            "is_intact": statements.is_intact(row) if row else True,
            "lines": [
                line_texts(line, currency) | {"team": line["team_name"]}
                for line in document["lines"]
            ],
            "totals": {
                name: money(Decimal(amount), currency)
                for name, amount in document["totals"].items()
                if name in ("usage", "total") or Decimal(amount)
            },
            "teams": [
                one | {"cost_text": money(Decimal(one["cost"]), currency)}
                for one in document["teams"]
            ],
        },
    )
