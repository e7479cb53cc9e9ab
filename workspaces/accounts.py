"""What allauth may do here: sign in and reset passwords; never sign up."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from workspaces.models import Membership, User
from workspaces.tenancy.scope import platform_scope
from workspaces.trail import tell_of


class AccountAdapter(DefaultAccountAdapter):
    """People are added by administrators."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def send_password_reset_mail(self, user: Any, email: str, context: dict[str, Any]) -> None:
        """By the link on the sign-in page."""
        tell_of(user, "password.reset_asked")
        super().send_password_reset_mail(user, email, context)

    def populate_username(self, request: HttpRequest, user: Any) -> None:
        """There are no user names: the e-mail address is the name."""


def is_alone_in(user_id: UUID, org_id: UUID) -> bool:
    """A person of that organization who has no other way in: no password, no other organization, not an operator."""
    with platform_scope("whose account it is"):
        user = User.objects.get(id=user_id)
        return not (user.has_usable_password() or user.is_operator or Membership.objects.filter(user=user).exclude(org_id=org_id).exists())
