"""The link by which a person sets a first password."""

from __future__ import annotations

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.urls import reverse

from workspaces.models import Identity, Membership, User
from workspaces.tenancy.scope import platform_scope


def invite_url(user: User) -> str | None:
    """Good for as long as Django's password reset links (three days) and until used. None for who has a password, and for whoever is
    known elsewhere: who brings them in here must not get hold of what they are there."""
    if user.has_usable_password() or _is_known(user):
        return None
    key = default_token_generator.make_token(user)
    path = reverse("account_reset_password_from_key", kwargs={"uidb36": user_pk_to_url_str(user), "key": key})
    return f"{settings.MUSTER_BASE_URL}{path}"


def _is_known(user: User) -> bool:
    """To another organization, to a directory, or to the platform; or they signed in before."""
    with platform_scope("whoever invites learns nothing of other organizations but that there is no link"):
        others = Membership.objects.filter(user=user).count() > 1
    return others or user.is_operator or user.last_login is not None or Identity.objects.filter(user=user).exists()
