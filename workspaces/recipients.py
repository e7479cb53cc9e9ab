"""Notices that events lead to, and whom they are for: people by permission, as `authorize` says.

Apps declare theirs in `notices.py`; the app of notifications stores and sends them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from portal.core.messages import Message
from portal.core.models import Event
from workspaces.access.custom_roles import custom_roles_for
from workspaces.access.permissions import AppPermission
from workspaces.access.roles import granted_by
from workspaces.models import Membership, Organization, TeamMembership, User

MOST = 200  # people told about one event


@dataclass(frozen=True)
class NoticeKind:
    """A kind: its name in the API, its title, and the defaults of the portal and of e-mail.

    `permissions` are those that its notices may need. `for_team`: channels of teams can have it. `many`
    is the title of several at once, with {n} and {name}, which their titles have in common. `mark` is
    the shape of its line: "failed" and "unknown" (a warning) want attention.
    """

    name: str
    order: int
    title: Message
    help: Message
    permissions: tuple[AppPermission, ...] = ()
    in_app: bool = True
    email: bool = False
    for_team: bool = True
    operators_only: bool = False
    many: Message | None = None
    mark: str = "queued"


@dataclass(frozen=True)
class Notice:
    """What to tell whom. `permission` is needed to see it, in `team_id` if that is set.

    `org_id` None: operators only. Channels of `team_id` get it too.
    """

    kind: str
    org_id: UUID | None
    users: Sequence[User]
    title: Message
    path: str
    body: Message = Message("")  # noqa: RUF009  # immutable
    permission: str = ""
    team_id: UUID | None = None


def people_who_may(
    permission: AppPermission, org_id: UUID, team_id: UUID | None = None
) -> list[User]:
    """Return the members with a permission in the organization, or in that team.

    Operators who are no members are left out. Run in a platform scope.
    """
    members = Membership.objects.filter(org_id=org_id, suspended_at=None)
    roles = dict(members.values_list("user_id", "role"))
    teams = (
        dict(TeamMembership.objects.filter(team_id=team_id).values_list("user_id", "role"))
        if team_id
        else {}
    )
    own = custom_roles_for(org_id, (*roles.values(), *teams.values()))
    found = {
        user
        for user, role in roles.items()
        if permission in granted_by("org", role, own)
        or (user in teams and permission in granted_by("team", teams[user], own))
    }
    return list(_active().filter(id__in=found).order_by("id")[:MOST])


def operators() -> list[User]:
    """Return the operators of the installation."""
    return list(_active().filter(is_operator=True).order_by("id")[:MOST])


def active(users: Iterable[User]) -> list[User]:
    """Return the people among accounts, without suspended ones and service accounts."""
    return [user for user in users if user.is_active and not user.is_service]


def org_of(event: Event) -> Organization | None:
    """Return the organization in which an event happened, if it still exists."""
    return Organization.objects.filter(id=event.org_id).first() if event.org_id else None


def quoted(text: str) -> Message:
    """Return what a person wrote, as the body of a notice."""
    return Message("“{text}”", text=text) if text else Message("")


def _active() -> QuerySet[User]:
    return User.objects.filter(is_active=True, is_service=False)
