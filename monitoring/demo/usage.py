"""Prices, a budget and a statement of the demo, and the ledger and rollups of its week."""

from __future__ import annotations

from datetime import timedelta

from monitoring.usage import recording, statistics
from monitoring.usage.amounts import month_of
from monitoring.usage.services import budgets, ledger, prices, statements
from portal.core import clock
from workspaces.models import Organization, Team
from workspaces.organizations.bootstrap import PLATFORM
from workspaces.tenancy.scope import org_scope, platform_scope

DAYS = 7
_PRICES = (
    ("gpu.h100", "2.85"),
    ("gpu.l40s", "0.95"),
    ("gpu", "1.50"),
    ("cpu", "0.012"),
    ("memory", "0.0016"),
    ("storage", "0.00003"),
)


def create(org: Organization) -> None:
    """Set prices, write the ledger and the rollups, and issue last month's statement if it has lines."""
    today = clock.now().date()
    last = month_of(month_of(today) - timedelta(days=1))
    for resource, amount in _PRICES:
        prices.set_price(
            actor=PLATFORM, currency="USD", resource=resource, amount=amount, starts_on=last
        )
    with org_scope(org.id):
        prices.set_account(
            actor=PLATFORM,
            org=org,
            currency="USD",
            mode="chargeback",
            address="Aurora Labs\n12 Harbour Street",
        )
        prices.set_discount(actor=PLATFORM, org=org, team=None, percent="10", starts_on=last)
        prices.add_credit(
            actor=PLATFORM, org=org, team=None, amount="250", starts_on=last, note="Early adopter"
        )
    ledger.update_ledger()
    with platform_scope("the demo records its week"):
        recording.record_hours(clock.now() - timedelta(days=DAYS))
        statistics.record_queue()
        statistics.record_days()
    with org_scope(org.id):
        for team, amount in ((None, "20000"), ("language", "6000")):
            row = Team.objects.filter(slug=team).first() if team else None
            budgets.set_budget(actor=PLATFORM, org=org, team=row, amount=amount)
        has_lines = bool(statements.draft(org, last)["lines"])
    if has_lines:
        statements.issue_statement(actor=PLATFORM, org=org, month=last)
