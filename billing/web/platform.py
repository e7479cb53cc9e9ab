"""Pages for operators: prices, how organizations pay, and statements."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.http import HttpResponse
from django.shortcuts import render

from billing.amounts import digits, money, month_of, resource_text
from billing.api.views import day_of, month_in
from billing.models import BillingAccount, Credit, Discount, Statement, UsageDay
from billing.selectors import spending as spent
from billing.services import prices as service
from billing.services import statements as statement_service
from clusters.models import Gpu
from portal.core import clock
from portal.core.errors import NotFound, PortalError
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.models import Organization, Team
from workspaces.tenancy.scope import org_scope, platform_scope
from workspaces.web.base import action, page

_WHY = "operators see how organizations pay"
MOST = 500
MONTHS = 13  # to choose from


@page(P.PLATFORM_ADMIN, ("GET", "HEAD", "POST"))
def prices(request: Any) -> HttpResponse:
    """List prices; set and delete them."""
    if request.method == "POST":
        return _change_price(request)
    currency = request.GET.get("currency", "")
    with platform_scope(_WHY):
        unpriced = spent.unpriced_classes()
    rows = spent.price_rows(currency)
    return render(
        request,
        "billing/prices.html",
        {
            "page_title": Message("Prices", context="page title"),
            "tab": "prices",
            "rows": [
                row
                | {
                    "name": _price_name(row["resource"]),
                    "text": f"{Decimal(row['amount']).normalize():f} %"
                    if row["resource"] == service.LOST
                    else f"{digits(Decimal(row['amount']), row['currency'])} {row['currency']}",
                }
                for row in rows
            ],
            "currency": currency,
            "currencies": sorted({row["currency"] for row in spent.price_rows()}),
            "unpriced": unpriced,
            "classes": _classes({*unpriced, *(row["resource"] for row in rows)}),
            "today": clock.now().date().isoformat(),
        },
    )


_PRICE_NAMES = {
    "cpu": Message("CPU core", context="what has a price"),
    "memory": Message("GiB of memory", context="what has a price"),
    "storage": Message("GiB of storage", context="what has a price"),
    "gpu": Message("Other GPUs", context="what has a price"),
    service.LOST: Message("Lost time", context="text, billing"),
}


def _price_name(resource: str) -> str:
    return _PRICE_NAMES.get(resource) or resource_text(resource)


def _classes(used: Iterable[str]) -> list[tuple[str, str]]:
    """Return what can have a price, with its name: the models of GPUs first."""
    models = set(Gpu.objects.order_by().values_list("type", flat=True).distinct())
    own = {f"gpu.{model}" for model in models} | set(used)
    return [(key, _price_name(key)) for key in (*sorted(own - _PRICE_NAMES.keys()), *_PRICE_NAMES)]


def _change_price(request: Any) -> HttpResponse:
    form = request.POST

    def act() -> None:
        if form.get("do") == "delete":
            price_id = _uuid(form.get("price", ""))
            if price_id is None:
                raise NotFound(Message("There is no such price."))
            service.delete_price(actor=request.actor, price_id=price_id)
            return
        service.set_price(
            actor=request.actor,
            currency=form.get("currency", ""),
            resource=form.get("resource", ""),
            amount=form.get("amount", ""),
            starts_on=day_of(form.get("starts_on"), "starts_on") or clock.now().date(),
        )

    deleted = form.get("do") == "delete"
    done = Message("Price deleted.") if deleted else Message("Price saved.")
    return action(request, request.path, done, act)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


@page(P.PLATFORM_ADMIN, ("GET", "HEAD", "POST"))
def accounts(request: Any) -> HttpResponse:
    """List how organizations pay; change currency and mode, set discounts, add left."""
    if request.method == "POST":
        return _change_account(request)
    today = clock.now().date()
    with platform_scope(_WHY):
        orgs = list(Organization.objects.order_by("name")[:MOST])
        known = {row.org_id: row for row in BillingAccount.objects.all()}
        discounts: dict[Any, list[Discount]] = {}
        for row in (
            Discount.objects.filter(starts_on__lte=today)
            .select_related("team")
            .order_by("starts_on")
        ):
            discounts.setdefault(row.org_id, []).append(row)
        left: dict[Any, Decimal] = {}
        for credit in Credit.objects.all():
            account = known.get(credit.org_id)
            # Statements use only what is in their currency
            if credit.currency == (account.currency if account else service.DEFAULT_CURRENCY):
                before = left.get(credit.org_id, Decimal())
                left[credit.org_id] = before + credit.amount - credit.used
        teams: dict[Any, list[Team]] = {}
        for team in Team.objects.order_by("name"):
            teams.setdefault(team.org_id, []).append(team)
    rows: list[dict[str, Any]] = []
    for org in orgs:
        account = known.get(org.id) or BillingAccount(
            org_id=org.id, currency=service.DEFAULT_CURRENCY
        )
        latest = {one.team_id: one for one in discounts.get(org.id, ())}
        rows.append(
            {
                "org": org,
                "account": account,
                "discounts": [
                    (one.team.name if one.team else "", one.percent)
                    for one in latest.values()
                    if one.percent
                ],
                "credit": money(left[org.id], account.currency) if left.get(org.id) else "",
                "teams": teams.get(org.id, ()),
            }
        )
    chosen = next((row for row in rows if row["org"].slug == request.GET.get("org")), None)
    return render(
        request,
        "billing/accounts.html",
        {
            "page_title": Message("Billing accounts", context="page title"),
            "crumbs": [(Message("Prices", context="navigation"), "/platform/prices")],
            "tab": "accounts",
            "rows": rows,
            "chosen": chosen,
            "modes": [
                ("showback", Message("Showback: for information")),
                ("chargeback", Message("Chargeback: to be paid")),
            ],
            "today": today.isoformat(),
        },
    )


def _change_account(request: Any) -> HttpResponse:
    form = request.POST

    def act() -> None:
        org = Organization.objects.filter(slug=form.get("org", "")).first()
        if org is None:
            raise NotFound(Message("There is no such organization."))
        with org_scope(org.id):
            slug = form.get("team", "")
            team = Team.objects.filter(slug=slug).first() if slug else None
            day = day_of(form.get("starts_on"), "starts_on") or clock.now().date()
            if form.get("do") == "discount":
                service.set_discount(
                    actor=request.actor,
                    org=org,
                    team=team,
                    percent=form.get("percent", ""),
                    starts_on=day,
                )
            elif form.get("do") == "credit":
                service.add_credit(
                    actor=request.actor,
                    org=org,
                    team=team,
                    amount=form.get("amount", ""),
                    starts_on=day,
                    note=form.get("note", ""),
                )
            else:
                service.set_account(
                    actor=request.actor,
                    org=org,
                    currency=form.get("currency", ""),
                    mode=form.get("mode", ""),
                    address=form.get("address", ""),
                )

    return action(request, request.get_full_path(), Message("Saved.", context="message"), act)


@page(P.PLATFORM_ADMIN, ("GET", "HEAD", "POST"))
def statements(request: Any) -> HttpResponse:
    """List the statements of a month of all organizations; issue them."""
    if request.method == "POST":
        return _issue(request)
    current = month_of(clock.now().date())
    last = month_of(current - timedelta(days=1))
    month = month_in(request.GET["month"]) if request.GET.get("month") else last
    with platform_scope(_WHY):
        orgs = list(Organization.objects.order_by("name")[:MOST])
        issued = {row.org_id: row for row in Statement.objects.filter(month=month)}
        months = sorted({month, *_months_with_use(current)}, reverse=True)
    rows = [_statement_row(org, issued.get(org.id), month) for org in orgs]
    due = [row for row in rows if row["row"] is None and row["amount"]]
    return render(
        request,
        "billing/platform_statements.html",
        {
            "page_title": Message("Statements", context="page title"),
            "crumbs": [(Message("Prices", context="navigation"), "/platform/prices")],
            "tab": "statements",
            "rows": rows,
            "month": f"{month:%Y-%m}",
            "months": [f"{one:%Y-%m}" for one in months],
            "due": len(due),
            "due_totals": _totals(due),
            "is_over": month <= last,
        },
    )


def _statement_row(org: Organization, row: Statement | None, month: date) -> dict[str, Any]:
    """Return the statement of an organization, or what its draft says now."""
    if row:
        amount, currency = row.total, row.currency
    else:
        with org_scope(org.id):
            document = statement_service.draft(org, month)
        amount, currency = Decimal(document["totals"]["total"]), document["currency"]
    shown = {"amount": amount, "currency": currency, "total": money(amount, currency)}
    return {"org": org, "row": row} | shown


def _totals(rows: Iterable[dict[str, Any]]) -> str:
    """Return the sums of statements by currency: "120.00 EUR, 15,420.71 USD"."""
    sums: dict[str, Decimal] = {}
    for row in rows:
        sums[row["currency"]] = sums.get(row["currency"], Decimal()) + row["amount"]
    return ", ".join(money(total, currency) for currency, total in sorted(sums.items()))


def _months_with_use(current: date) -> list[date]:
    """Return the last 13 months, from the first in which something was used; newest first."""
    first = UsageDay.objects.filter(org=OuterRef("pk")).order_by("day").values("day")[:1]
    days = Organization.objects.annotate(first=Subquery(first)).values_list("first", flat=True)
    start = min((day for day in days if day), default=None)
    if start is None:
        return []
    found = [current]
    while found[-1] > month_of(start) and len(found) < MONTHS:
        found.append(month_of(found[-1] - timedelta(days=1)))
    return found


def _issue(request: Any) -> HttpResponse:
    month = month_in(request.POST.get("month", ""))
    slug = request.POST.get("org", "")

    def act() -> None:
        with platform_scope(_WHY):
            orgs = list(Organization.objects.order_by("name"))
            done = set(Statement.objects.filter(month=month).values_list("org_id", flat=True))
        chosen = [org for org in orgs if org.slug == slug] if slug else orgs
        if not chosen:
            raise NotFound(Message("There is no such organization."))
        failed: PortalError | None = None
        for org in chosen:
            if slug or org.id not in done:
                try:
                    statement_service.issue_statement(actor=request.actor, org=org, month=month)
                except PortalError as error:
                    failed = error
        if failed:
            raise failed

    back = f"{request.path}?month={month:%Y-%m}"
    return action(request, back, Message("Issued. These statements never change."), act)
