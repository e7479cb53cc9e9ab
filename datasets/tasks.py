"""Celery tasks for server mode; the ticker runs the same functions in embedded mode."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.conf import settings

from datasets import staging
from datasets.folders import services as folders
from datasets.folders import usage
from datasets.imports.running import start_threads
from datasets.models import FolderLock, FolderUpload, Repository
from datasets.services import retention
from datasets.services.imports import TASK
from portal.blobs.folders import root_folder, sweep
from portal.core import clock
from workspaces.tenancy.scope import platform_scope

COUNTED_EVERY = timedelta(minutes=10)
UNUSED = timedelta(days=1)  # until the folder of a version is removed

# Seconds between two runs of each task
SCHEDULE = {
    "datasets.workspace_usage": 600.0,
    TASK: 10.0,
    "datasets.retention": 3600.0,
    "datasets.remove_trees": 3600.0,
}


@shared_task(name="datasets.retention")
def apply_retention() -> None:
    """Delete old versions by rule, unused contents, the trash, and abandoned uploads."""
    with platform_scope("house-keeping"):
        retention.purge_trash(clock.now() - timedelta(days=settings.MUSTER_TRASH_DAYS))
        folders.purge_trash(clock.now() - timedelta(days=settings.MUSTER_TRASH_DAYS))
        FolderUpload.objects.filter(updated_at__lt=clock.now() - retention.ABANDONED).delete()
        FolderLock.objects.filter(expires_at__lt=clock.now()).delete()
        sweep(root_folder(), clock.now() - retention.ABANDONED)
        retention.discard_abandoned(clock.now() - retention.ABANDONED)
        for row in Repository.objects.filter(legal_hold="").iterator():
            retention.apply_rules(row)


@shared_task(name="datasets.workspace_usage")
def count_folders() -> None:
    """Count what jobs have written into workspaces."""
    with platform_scope("house-keeping"):
        usage.count_all(clock.now() - COUNTED_EVERY)


@shared_task(name="datasets.remove_trees")
def remove_trees() -> None:
    """Remove the folders of versions that no job has used for a day."""
    with platform_scope("house-keeping"):
        staging.remove_unused(clock.now() - UNUSED)


@shared_task(name=TASK)
def run_imports() -> None:
    """Start threads for imports that are queued, or whose process has died."""
    start_threads()
