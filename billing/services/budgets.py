"""Budgets of organizations and teams: thresholds, and the stop of new jobs."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db import transaction

from billing import costs
from billing.amounts import month_of, next_month, rounded
from billing.models import Budget
from billing.services.prices import PriceList, account_of, decimal
from portal.core import clock
from portal.core.errors import InvalidInput, NotFound, QuotaExceeded
from portal.core.events import EventRecord, changes, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.models import Organization, Team
from workspaces.tenancy.scope import org_scope, platform_scope

log = logging.getLogger(__name__)
THRESHOLDS = (50, 80, 100)  # percent
_STOPS = "usage-budget-stops"
_STOPS_FOR = 15  # seconds


@transaction.atomic
def set_budget(
    *, actor: Actor, org: Organization, team: Team | None, amount: object, stops: bool = False
) -> Budget:
    """Set what an organization or a team means to spend a month. Raises NotPermitted, InvalidInput."""
    authorize(actor, Permission.QUOTAS_WRITE)
    value = decimal(amount, "amount")
    if not value:
        raise InvalidInput.at("amount", "must be more than 0")
    row = Budget.objects.select_for_update().filter(org=org, team=team).first()
    before = {"amount": str(row.amount), "stops": row.stops} if row else {}
    row = row or Budget(org=org, team=team)
    row.amount, row.stops, row.reached = value, stops, 0
    row.save()
    after = {"amount": str(value), "stops": stops}
    _record("set", actor.email, row, org, before, after)
    _check(row, _spent(org.id), org)
    transaction.on_commit(_forget_stops)
    return row


@transaction.atomic
def remove_budget(*, actor: Actor, org: Organization, team: Team | None) -> None:
    """Remove a budget. Raises NotPermitted, NotFound."""
    authorize(actor, Permission.QUOTAS_WRITE)
    row = Budget.objects.select_for_update().filter(org=org, team=team).first()
    if row is None:
        raise NotFound(Message("There is no such budget."))
    _record("removed", actor.email, row, org, {"amount": str(row.amount)}, {})
    row.delete()
    transaction.on_commit(_forget_stops)


def check_budgets() -> None:
    """Compare every budget with the cost of this month, and report thresholds once each."""
    with platform_scope("budgets of every organization are checked"):
        rows = list(Budget.objects.select_related("org", "team").order_by("org"))
    for org in {row.org_id: row.org for row in rows}.values():
        try:
            _check_all(org, [row.id for row in rows if row.org_id == org.id])
        except Exception:  # one organization must not keep the budgets of others from stopping
            log.exception("budgets of %s", org.slug)
    _forget_stops()


def _check_all(org: Organization, ids: Iterable[UUID]) -> None:
    with org_scope(org.id):
        spent = _spent(org.id)
        for pk in ids:
            with transaction.atomic():
                row = Budget.objects.select_for_update().filter(id=pk).first()
                if row is not None:
                    _check(row, spent, org)


def _spent(org_id: UUID) -> dict[UUID, Decimal]:
    """Return the cost of this month by team, with what runs."""
    account, month = account_of(org_id), month_of(clock.now().date())
    prices = PriceList(account.currency, org_id)
    last = next_month(month)
    used = costs.used_in(org_id, month, last) + costs.running_in(org_id, month)
    return costs.cost_of(used, prices)


def _check(row: Budget, spent: dict[UUID, Decimal], org: Organization) -> None:
    month = month_of(clock.now().date())
    if row.month != month:
        row.month, row.reached = month, 0
    currency = account_of(org.id).currency
    cost = spent.get(row.team_id, Decimal()) if row.team_id else sum(spent.values(), Decimal())
    row.spent = rounded(cost, currency)
    reached = max((n for n in THRESHOLDS if row.spent * 100 >= row.amount * n), default=0)
    if reached > row.reached:
        data = {
            "name": row.team.name if row.team else org.name,
            "team": row.team.slug if row.team else None,
            "percent": reached,
            "spent": str(row.spent),
            "amount": str(row.amount),
            "currency": currency,
            "month": month.isoformat(),
            "stops": row.stops,
            **changes({"reached": row.reached}, {"reached": reached}),
        }
        record(EventRecord("budget.threshold_reached", org.id, "budget", row.id, "system", data))
        row.reached = reached
    row.save(update_fields=["month", "spent", "reached"])


def check_not_stopped(team: Team) -> None:
    """Refuse a new job if a budget that stops jobs is spent. Raises QuotaExceeded.

    At most 15 seconds old, so that a submission does not need another statement. The amount is not
    told: who may submit need not see the budget of the organization.
    """
    stops: set[str] | None = cache.get(_STOPS)
    if stops is None:
        stops = _find_stops()
        cache.set(_STOPS, stops, _STOPS_FOR)
    month = month_of(clock.now().date()).isoformat()
    for key, whose in (
        (
            f"{month} {team.id}",
            Message("team {name}", context="part of a sentence", name=team.name),
        ),
        (f"{month} {team.org_id}", Message("the organization", context="part of a sentence")),
    ):
        if key in stops:
            raise QuotaExceeded(
                Message(
                    "The budget of {whose} for this month is spent, and it stops new jobs. Ask an "
                    "administrator to raise it, or wait for the next month.",
                    whose=whose,
                ),
                code="budget_spent",
            )


def _find_stops() -> set[str]:
    month = month_of(clock.now().date())
    with platform_scope("budgets that stop new jobs"):
        rows = Budget.objects.filter(stops=True, reached__gte=100, month=month)
        return {f"{month.isoformat()} {row.team_id or row.org_id}" for row in rows}


def _forget_stops() -> None:
    cache.delete(_STOPS)


def _record(
    what: str,
    who: str,
    row: Budget,
    org: Organization,
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    name = row.team.name if row.team else org.name
    data = {"name": name, **changes(before, after)}
    record(EventRecord(f"budget.{what}", org.id, "budget", row.id, who, data))
