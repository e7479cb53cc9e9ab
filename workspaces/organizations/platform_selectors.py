"""Organizations and users of the whole installation, for operators.

Jobs are in another app, which answers in its `providers.py`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from portal.core.declarations import declared
from portal.core.errors import NotFound
from workspaces.access.actors import Actor
from workspaces.access.permissions import OrgRole
from workspaces.models import Identity, Membership, Organization, Team, User
from workspaces.tenancy.scope import platform_scope

_REASON = "operators see organizations and users of the whole installation"


def active_jobs() -> Counter[UUID]:
    """Return the number of active jobs by organization."""
    counts = Counter[UUID]()
    for count in declared("providers", "ACTIVE_JOBS_BY_ORG"):
        counts.update(count())
    return counts


def organization_rows(rows: Sequence[Organization], actor: Actor) -> list[dict[str, Any]]:
    """Return organizations with owners and numbers of users, teams and active jobs."""
    with platform_scope(_REASON):
        people = dict(
            Membership.objects.filter(user__is_service=False)
            .values_list("org_id")
            .annotate(n=Count("id"))
        )
        teams = dict(Team.objects.values_list("org_id").annotate(n=Count("id")))
        jobs = active_jobs()
        owners = defaultdict(list)
        rows_of_owners = Membership.objects.filter(role=OrgRole.OWNER).select_related("user")
        for row in rows_of_owners.order_by("user__email"):
            owners[row.org_id].append((row.user.email, row.user.display_name))
    return [
        {
            "slug": org.slug,
            "name": org.name,
            "created_at": org.created_at,
            "owners": [email for email, _ in owners[org.id]],
            "owner_names": owners[org.id],
            "people": people.get(org.id, 0),
            "teams": teams.get(org.id, 0),
            "jobs": jobs.get(org.id, 0),
        }
        for org in rows
    ]


def people() -> QuerySet[User]:
    """Return the users who are people."""
    return User.objects.filter(is_service=False)


def of_kind(rows: QuerySet[User], kind: str) -> QuerySet[User]:
    """Narrow to operators, or to suspended users."""
    known = {"operators": Q(is_operator=True), "suspended": Q(is_active=False)}
    return rows.filter(known.get(kind, Q()))


def person_rows(rows: Sequence[User], actor: Actor) -> list[dict[str, Any]]:
    """Return users with their organizations and how they sign in."""
    ids = [user.id for user in rows]
    places = _memberships(ids)
    directories = set(Identity.objects.filter(user_id__in=ids).values_list("user_id", flat=True))
    return [_row(user, places[user.id], user.id in directories) for user in rows]


def one_person(pk: UUID) -> dict[str, Any]:
    """Return a user. Raises NotFound."""
    user = User.objects.filter(id=pk, is_service=False).first()
    if user is None:
        raise NotFound(_("There is no such user."))
    return _row(user, _memberships([user.id])[user.id], Identity.objects.filter(user=user).exists())


def _memberships(ids: list[UUID]) -> Mapping[UUID, list[dict[str, str]]]:
    found: dict[UUID, list[dict[str, str]]] = defaultdict(list)
    with platform_scope(_REASON):
        for user_id, slug, name, role in (
            Membership.objects.filter(user_id__in=ids)
            .order_by("org__slug")
            .values_list("user_id", "org__slug", "org__name", "role")
        ):
            found[user_id].append({"org": slug, "org_name": name, "role": role})
    return found


def _row(user: User, places: list[dict[str, str]], is_of_directory: bool) -> dict[str, Any]:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.display_name,
        "is_operator": user.is_operator,
        "is_active": user.is_active,
        "suspended_at": user.suspended_at,
        "why": user.suspended_why,
        "last_login": user.last_login,
        "orgs": places,
        "has_second_factor": user.has_second_factor,
        "is_of_directory": is_of_directory,
        "has_password": user.has_usable_password(),
    }
