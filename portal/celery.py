"""The Celery application. It taps shoulders and keeps the clock; the database is the queue."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import task_postrun, task_prerun

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

app = Celery("muster", amqp="portal.broker:Broker")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.set_default()  # for every thread: "current" is the importing thread only


@task_prerun.connect
@task_postrun.connect
def tidy_connections(**_: object) -> None:
    """As around a request: what is too old or broken is closed, the rest is looked at before its next use."""
    from django.db import close_old_connections

    close_old_connections()
