"""Periodic housekeeping."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from allauth.idp.oidc.models import Token
from celery import shared_task

from portal.core import clock
from portal.core.audit.retention import trim_all
from portal.core.errors import Conflict
from portal.core.models import RememberedAnswer
from workspaces.access.impersonation import end_overdue
from workspaces.approvals.kinds import kinds
from workspaces.approvals.services import end_due
from workspaces.identity.directory_sync import due_providers, end_abandoned, start_sync
from workspaces.identity.directory_threads import start_thread
from workspaces.identity.provider_services import delete_old_tests
from workspaces.identity.rate_limit_cache import delete_expired
from workspaces.identity.sessions import delete_expired_sign_ins
from workspaces.models import Approval
from workspaces.tenancy.scope import platform_scope

# Seconds between two runs of each task
SCHEDULE = {
    "workspaces.end_approvals": 60.0,
    "workspaces.trim_audit": 900.0,
    "workspaces.sync_directories": 60.0,  # each directory has an interval of its own
    "workspaces.tidy": 600.0,
}


@shared_task(name="workspaces.tidy")
def tidy() -> None:
    """Delete expired rows (responses, sessions, grants) and record expired impersonations."""
    end_overdue()
    RememberedAnswer.objects.filter(at__lt=clock.now() - timedelta(days=1)).delete()
    delete_expired_sign_ins()
    delete_old_tests()
    delete_expired()
    Token.objects.expired().delete()


@shared_task(name="workspaces.end_approvals")
def end_approvals() -> None:
    """End approvals whose time is over, and requests that nobody decided in time."""
    with platform_scope("requests of every organization end"):
        for kind in kinds():
            if kind.model is Approval:
                end_due(kind)


@shared_task(name="workspaces.trim_audit")
def trim_audit() -> None:
    """Delete events that are past their retention."""
    trim_all()


@shared_task(name="workspaces.sync_directories")
def sync_directories() -> None:
    """Queue directories that are due, and start a thread for what is queued.

    Runs periodically, and whenever a sync is requested.
    """
    with platform_scope("sync the directories of every organization"):
        end_abandoned()
        for provider in due_providers():
            with suppress(Conflict):  # already running
                start_sync(actor=None, provider=provider)
    start_thread()
