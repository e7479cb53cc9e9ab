"""Links to set a first password, and invitation mails."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.core.mail import get_connection, send_mail
from django.core.mail.backends.base import BaseEmailBackend
from django.template.loader import render_to_string
from django.urls import reverse

from portal.core import clock
from workspaces.models import Identity, Invitation, Membership, User
from workspaces.organizations.invitations import NewInvitation
from workspaces.organizations.people_import import ImportReport
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)


def invite_url(user: User) -> str | None:
    """Return a link to set a password, valid once and as long as Django's reset links (three days).

    None for accounts that have a password, cannot have one, or are used elsewhere: whoever adds
    them here must not get access to those.
    """
    if user.has_usable_password() or user.is_service or _is_known(user):
        return None
    key = default_token_generator.make_token(user)
    path = reverse(
        "account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key}
    )
    return f"{settings.MUSTER_BASE_URL}{path}"


def can_mail() -> bool:
    """Return whether a mail server is configured."""
    return not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))


def one_line(text: str) -> str:
    """Join lines for a mail header: a line break would inject a header or break the mail."""
    return " ".join(text.split())


def send_invitation(
    made: NewInvitation, inviter: str, connection: BaseEmailBackend | None = None
) -> bool:
    """Mail an invitation and return whether that worked. If not, share the link another way.

    Call after the commit, outside any transaction.
    """
    about = {
        "org": made.row.org.name,
        "inviter": inviter,
        "url": made.url,
        "until": made.row.expires_at,
    }
    try:
        send_mail(
            one_line(f"{inviter} invites you to {made.row.org.name}"),
            render_to_string("account/invitation_mail.txt", about),
            None,
            [made.row.email],
            connection=connection,
        )
    except OSError as error:  # includes SMTP errors
        log.warning("could not send an invitation: %s", error)
        return False
    Invitation.objects.filter(id=made.row.id).update(sent_at=clock.now())
    return True


def send_all(made: Sequence[NewInvitation], inviter: str) -> set[str]:
    """Mail invitations over one connection and return the addresses they were sent to."""
    connection = get_connection()
    try:
        return {one.row.email for one in made if send_invitation(one, inviter, connection)}
    finally:
        connection.close()


def import_links(report: ImportReport, inviter: str, *, send: bool) -> list[dict[str, Any]]:
    """Return the links of imported users, which are shown once, and whether they were mailed.

    Users who need no link are left out.
    """
    sent = send_all(report.made, inviter) if send and can_mail() else set()
    return [
        *(
            {"email": one.row.email, "url": one.url, "is_sent": one.row.email in sent}
            for one in report.made
        ),
        *(
            {"email": user.email, "url": url, "is_sent": False}
            for user in report.added
            if (url := invite_url(user))
        ),
    ]


def _is_known(user: User) -> bool:
    """Return whether another organization, a provider or the installation knows the account."""
    with platform_scope("check whether other organizations know the account"):
        others = Membership.objects.filter(user=user).count() > 1
    return (
        others
        or user.is_operator
        or user.last_login is not None
        or Identity.objects.filter(user=user).exists()
    )
