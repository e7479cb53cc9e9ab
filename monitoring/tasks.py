"""Maintenance of metrics."""

from __future__ import annotations

from celery import shared_task

from monitoring.sources.reading import read_due
from portal import series
from portal.core import clock

KEPT_MS = 90 * 86_400_000
TRAINING = ("job:", "run:")  # metrics of runs stay as long as the run; their times can be old


@shared_task(name="monitoring.compact")
def compact() -> None:
    """Merge small chunks, and delete telemetry older than ninety days."""
    series.compact()
    series.prune(clock.now_ms() - KEPT_MS, kept=TRAINING)


@shared_task(name="monitoring.read_sources")
def read_sources() -> None:
    """Read the telemetry sources that are due."""
    read_due()
