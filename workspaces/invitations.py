"""The link by which a person sets a first password."""

from __future__ import annotations

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.urls import reverse

from workspaces.models import User


def invite_url(user: User) -> str | None:
    """Good for as long as Django's password reset links (three days) and until used; None for who has a password."""
    if user.has_usable_password():
        return None
    key = default_token_generator.make_token(user)
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key})
    return f"{settings.MUSTER_BASE_URL}{path}"
