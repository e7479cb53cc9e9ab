"""A worker keeps database connections between tasks, and replaces broken ones."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from celery.fixups.django import DjangoWorkerFixup
from celery.signals import task_postrun, task_prerun
from django.db import connection

import jobs.tasks  # noqa: F401  # used by name below
from portal.celery import app

TASK = app.tasks["jobs.sweep"]


def run_task(work: Callable[[], None]) -> None:
    """Run a task like Celery's worker, with its handling of Django's connections."""
    fixup = DjangoWorkerFixup(app)
    fixup.on_task_prerun(TASK)
    task_prerun.send(sender=TASK)
    work()
    fixup.on_task_postrun(TASK)
    task_postrun.send(sender=TASK)


def in_a_thread(work: Callable[[], None]) -> None:
    """Run in a new thread with its own connection."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as failure:
            failures.append(failure)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]


def query_once() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@pytest.mark.both_databases
def test_task_reuses_connection_of_previous_task(transactional_db):
    def work() -> None:
        run_task(query_once)
        first = connection.connection
        run_task(query_once)
        assert first is not None and connection.connection is first

    in_a_thread(work)


@pytest.mark.both_databases
def test_task_replaces_broken_connection(transactional_db, mode):
    def work() -> None:
        run_task(query_once)
        before = connection.connection
        if mode == "server":  # SQLite has no server that could close the connection
            before.close()
        connection.errors_occurred = True
        run_task(query_once)
        assert (connection.connection is before) == (mode == "embedded")

    in_a_thread(work)
