"""Prices, a budget and a statement of the demo, and the ledger and rollups of its week."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from uuid import UUID

from billing import recording, statistics
from billing.amounts import month_of
from billing.models import FleetQueueHour, QueueHour
from billing.services import budgets, ledger, prices, statements
from jobs.models import Attempt
from portal.core import clock
from workspaces.models import Organization, Team
from workspaces.organizations.bootstrap import PLATFORM
from workspaces.tenancy.scope import org_scope, platform_scope

DAYS = 7
SAMPLE = timedelta(minutes=10)
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
        _write_queue(org)
        statistics.record_queue()
        statistics.record_days()
    with org_scope(org.id):
        for team, amount in ((None, "20000"), ("language", "6000")):
            row = Team.objects.filter(slug=team).first() if team else None
            budgets.set_budget(actor=PLATFORM, org=org, team=row, amount=amount)
        has_lines = bool(statements.draft(org, last)["lines"])
    if has_lines:
        statements.issue_statement(actor=PLATFORM, org=org, month=last)


def _write_queue(org: Organization) -> None:
    """Write the queue of each hour as it was sampled every ten minutes, from the times of attempts."""
    now = clock.now()
    first = (now - timedelta(days=DAYS)).replace(minute=0, second=0, microsecond=0)
    cells: dict[tuple[datetime, UUID], list[int]] = defaultdict(lambda: [0, 0, 0])
    times = list(
        Attempt.objects.filter(org=org).values_list(
            "job__team_id", "queued_at", "started_at", "finished_at"
        )
    )
    for sample in range(int((now - first) / SAMPLE)):
        at = first + sample * SAMPLE
        hour = at.replace(minute=0)
        counts: dict[UUID, list[int]] = defaultdict(lambda: [0, 0, 0])
        for team, queued, started, finished in times:
            end = finished or now
            if queued <= at < (started or end):
                one = counts[team]
                one[0], one[2] = one[0] + 1, max(one[2], round((at - queued).total_seconds()))
            elif started and started <= at < end:
                counts[team][1] += 1
        for team, one in counts.items():
            cells[hour, team] = [max(pair) for pair in zip(cells[hour, team], one, strict=True)]
    hours: dict[datetime, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (hour, _), (queued, running, longest) in cells.items():
        n, m, most = hours[hour]
        hours[hour] = [n + queued, m + running, max(most, longest)]
    names = ("queued", "running", "longest")
    rows = [
        QueueHour(org=org, team_id=team, hour=hour, **dict(zip(names, cell, strict=True)))
        for (hour, team), cell in [
            *cells.items(),
            *(((hour, None), cell) for hour, cell in hours.items()),
        ]
    ]
    QueueHour.objects.bulk_create(rows, ignore_conflicts=True)
    FleetQueueHour.objects.bulk_create(
        (
            FleetQueueHour(hour=hour, **dict(zip(names, cell, strict=True)))
            for hour, cell in hours.items()
        ),
        ignore_conflicts=True,
    )
