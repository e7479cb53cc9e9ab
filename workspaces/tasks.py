"""Housekeeping by the clock."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from allauth.idp.oidc.models import Token
from celery import shared_task
from django.conf import settings
from django.db import connection

from portal.core import clock
from portal.core.audit.retention import trim_all
from portal.core.errors import PortalError
from portal.core.models import RememberedAnswer
from workspaces.models import Provider
from workspaces.services.impersonation import end_overdue
from workspaces.services.syncing import due_providers, sync_provider
from workspaces.sessions import tidy_sign_ins

log = logging.getLogger(__name__)


@shared_task(name="workspaces.tidy")
def tidy() -> None:
    """Forget answers kept for repeated requests after a day, sessions that have ended, and what applications hold no longer; tell whose time as
    somebody else is over."""
    end_overdue()
    RememberedAnswer.objects.filter(at__lt=clock.now() - timedelta(days=1)).delete()
    tidy_sign_ins()
    Token.objects.expired().delete()


@shared_task(name="workspaces.trim_audit")
def trim_audit() -> None:
    """Delete the events that organizations keep no longer."""
    trim_all()


@shared_task(name="workspaces.sync_directories")
def sync_directories() -> None:
    """Every directory whose time has come. In the embedded process beside the ticker, which starts jobs meanwhile; the lease keeps
    two runs of one directory apart."""
    for provider in due_providers():
        if settings.MUSTER_EMBEDDED:
            threading.Thread(target=_sync_beside, args=(provider,), name=f"sync-{provider.slug}", daemon=True).start()
        else:
            _sync(provider)


def _sync(provider: Provider) -> None:
    try:
        sync_provider(actor=None, provider=provider)
    except PortalError as error:
        log.warning("directory %s: %s", provider.slug, error.message)
    except Exception:
        log.exception("directory %s", provider.slug)


def _sync_beside(provider: Provider) -> None:
    try:
        _sync(provider)
    finally:
        connection.close()
