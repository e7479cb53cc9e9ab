"""Celery tasks for server mode; the ticker runs the same functions in embedded mode."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.conf import settings

from experiments import jobs, services, tensorboard
from portal.blobs import files
from portal.blobs.store import file_store, references
from portal.core import clock
from workspaces.tenancy.scope import platform_scope

# Seconds between two runs of each task
SCHEDULE = {
    "experiments.follow_jobs": 3.0,
    "experiments.read_event_files": 5.0,
    "experiments.sweep_artifacts": 3600.0,
    "experiments.purge": 3600.0,
}


@shared_task(name="experiments.sweep_artifacts")
def sweep_artifacts() -> None:
    """Delete stored files that nothing refers to any more."""
    store = file_store()
    with platform_scope("house-keeping"):
        for org_id in store.organizations():
            store.sweep(org_id, references(org_id), clock.now() - files.GRACE)


@shared_task(name="experiments.purge")
def purge() -> None:
    """Delete permanently what has been in the trash for long enough."""
    with platform_scope("house-keeping"):
        services.purge(clock.now() - timedelta(days=settings.MUSTER_TRASH_DAYS))


@shared_task(name="experiments.follow_jobs")
def follow_jobs() -> None:
    """Create the runs of jobs, and copy the states of the jobs."""
    jobs.follow_jobs()


@shared_task(name="experiments.read_event_files")
def read_event_files() -> None:
    """Read TensorBoard event files of jobs into their runs."""
    tensorboard.read_event_files()
