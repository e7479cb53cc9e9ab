"""Periodic work on usage."""

from __future__ import annotations

from celery import shared_task

from billing import recording
from billing.services import budgets, ledger

SCHEDULE = {"usage.update_ledger": 120.0, "usage.record": 600.0}  # seconds


@shared_task(name="usage.update_ledger")
def update_ledger() -> None:
    """Add what ended to the ledger, and compare budgets with it."""
    ledger.update_ledger()
    budgets.check_budgets()


@shared_task(name="usage.record")
def record() -> None:
    """Record where GPU time went, the queue, and statistics of jobs."""
    recording.record_all()
