"""The link by which a person sets a first password, and mails that invite."""

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
from workspaces.organizations.invitations import Invited
from workspaces.organizations.people_import import Report
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)


def invite_url(user: User) -> str | None:
    """Good for as long as Django's password reset links (three days) and until used. None for who has a password or can have none, and
    for whoever is known elsewhere: who brings them in here must not get hold of what they are there."""
    if user.has_usable_password() or user.is_service or _is_known(user):
        return None
    key = default_token_generator.make_token(user)
    path = reverse(
        "account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key}
    )
    return f"{settings.MUSTER_BASE_URL}{path}"


def can_mail() -> bool:
    """Whether a mail server is set; the console is none."""
    return not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))


def one_line(text: str) -> str:
    """For the head of a mail: a break in a name would begin a header of its own, or stop the mail."""
    return " ".join(text.split())


def send_invitation(
    made: Invited, inviter: str, connection: BaseEmailBackend | None = None
) -> bool:
    """By e-mail; False when that failed: the link is then to be handed on otherwise. After the commit, and outside of any transaction."""
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
    except OSError as error:  # SMTP's own errors are OSErrors, too
        log.warning("an invitation could not be sent: %s", error)
        return False
    Invitation.objects.filter(id=made.row.id).update(sent_at=clock.now())
    return True


def send_all(made: Sequence[Invited], inviter: str) -> set[str]:
    """Over one connection; the addresses that it was sent to."""
    connection = get_connection()
    try:
        return {one.row.email for one in made if send_invitation(one, inviter, connection)}
    finally:
        connection.close()


def handed_out(report: Report, inviter: str, *, send: bool) -> list[dict[str, Any]]:
    """Of those a file brought in: the link of each, which is told once, and whether it was mailed. Who needs none is not among them."""
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
    """To another organization, to a directory, or to the platform; or they signed in before."""
    with platform_scope(
        "whoever invites learns nothing of other organizations but that there is no link"
    ):
        others = Membership.objects.filter(user=user).count() > 1
    return (
        others
        or user.is_operator
        or user.last_login is not None
        or Identity.objects.filter(user=user).exists()
    )
