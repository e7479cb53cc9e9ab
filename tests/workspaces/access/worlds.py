"""Random organizations with custom roles, two teams, and a user with or without a token."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from unittest import mock
from uuid import UUID

from hypothesis import strategies as st

from portal.core.errors import NotFound
from workspaces.access.actors import Actor, TokenFacts
from workspaces.access.permissions import AppPermission, Permission, org_grants, team_grants
from workspaces.access.roles import CustomRole, custom_role
from workspaces.access.steps import AccessQuestion
from workspaces.models import Organization

ORG, OTHER = Organization(id=uuid.UUID(int=1), slug="atlas"), uuid.UUID(int=2)
VISION, SPEECH = uuid.UUID(int=11), uuid.UUID(int=12)
STORED = [*map(str, Permission), "jobs:fly"]


@dataclass(frozen=True)
class World:
    """A random state. `seats`: the user's team roles; without an entry they are not a member."""

    own: dict[str, CustomRole]
    org_role: str
    seats: dict[UUID, str]
    is_operator: bool
    is_active: bool
    is_suspended: bool
    token: TokenFacts | None
    token_has_ended: bool

    def may(self, permission: AppPermission, team: UUID | None) -> bool:
        """Return the real decision: entering the organization, then `Actor.may`."""
        if not self.is_active or (self.token and self.token_has_ended):
            return False
        actor = Actor(
            user_id=uuid.UUID(int=3),
            email="kim@atlas.example",
            is_operator=self.is_operator,
            token=self.token,
        )
        try:
            with mock.patch("workspaces.access.actors.custom_roles_for", return_value=self.own):
                role, seats = ("", {}) if self.is_suspended else (self.org_role, self.seats)
                return actor.within(ORG, role, seats).may(permission, team)
        except NotFound:
            return False

    def case(self, permission: AppPermission, team: UUID | None) -> AccessQuestion:
        return AccessQuestion(
            email="kim@atlas.example",
            permission=permission,
            org_id=ORG.id,
            team_id=team,
            team="vision" if team else "",
            is_active=self.is_active,
            is_suspended=self.is_suspended and bool(self.org_role),
            is_operator=self.is_operator,
            org_role=self.org_role,
            team_role=self.seats.get(team, "") if team else "",
            own_roles=self.own,
            token=self.token,
            token_has_ended=self.token_has_ended,
        )

    def after(self, case: AccessQuestion) -> World:
        """Return the state in which the case holds."""
        seats = self.seats | (
            {case.team_id: case.team_role} if case.team_id and case.team_role else {}
        )
        return replace(
            self,
            own={**self.own, **case.own_roles},
            org_role=case.org_role,
            seats=seats,
            is_operator=case.is_operator,
            is_active=case.is_active,
            is_suspended=case.is_suspended,
            token=case.token,
            token_has_ended=case.token_has_ended,
        )


owned = st.dictionaries(
    st.sampled_from(["trainer", "helpdesk", "annotator"]),
    st.tuples(st.sampled_from(["org", "team"]), st.lists(st.sampled_from(STORED), max_size=8)),
    max_size=3,
).map(
    lambda found: {
        slug: custom_role(slug, kind, slug.title(), stored)
        for slug, (kind, stored) in found.items()
    }
)
_org_roles = st.sampled_from(["", "gone", "trainer", "helpdesk", "annotator", *org_grants()])
_team_roles = st.sampled_from(["gone", "trainer", "helpdesk", "annotator", *team_grants()])
_tokens = st.none() | st.builds(
    TokenFacts,
    id=st.just(uuid.UUID(int=4)),
    org_id=st.sampled_from([ORG.id, ORG.id, ORG.id, OTHER]),
    team_id=st.sampled_from([None, VISION, SPEECH]),
    attempt_id=st.none(),
    scopes=st.just(frozenset({"all"}))
    | st.frozensets(st.sampled_from([str(p) for p in Permission]), max_size=6),
)
_mostly, _seldom = (
    st.sampled_from([True, True, True, False]),
    st.sampled_from([False, False, False, True]),
)
worlds = st.builds(
    World,
    own=owned,
    org_role=_org_roles,
    seats=st.dictionaries(st.sampled_from([VISION, SPEECH]), _team_roles),
    is_operator=_seldom,
    is_active=_mostly,
    is_suspended=_seldom,
    token=_tokens,
    token_has_ended=_seldom,
).map(lambda world: world if world.org_role else replace(world, seats={}))
permissions = st.sampled_from(list(Permission))
teams = st.sampled_from([None, VISION, SPEECH])
