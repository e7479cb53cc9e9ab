"""Celery tasks for server mode; the ticker runs the same functions in embedded mode."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.conf import settings

from datasets.imports.running import start_threads
from datasets.models import Repository
from datasets.services import retention
from datasets.services.imports import TASK
from portal.core import clock
from workspaces.tenancy.scope import platform_scope


@shared_task(name="datasets.retention")
def apply_retention() -> None:
    """Delete old versions by rule, unused contents, the trash, and abandoned uploads."""
    with platform_scope("house-keeping"):
        retention.purge_trash(clock.now() - timedelta(days=settings.MUSTER_TRASH_DAYS))
        retention.discard_abandoned(clock.now() - retention.ABANDONED)
        for row in Repository.objects.filter(legal_hold="").iterator():
            retention.apply_rules(row)


@shared_task(name=TASK)
def run_imports() -> None:
    """Start threads for imports that are queued, or whose process has died."""
    start_threads()
