"""What Celery taps, in server mode; the ticker runs the same functions in embedded mode."""

from __future__ import annotations

import logging

from celery import shared_task
from celery.signals import worker_ready

from clusters.backends import backend_of
from clusters.models import Cluster
from jobs import storage
from jobs.dispatch import claims as dispatching
from jobs.dispatch import threads
from jobs.models import Attempt
from jobs.outputs import KEPT
from portal.core import clock
from portal.core.wakeups import hint
from schedulers.contract import Unavailable
from schedulers.states import State
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
FORGOTTEN_AT_ONCE = 200  # attempts of one cluster


@worker_ready.connect
def look(**_: object) -> None:
    """A new worker begins with what a killed one had claimed, and with what nobody was told of."""
    hint("jobs.dispatch")


@shared_task(name="jobs.dispatch")
def dispatch() -> None:
    """Start whatever may start, each cluster in its own time."""
    threads.ask_all()


@shared_task(name="jobs.sweep")
def sweep() -> None:
    """Find what a lost hint left behind."""
    dispatching.due_sweep()


@shared_task(name="jobs.watch")
def watch() -> None:
    """A tap for the watcher. It looks by itself every half second; this is for embedded mode, where it can be woken."""
    from jobs.background import wake_watchers

    wake_watchers()


@shared_task(name="jobs.delete_logs")
def delete_logs() -> None:
    """Delete on, of logs that somebody asked to delete."""
    storage.delete_asked()


@shared_task(name="jobs.count_logs")
def count_logs() -> None:
    """Count what is kept of closed logs."""
    storage.count_closed()


@shared_task(name="jobs.forget")
def forget() -> None:
    """Free the working directories of attempts that ended a week ago and whose logs are stored. A cluster that does not answer, or
    does not know its jobs' files, is left to the next time."""
    with platform_scope("house-keeping"):
        for cluster in Cluster.objects.filter(trouble=""):
            try:
                _forget_at(cluster)
            except Exception as error:
                log.warning(
                    "cluster %s: old jobs are cleaned up later: %s",
                    cluster.name,
                    error,
                    exc_info=not isinstance(error, Unavailable),
                )


def _forget_at(cluster: Cluster) -> None:
    """Raises Unavailable at the first that cannot be freed."""
    rows = Attempt.objects.filter(
        cluster=cluster,
        state__gte=State.SUCCEEDED,
        is_forgotten=False,
        is_log_sealed=True,
        finished_at__lt=clock.now() - KEPT,
    )[:FORGOTTEN_AT_ONCE]
    for attempt in rows:
        backend_of(cluster).forget(attempt.key)
        Attempt.objects.filter(id=attempt.id).update(is_forgotten=True)
