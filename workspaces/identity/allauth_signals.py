"""Handlers of allauth's signals: record events and apply their consequences."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_added, authenticator_removed, authenticator_reset
from django.db.models.signals import post_delete, post_save

from portal.core.events import EventRecord, record_all
from workspaces.audit.account_events import orgs_of
from workspaces.identity.mfa import update_has_second_factor
from workspaces.identity.sessions import end_other_sessions


def listen() -> None:
    """Connect the handlers; called once at start-up."""
    post_save.connect(_changed, sender=Authenticator, dispatch_uid="second-factor-saved")
    post_delete.connect(_changed, sender=Authenticator, dispatch_uid="second-factor-deleted")
    authenticator_added.connect(_added, dispatch_uid="second-factor-added")
    authenticator_removed.connect(_removed, dispatch_uid="second-factor-removed")
    authenticator_reset.connect(_reset, dispatch_uid="second-factor-reset")


def _changed(sender: Any, instance: Authenticator, **_: Any) -> None:
    update_has_second_factor(instance.user_id)


def _record(kind: str, user: Any, authenticator: Authenticator) -> None:
    """Record an event in each of the person's organizations."""
    record_all(
        EventRecord(kind, org_id, "user", user.id, user.email, {"type": str(authenticator.type)})
        for org_id in orgs_of(user.id)
    )


def _added(sender: Any, request: Any, user: Any, authenticator: Authenticator, **_: Any) -> None:
    """End the other sessions: somebody who has stolen one may be the reason for the new factor."""
    _record("second_factor.added", user, authenticator)
    if request is not None and authenticator.type != Authenticator.Type.RECOVERY_CODES:
        end_other_sessions(
            user.id, request.session.session_key, actor=user.email, why="a second factor was added"
        )


def _removed(sender: Any, user: Any, authenticator: Authenticator, **_: Any) -> None:
    _record("second_factor.removed", user, authenticator)


def _reset(sender: Any, user: Any, authenticator: Authenticator, **_: Any) -> None:
    _record("second_factor.reset", user, authenticator)
