"""Monthly statements: drafts, issuing, corrections of issued ones, and credits.

The cost of each line is rounded to the smallest coin, half to even, and the total is the sum of
the rounded lines. An issued statement is never computed again: what has changed since, such as an
end that was found late or a price, is a correction in the next one.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Sum

from billing.amounts import hours_of, month_of, next_month, rounded, unit_of
from billing.models import BillingAccount, Credit, Statement, UsageDay
from billing.services.ledger import update_ledger
from billing.services.prices import PriceList, account_of
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team
from workspaces.tenancy.scope import org_scope

LOOK_BACK = 12  # months of which statements are corrected


class LineKey(NamedTuple):
    """What a line is about."""

    team_id: UUID
    kind: str
    resource: str


class Priced(NamedTuple):
    key: LineKey
    price: Decimal | None
    percent: Decimal


def draft(org: Organization, month: date) -> dict[str, Any]:
    """Return what the statement of a month would say now. Run in the organization's scope."""
    month = month_of(month)
    account = account_of(org.id)
    prices = PriceList(account.currency, org.id)
    names = {row.id: row for row in Team.objects.filter(org=org)}
    lines = [*_usage_lines(org, month, prices, names), *_corrections(org, month, prices, names)]
    lines += _credit_lines(org, month, account, lines, names)
    return _document(org, month, account, lines)


@transaction.atomic
def issue_statement(*, actor: Actor, org: Organization, month: date) -> Statement:
    """Issue the statement of a month that is over; it never changes after that.

    Raises NotPermitted, and Conflict if the month is not over or its statement exists.
    """
    authorize(actor, Permission.PLATFORM_ADMIN)
    month = month_of(month)
    if next_month(month) > clock.now().date():
        raise Conflict(Message("The month is not over. You can see its draft."))
    update_ledger()
    with org_scope(org.id):
        Organization.objects.select_for_update().get(id=org.id)
        if Statement.objects.filter(org=org, month=month).exists():
            raise Conflict(Message("The statement of this month was issued already."))
        document = draft(org, month) | {
            "issued_at": clock.now().isoformat(),
            "issued_by": actor.email,
        }
        _use_credits(document)
        row = Statement(
            org=org,
            number=f"{org.slug}-{month:%Y-%m}",
            month=month,
            currency=document["currency"],
            total=Decimal(document["totals"]["total"]),
            issued_by=actor.email,
            document=document,
            sha256=digest(document),
        )
        row.save()
    data = {
        "name": row.number,
        "before": {},
        "after": {"total": f"{row.total} {row.currency}", "sha256": row.sha256},
    }
    record(EventRecord("statement.issued", org.id, "statement", row.id, actor.email, data))
    return row


def digest(document: dict[str, Any]) -> str:
    """Return the SHA-256 of a document's canonical JSON."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def is_intact(row: Statement) -> bool:
    """Return whether a statement is as it was issued."""
    return digest(row.document) == row.sha256


def _usage(org: Organization, month: date, prices: PriceList) -> dict[Priced, int]:
    rows = (
        UsageDay.objects.filter(org=org, day__gte=month, day__lt=next_month(month))
        .order_by()
        .values_list("team_id", "kind", "resource", "day")
        .annotate(n=Sum("quantity"))
    )
    found: dict[Priced, int] = defaultdict(int)
    for team, kind, resource, day, n in rows:
        price = prices.price(resource, day)
        found[Priced(LineKey(team, kind, resource), price, prices.discount(team, day, kind))] += (
            int(n)
        )
    return found


def _usage_lines(
    org: Organization, month: date, prices: PriceList, names: dict[UUID, Team]
) -> Iterator[dict[str, Any]]:
    usage = _usage(org, month, prices)
    for priced, quantity in sorted(usage.items(), key=lambda one: _order(one[0], names)):
        full, off = _cost(priced, quantity, prices.currency)
        yield _line(priced.key, month, quantity, names) | {
            "price": None if priced.price is None else f"{priced.price.normalize():f}",
            "percent": f"{priced.percent:f}",
            "list": str(full),
            "discount": str(-off),
            "cost": str(full - off),
        }


def _order(priced: Priced, names: dict[UUID, Team]) -> tuple[Any, ...]:
    team = names.get(priced.key.team_id)
    order = {"job": 0, "lost": 1, "reservation": 2, "storage": 3}
    return (
        team.name if team else "",
        str(priced.key.team_id),
        order.get(priced.key.kind, 9),
        not priced.key.resource.startswith("gpu"),
        priced.key.resource,
        priced.price or 0,
        priced.percent,
    )


def _cost(priced: Priced, quantity: int, currency: str) -> tuple[Decimal, Decimal]:
    """Return the list cost and the discount, each rounded."""
    full = rounded(hours_of(priced.key.resource, quantity) * (priced.price or 0), currency)
    return full, rounded(full * priced.percent / 100, currency)


def _line(key: LineKey, month: date, quantity: int, names: dict[UUID, Team]) -> dict[str, Any]:
    team = names.get(key.team_id)
    return {
        "category": "Usage",
        "class": "",
        "month": month.isoformat(),
        "team_id": str(key.team_id),
        "team": team.slug if team else "",
        "team_name": team.name if team else "",
        "kind": key.kind,
        "resource": key.resource,
        "unit": unit_of(key.resource),
        "quantity": quantity,
        "hours": f"{hours_of(key.resource, quantity):.6f}",
        "price": None,
        "percent": "0",
        "list": "0",
        "discount": "0",
        "cost": "0",
        "note": "",
    }


def _corrections(
    org: Organization, month: date, prices: PriceList, names: dict[UUID, Team]
) -> Iterator[dict[str, Any]]:
    """Yield the differences between what the ledger says now and what was billed for a month."""
    every = list(Statement.objects.filter(org=org, currency=prices.currency).order_by("-month"))
    issued = [row for row in every if row.month < month][:LOOK_BACK]
    billed: dict[str, dict[LineKey, list[Any]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for row in every:
        for line in row.document["lines"]:
            if line["category"] == "Usage":
                key = LineKey(UUID(line["team_id"]), line["kind"], line["resource"])
                cell = billed[line["month"]][key]
                cell[0] += line["quantity"]
                cell[1] += Decimal(line["cost"])
    for row in reversed(issued):
        before = billed[row.month.isoformat()]
        now: dict[LineKey, list[Any]] = defaultdict(lambda: [0, Decimal()])
        for priced, quantity in _usage(org, row.month, prices).items():
            full, off = _cost(priced, quantity, prices.currency)
            now[priced.key][0] += quantity
            now[priced.key][1] += full - off
        for key in sorted({*before, *now}, key=str):
            quantity = now[key][0] - before[key][0]
            cost = now[key][1] - Decimal(before[key][1])
            if quantity or cost:
                yield _line(key, row.month, quantity, names) | {
                    "class": "Correction",
                    "list": str(cost),
                    "cost": str(cost),
                    "note": f"Correction of {row.number}",
                }


def _credit_lines(
    org: Organization,
    month: date,
    account: BillingAccount,
    lines: Iterable[dict[str, Any]],
    names: dict[UUID, Team],
) -> list[dict[str, Any]]:
    due: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        due[line["team_id"]] += Decimal(line["cost"])
    left = sum(due.values(), Decimal())
    found = []
    rows = Credit.objects.filter(
        org=org, currency=account.currency, starts_on__lt=next_month(month)
    )
    # Credits of teams first: those of the organization cover what is left.
    for credit in sorted(rows, key=lambda row: (row.team_id is None, row.created_at, row.id)):
        most = min(left, due[str(credit.team_id)]) if credit.team_id else left
        amount = min(credit.amount - credit.used, most)
        if amount <= 0:
            continue
        left -= amount
        team = names.get(credit.team_id) if credit.team_id else None
        if credit.team_id:
            due[str(credit.team_id)] -= amount
        found.append(
            {
                "category": "Credit",
                "class": "",
                "month": month.isoformat(),
                "team_id": str(credit.team_id) if credit.team_id else None,
                "team": team.slug if team else "",
                "team_name": team.name if team else "",
                "kind": "credit",
                "resource": "",
                "unit": "",
                "quantity": 0,
                "hours": "0",
                "price": None,
                "percent": "0",
                "list": "0",
                "discount": "0",
                "cost": str(-amount),
                "note": credit.note,
                "credit": str(credit.id),
            }
        )
    return found


def _use_credits(document: dict[str, Any]) -> None:
    for line in document["lines"]:
        if line["category"] == "Credit":
            row = Credit.objects.select_for_update().get(id=line["credit"])
            row.used -= Decimal(line["cost"])
            row.save(update_fields=["used"])


def _document(
    org: Organization, month: date, account: BillingAccount, lines: list[dict[str, Any]]
) -> dict[str, Any]:
    def add(name: str, *, category: str, is_correction: bool | None = None) -> Decimal:
        return sum(
            (
                Decimal(line[name])
                for line in lines
                if line["category"] == category
                and is_correction in (None, line["class"] == "Correction")
            ),
            Decimal(),
        )

    teams: dict[str, dict[str, Any]] = {}
    for line in lines:
        one = teams.setdefault(
            line["team"], {"team": line["team"], "name": line["team_name"], "cost": Decimal()}
        )
        one["cost"] += Decimal(line["cost"])
    total = sum((Decimal(line["cost"]) for line in lines), Decimal())
    return {
        "number": f"{org.slug}-{month:%Y-%m}",
        "organization": {"slug": org.slug, "name": org.name, "address": account.address},
        "currency": account.currency,
        "mode": str(account.mode),
        "month": month.isoformat(),
        "until": next_month(month).isoformat(),
        "lines": lines,
        "teams": [one | {"cost": str(one["cost"])} for _, one in sorted(teams.items())],
        "totals": {
            "list": str(add("list", category="Usage", is_correction=False)),
            "discount": str(add("discount", category="Usage", is_correction=False)),
            "usage": str(add("cost", category="Usage", is_correction=False)),
            "corrections": str(add("cost", category="Usage", is_correction=True)),
            "credits": str(add("cost", category="Credit")),
            "total": str(total),
        },
    }
