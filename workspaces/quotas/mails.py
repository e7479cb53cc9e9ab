"""Mail the decision on a request for a higher limit. The page shows it too."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.mail import send_mail
from django.template.loader import render_to_string

from workspaces.models import Organization, QuotaRequest
from workspaces.organizations.invitation_links import can_mail, one_line
from workspaces.quotas.request_selectors import request_row

log = logging.getLogger(__name__)
_OUTCOMES = {QuotaRequest.State.APPROVED: "approved", QuotaRequest.State.DECLINED: "declined"}


def mail_decision(row: QuotaRequest, org: Organization) -> bool:
    """Mail the decision and return whether that worked. Call after the commit.

    Nothing is sent for withdrawn requests or without a mail server.
    """
    word = _OUTCOMES.get(QuotaRequest.State(row.state))
    if (
        word is None
        or not can_mail()
        or row.decided_by == row.asker.email
        or not row.asker.is_active
    ):
        return False
    about = {
        "row": request_row(row),
        "org": org,
        "word": word,
        "url": f"{settings.MUSTER_BASE_URL}/{org.slug}/quotas",
    }
    try:
        send_mail(
            one_line(f"Your request for {row.resource} in {org.name} was {word}"),
            render_to_string("account/quota_mail.txt", about),
            None,
            [row.asker.email],
        )
    except OSError as error:  # includes SMTP errors
        log.warning("could not send a decision: %s", error)
        return False
    return True
