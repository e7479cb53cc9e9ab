"""The Celery application. It wakes workers and runs periodic tasks; the database is the queue."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import task_postrun, task_prerun

from portal.core.declarations import declarations

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

app = Celery("muster", amqp="portal.broker:Broker")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()  # for all threads; otherwise it is current only in the importing thread


def schedule() -> dict[str, float]:
    """Return the seconds between two runs of each periodic task, as the apps declare them."""
    found: dict[str, float] = {}
    for _, tasks in declarations("tasks", "SCHEDULE"):
        found |= tasks
    return found


@task_prerun.connect
@task_postrun.connect
def tidy_connections(**_: object) -> None:
    """Close stale database connections around each task, as Django does around each request."""
    from django.db import close_old_connections

    close_old_connections()
