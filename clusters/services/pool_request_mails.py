"""Mails about requests for pools: the decision, reminders, and the end. The pages show it too."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

from clusters.models import PoolRequest
from clusters.services.pool_requests import due_reminders
from workspaces.organizations.invitation_links import can_mail, one_line

log = logging.getLogger(__name__)
State = PoolRequest.State
_SUBJECTS = {
    "approved": "Approved: {what}",
    "declined": "Declined: {what}",
    "ends": "Ends soon: {what}",
    "ended": "Ended: {what}",
}


def mail_decision(row: PoolRequest) -> bool:
    """Mail a decision to the requester; return whether that worked. Call after the commit."""
    is_told = row.state in (State.APPROVED, State.DECLINED) and row.decided_by != row.asker.email
    return is_told and _mail(row, str(row.state))


def mail_ends(ended: Iterable[PoolRequest]) -> None:
    """Mail what has ended and what ends soon. Run in a platform scope."""
    for row in ended:
        _mail(row, "ended")
    for row in due_reminders():
        _mail(row, "ends")


def _mail(row: PoolRequest, kind: str) -> bool:
    if not can_mail() or not row.asker.is_active:
        return False
    what = f"{row.gpus} × {row.gpu_type} ({row.team.name})"
    about = {
        "row": row,
        "kind": kind,
        "what": what,
        "url": f"{settings.MUSTER_BASE_URL}/{row.org.slug}/pool-requests/{row.id}",
    }
    try:
        send_mail(
            one_line(_SUBJECTS[kind].format(what=what)),
            render_to_string("account/pool_mail.txt", about),
            None,
            [row.asker.email],
        )
    except OSError as error:  # includes SMTP errors
        log.warning("could not send a mail about a pool: %s", error)
        return False
    return True
