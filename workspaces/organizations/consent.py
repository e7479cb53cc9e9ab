"""Decide whether an account is in use. Accounts in use only join an organization by consent."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import Exists, OuterRef, Q

from workspaces.models import Identity, Membership, User
from workspaces.tenancy.scope import platform_scope

_BATCH = 500


def is_unused_account(user: User) -> bool:
    """Return whether an account was created for somebody who never used it.

    It has no password, sign-in, identity or organization.
    """
    return not used_accounts([user.email])


def used_accounts(emails: Sequence[str]) -> set[str]:
    """Return those of these addresses whose accounts are in use."""
    has_come = (
        ~Q(password__startswith=UNUSABLE_PASSWORD_PREFIX)
        | Q(last_login__isnull=False)
        | Q(is_service=True)
        | Q(is_operator=True)
        | Q(is_active=False)
        | Exists(Identity.objects.filter(user=OuterRef("pk")))
    )
    found: set[str] = set()
    with platform_scope("check whether an account is in use"):
        known = has_come | Q(Exists(Membership.objects.filter(user=OuterRef("pk"))))
        for start in range(0, len(emails), _BATCH):
            found.update(
                User.objects.filter(known, email__in=emails[start : start + _BATCH]).values_list(
                    "email", flat=True
                )
            )
    return found
