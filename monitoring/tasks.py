"""Maintenance of metrics."""

from __future__ import annotations

from celery import shared_task

from portal import series
from portal.core import clock

KEPT_MS = 90 * 86_400_000


@shared_task(name="monitoring.compact")
def compact() -> None:
    """Merge small chunks, and delete data older than ninety days."""
    series.compact()
    series.prune(clock.now_ms() - KEPT_MS)
