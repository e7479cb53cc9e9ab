"""Housekeeping by the clock."""

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
from workspaces.identity.directory_sync import due_providers, end_abandoned, start_sync
from workspaces.identity.directory_threads import start_thread
from workspaces.identity.provider_services import forget_tests
from workspaces.identity.rate_limit_cache import forget_expired
from workspaces.identity.sessions import tidy_sign_ins
from workspaces.tenancy.scope import platform_scope


@shared_task(name="workspaces.tidy")
def tidy() -> None:
    """Forget answers kept for repeated requests after a day, sessions that have ended, and what applications hold no longer; tell whose time as
    somebody else is over."""
    end_overdue()
    RememberedAnswer.objects.filter(at__lt=clock.now() - timedelta(days=1)).delete()
    tidy_sign_ins()
    forget_tests()
    forget_expired()
    Token.objects.expired().delete()


@shared_task(name="workspaces.trim_audit")
def trim_audit() -> None:
    """Delete the events that organizations keep no longer."""
    trim_all()


@shared_task(name="workspaces.sync_directories")
def sync_directories() -> None:
    """Queue every directory whose time has come, and start a thread for what is queued. By the clock and whenever something is."""
    with platform_scope("directories of every organization"):
        end_abandoned()
        for provider in due_providers():
            with suppress(Conflict):  # under way already
                start_sync(actor=None, provider=provider)
    start_thread()
