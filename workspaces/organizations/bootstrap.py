"""First start: create an administrator, the organization `home` and its team `default`."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction

from portal.core.events import EventRecord, record
from workspaces.access.actors import Actor
from workspaces.access.permissions import OrgRole, TeamRole
from workspaces.models import Membership, Organization, Team, TeamMembership, User
from workspaces.tenancy.scope import org_scope

PLATFORM = Actor(user_id=None, email="muster", is_operator=True)


@dataclass(frozen=True)
class FirstStart:
    """The first administrator.

    `password` is set only if it was just generated; it is printed once and not stored.
    """

    email: str
    password: str | None
    is_new: bool


@transaction.atomic
def bootstrap() -> FirstStart:
    """Create what a fresh installation needs; on later starts do nothing."""
    first = User.objects.filter(is_operator=True).order_by("date_joined").first()
    if first is not None:
        return FirstStart(first.email, None, is_new=False)
    password = settings.MUSTER_ADMIN_PASSWORD or secrets.token_urlsafe(12)
    user = User.objects.create_user(
        settings.MUSTER_ADMIN_EMAIL, password, name="Administrator", is_operator=True
    )
    org, _ = Organization.objects.get_or_create(slug="home", defaults={"name": "Home"})
    with org_scope(org.id):
        Membership.objects.get_or_create(org=org, user=user, defaults={"role": OrgRole.OWNER})
        team, _ = Team.objects.get_or_create(org=org, slug="default", defaults={"name": "Default"})
        TeamMembership.objects.get_or_create(
            org=org, team=team, user=user, defaults={"role": TeamRole.LEAD}
        )
    record(
        EventRecord(
            "org.created",
            org.id,
            "org",
            org.id,
            PLATFORM.email,
            {
                "name": org.slug,
                "after": {
                    "slug": org.slug,
                    "name": org.name,
                    "owner": user.email,
                    "operator": user.email,
                },
            },
        )
    )
    return FirstStart(user.email, None if settings.MUSTER_ADMIN_PASSWORD else password, is_new=True)


def awaits_first_sign_in() -> bool:
    """Return whether the administrator has yet to sign in with the generated password."""
    if settings.MUSTER_ADMIN_PASSWORD:
        return False
    first = User.objects.filter(is_operator=True).order_by("date_joined").first()
    return first is not None and first.last_login is None
