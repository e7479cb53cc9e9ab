"""Housekeeping by the clock."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task

from portal.core import clock
from portal.core.audit.retention import trim_all
from portal.core.models import RememberedAnswer
from workspaces.sessions import tidy_sign_ins


@shared_task(name="workspaces.tidy")
def tidy() -> None:
    """Forget answers kept for repeated requests after a day, and sessions that have ended."""
    RememberedAnswer.objects.filter(at__lt=clock.now() - timedelta(days=1)).delete()
    tidy_sign_ins()


@shared_task(name="workspaces.trim_audit")
def trim_audit() -> None:
    """Delete the events that organizations keep no longer."""
    trim_all()
