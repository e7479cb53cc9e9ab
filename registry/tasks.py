"""Celery tasks for server mode; the ticker runs the same functions in embedded mode."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.conf import settings

from portal.core import clock
from registry.services import purge as services
from workspaces.tenancy.scope import platform_scope

SCHEDULE = {"registry.purge": 3600.0}  # seconds


@shared_task(name="registry.purge")
def purge() -> None:
    """Delete permanently what was long in the trash, and uploads that nobody finished."""
    with platform_scope("house-keeping"):
        services.purge_trash(clock.now() - timedelta(days=settings.MUSTER_TRASH_DAYS))
        services.discard_abandoned(clock.now() - services.ABANDONED)
