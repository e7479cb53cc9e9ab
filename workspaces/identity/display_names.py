"""Update display names from providers; e-mail addresses, which identify accounts, never change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction

from portal.core.events import EventRecord, record_all
from workspaces.identity.provisioning import ProviderPerson
from workspaces.models import Identity, Membership, Provider, User
from workspaces.tenancy.scope import platform_scope

_SOME = 1000


def follow_names(provider: Provider, people: Sequence[ProviderPerson], *, actor: str) -> int:
    """Update display names and return how many changed.

    An organization's provider only renames people with no password, no other organization and no
    operator role. Empty names are ignored.
    """
    names = {person.subject: " ".join(person.name.split())[:150] for person in people}
    moved: dict[UUID, tuple[str, str, str]] = {}
    subjects = sorted(subject for subject, name in names.items() if name and name.isprintable())
    for start in range(0, len(subjects), _SOME):
        rows = Identity.objects.filter(
            provider=provider, subject__in=subjects[start : start + _SOME], gone_since=None
        )
        for subject, user_id, name, email in rows.values_list(
            "subject", "user_id", "user__name", "user__email"
        ):
            if name != names[subject]:
                moved[user_id] = (email, name, names[subject])
    theirs = (
        sorted(
            _without_older_provider(provider, moved)
            if provider.org_id is None
            else _managed_by(provider, list(moved))
        )
        if moved
        else []
    )
    users = [User(id=user_id, name=moved[user_id][2]) for user_id in theirs]
    if users:
        with transaction.atomic():
            User.objects.bulk_update(users, ["name"], batch_size=_SOME // 2)
            record_all(
                EventRecord(
                    "person.renamed",
                    provider.org_id,
                    "user",
                    user_id,
                    actor,
                    {
                        "name": email,
                        "provider": provider.slug,
                        "before": {"name": before},
                        "after": {"name": after},
                    },
                )
                for user_id in theirs
                for email, before, after in [moved[user_id]]
            )
    return len(users)


def _without_older_provider(provider: Provider, users: Collection[UUID]) -> set[UUID]:
    """Return the people unknown to older providers of the installation, which take precedence."""
    found, some = set(users), sorted(users)
    older = Identity.objects.filter(
        provider__org_id=None, provider__created_at__lt=provider.created_at, gone_since=None
    )
    for start in range(0, len(some), _SOME):
        found -= set(
            older.filter(user_id__in=some[start : start + _SOME]).values_list("user_id", flat=True)
        )
    return found


def _managed_by(provider: Provider, users: Sequence[UUID]) -> set[UUID]:
    found: set[UUID] = set()
    with platform_scope("memberships in other organizations"):
        for start in range(0, len(users), _SOME // 2):
            some = users[start : start + _SOME // 2]
            elsewhere = (
                Membership.objects.filter(user_id__in=some)
                .exclude(org_id=provider.org_id)
                .values_list("user_id", flat=True)
            )
            found |= set(
                User.objects.filter(
                    id__in=some, is_operator=False, password__startswith=UNUSABLE_PASSWORD_PREFIX
                ).values_list("id", flat=True)
            ) - set(elsewhere)
    return found
