"""Celery tasks for server mode; the ticker runs the same functions in embedded mode."""

from __future__ import annotations

import logging

from celery import shared_task
from celery.signals import worker_ready

from clusters.backends import backend_of
from clusters.models import Cluster
from jobs.background import wake_watchers
from jobs.data import log_storage
from jobs.data.outputs import KEPT
from jobs.dispatch import claims as dispatching
from jobs.dispatch import threads
from jobs.models import Attempt, JobOutput
from jobs.utilization import idle_rules, recording
from portal.core import clock
from portal.core.wakeups import wake_worker
from schedulers.contract import Unavailable
from schedulers.states import State
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
FORGOTTEN_AT_ONCE = 200  # attempts per cluster and run

# Seconds between two runs of each task
SCHEDULE = {
    "jobs.sweep": 5.0,  # requests jobs.dispatch if there is something to start
    "jobs.record_utilization": 60.0,
    "jobs.apply_idle_rules": 60.0,
    "jobs.forget": 60.0,
    "jobs.count_logs": 15.0,
    "jobs.delete_logs": 60.0,
}


@worker_ready.connect
def dispatch_at_start(**_: object) -> None:
    """Dispatch at worker start, for claims of a killed worker and lost hints."""
    wake_worker("jobs.dispatch")


@shared_task(name="jobs.dispatch")
def dispatch() -> None:
    """Dispatch every cluster, each in its own thread."""
    threads.request_dispatch()


@shared_task(name="jobs.sweep")
def sweep() -> None:
    """Find due work whose hint was lost."""
    dispatching.due_sweep()


@shared_task(name="jobs.watch")
def watch() -> None:
    """Wake the watcher in embedded mode; it polls every half second anyway."""
    wake_watchers()


@shared_task(name="jobs.delete_logs")
def delete_logs() -> None:
    """Continue requested deletions of logs."""
    log_storage.delete_requested()


@shared_task(name="jobs.count_logs")
def count_logs() -> None:
    """Account for sealed logs."""
    log_storage.count_closed()


@shared_task(name="jobs.record_utilization")
def record_utilization() -> None:
    """Record GPU utilization from the series."""
    recording.record_utilization()


@shared_task(name="jobs.apply_idle_rules")
def apply_idle_rules() -> None:
    """Warn about jobs with idle GPUs, and stop them, as the rules of their pools say."""
    idle_rules.apply_idle_rules()


@shared_task(name="jobs.forget")
def forget() -> None:
    """Delete the working directories of attempts that ended a week ago and whose logs are stored.

    A cluster that does not respond, or cannot find its jobs' files, is retried next time.
    """
    with platform_scope("house-keeping"):
        for cluster in Cluster.objects.filter(trouble=""):
            try:
                _forget_at(cluster)
            except Exception as error:
                log.warning(
                    "cluster %s: cleanup of old jobs postponed: %s",
                    cluster.name,
                    error,
                    exc_info=not isinstance(error, Unavailable),
                )


def _forget_at(cluster: Cluster) -> None:
    """Delete them on one cluster. Raises Unavailable at the first failure."""
    rows = Attempt.objects.filter(
        cluster=cluster,
        state__gte=State.SUCCEEDED,
        is_forgotten=False,
        is_log_sealed=True,
        finished_at__lt=clock.now() - KEPT,
    ).exclude(
        id__in=JobOutput.objects.filter(is_over=False, attempt__cluster=cluster).values("attempt")
    )[:FORGOTTEN_AT_ONCE]
    for attempt in rows:
        backend_of(cluster).forget(attempt.key)
        Attempt.objects.filter(id=attempt.id).update(is_forgotten=True)
