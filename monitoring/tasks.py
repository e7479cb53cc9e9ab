"""Maintenance of metrics."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from monitoring.sources.reading import read_due
from portal import series
from portal.core import clock

DAY_MS = 86_400_000
JOBS_DAYS, NODES_DAYS = 90, 366  # telemetry of jobs, and of nodes
MOST_SECONDS = 100  # of a run; the next one goes on
STEP_MS = 300_000  # of nodes' measurements that are older than MUSTER_TELEMETRY_RAW_DAYS
NODES = "node:"
TRAINING = ("job:", "run:")  # metrics of runs stay as long as the run; their times can be old

SCHEDULE = {"monitoring.compact": 300.0, "monitoring.read_sources": 5.0}  # seconds


@shared_task(name="monitoring.compact")
def compact() -> None:
    """Compact series, downsample old telemetry of nodes, and delete what is too old."""
    now, end = clock.now_ms(), clock.monotonic() + MOST_SECONDS
    raw = now - settings.MUSTER_TELEMETRY_RAW_DAYS * DAY_MS
    for work in (
        series.compact_batches,
        series.compact,
        lambda: series.downsample(raw, STEP_MS, prefix=NODES),
    ):
        while work() and clock.monotonic() < end:
            """A large fleet has more than one call takes."""
    series.prune(now - JOBS_DAYS * DAY_MS, kept=(*TRAINING, NODES))
    series.prune(now - NODES_DAYS * DAY_MS, kept=TRAINING)


@shared_task(name="monitoring.read_sources")
def read_sources() -> None:
    """Read the telemetry sources that are due."""
    read_due()
