"""Compose mail: one message, or several as a digest, in the language of the person.

Each mail can be unsubscribed from without signing in: by its link, and by mail programs with one
click (RFC 8058).
"""

from __future__ import annotations

from collections.abc import Sequence
from email.utils import parseaddr
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import npgettext

from notifications.kinds import BY_NAME
from notifications.models import Delivery, Preference
from notifications.schedule import zone_of
from portal.web.translation import translated
from workspaces.models import Membership, Organization, User
from workspaces.organizations.invitation_links import one_line

SALT = "muster.notifications.unsubscribe"


def compose(user: User, preference: Preference | None, rows: Sequence[Delivery]) -> Any:
    """Return a mail about these deliveries, not yet sent."""
    kinds = sorted({row.kind for row in rows})
    unsubscribe = settings.MUSTER_BASE_URL + unsubscribe_path(user.id, kinds)
    with translation.override(language_of(preference)), timezone.override(zone_of(preference)):
        title = translated(rows[0].title)
        subject = title
        if len(rows) > 1:
            subject = npgettext(
                "text, notifications", "{n} notification", "{n} notifications", len(rows)
            ).format(n=len(rows))
            subject = _("{subject}: {first} …").format(subject=subject, first=title)
        context = {
            "items": [_item(row) for row in rows],
            "user": user,
            "zone": zone_of(preference).key,
            "settings_url": settings.MUSTER_BASE_URL + _settings_path(user, rows),
            "unsubscribe_url": unsubscribe,
            "kinds": [translated(BY_NAME[kind].title) for kind in kinds],
            "language": language_of(preference),
        }
        made = EmailMultiAlternatives(
            one_line(subject)[:200],
            render_to_string("notifications/mail.txt", context),
            None,
            [user.email],
            headers={
                "List-Unsubscribe": f"<{unsubscribe}>",
                "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
                "Message-ID": f"<{rows[0].id}.{len(rows)}@{_domain()}>",
                "Auto-Submitted": "auto-generated",
            },
        )
        made.attach_alternative(render_to_string("notifications/mail.html", context), "text/html")
    return made


def language_of(preference: Preference | None) -> str:
    """Return the language in which a person is written to."""
    return (preference.language if preference else "") or settings.LANGUAGE_CODE


def unsubscribe_path(user_id: UUID, kinds: Sequence[str]) -> str:
    """Return a signed link that ends mail of these kinds to a person."""
    token = signing.dumps([user_id.hex, *kinds], salt=SALT)
    return reverse("account_unsubscribe", args=[token])


def read_unsubscribe(token: str) -> tuple[UUID, list[str]] | None:
    """Return the person and the kinds of such a link, or None if it is not ours."""
    try:
        user, *kinds = signing.loads(token, salt=SALT)
        return UUID(user), [kind for kind in kinds if kind in BY_NAME]
    except (signing.BadSignature, ValueError, TypeError):
        return None


def _settings_path(user: User, rows: Sequence[Delivery]) -> str:
    """Return the settings page in an organization of the person."""
    found = next((row.org for row in rows if row.org), None)
    if found is None:
        first = (
            Membership.objects.filter(user=user, suspended_at=None).select_related("org").first()
        )
        found = first.org if first else Organization.objects.order_by("slug").first()
    return f"/{found.slug}/notifications/settings" if found else "/"


def _item(row: Delivery) -> dict[str, Any]:
    return {
        "title": translated(row.title),
        "body": translated(row.body),
        "url": f"{settings.MUSTER_BASE_URL}{row.path}",
        "org": row.org.name if row.org else "",
        "at": row.at,
    }


def _domain() -> str:
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1].rpartition("@")[2] or "muster.invalid"
