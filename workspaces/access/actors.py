"""Actors and the authorization check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from portal.core import clock
from portal.core.errors import NotFound, NotPermitted
from portal.core.messages import Message
from workspaces.access.custom_roles import custom_roles_for
from workspaces.access.explanation import denial_reason
from workspaces.access.permissions import (
    READS,
    AppPermission,
    denied_while_impersonating,
    operator_grants,
)
from workspaces.access.roles import CustomRole, granted_by
from workspaces.access.steps import AccessQuestion, explained
from workspaces.models import Impersonation, Membership, Organization, Team, TeamMembership, User
from workspaces.tenancy.scope import org_scope

ALL_SCOPES = "all"
# Session key: id of the organization whose provider signed the user in
ONLY_ORG = "only_org"
VOUCHED_BY = "vouched_by"  # session key: id of that provider
ACTS_AS = "acts_as"  # session key: id of an impersonation
# Session key: ids of organizations that refuse password sign-in, with their provider's name
CLOSED = "closed_orgs"


@dataclass(frozen=True)
class TokenFacts:
    """Restrictions of the token an actor came with: a token never allows more than its owner."""

    id: UUID
    org_id: UUID
    team_id: UUID | None
    attempt_id: UUID | None
    scopes: frozenset[str]
    networks: tuple[str, ...] = ()
    name: str = ""
    # The organization's provider that signed in the session this token was made in
    vouched_by: UUID | None = None
    cluster: str = ""  # of node agents: the only cluster whose nodes it may report

    def allows(self, permission: AppPermission) -> bool:
        return ALL_SCOPES in self.scopes or permission in self.scopes


@dataclass(frozen=True)
class ActedBy:
    """The operator impersonating this user, and until when."""

    id: UUID  # of the Impersonation
    email: str
    until: datetime


@dataclass(frozen=True)
class Actor:
    """A signed-in user, a token, or a component of Muster.

    `org_id` and the roles are set once an organization is entered.
    """

    user_id: UUID | None
    email: str
    name: str = ""
    is_operator: bool = False
    is_service: bool = False
    has_second_factor: bool = False
    token: TokenFacts | None = None
    # Signed in by this organization's provider: no other can be entered
    only_org: UUID | None = None
    vouched_by: UUID | None = None  # id of that provider
    # Organizations that require another way to sign in, and its name
    closed: Mapping[str, str] = field(default_factory=dict)
    acted_by: ActedBy | None = None  # set while an operator impersonates this user
    org_id: UUID | None = None
    org_slug: str = ""
    org_role: str = ""
    team_roles: Mapping[UUID, str] = field(default_factory=dict)
    # The custom roles of the organization, if any of the roles above is one
    own_roles: Mapping[str, CustomRole] = field(default_factory=dict)

    @property
    def is_job(self) -> bool:
        """Return whether the actor is a running job, with the token of its attempt."""
        return self.token is not None and self.token.attempt_id is not None

    @property
    def via(self) -> str:
        """Return how the actor authenticated, as recorded in events."""
        return f"token {self.token.id} {self.token.name}".rstrip() if self.token else "session"

    def enter(self, org: Organization) -> Actor:
        """Return the actor inside an organization.

        Raises NotFound for non-members, who must not learn that it exists.
        """
        with org_scope(org.id):
            role = (
                Membership.objects.filter(user_id=self.user_id, suspended_at=None)
                .values_list("role", flat=True)
                .first()
                or ""
            )
            teams = (
                dict(
                    TeamMembership.objects.filter(user_id=self.user_id).values_list(
                        "team_id", "role"
                    )
                )
                if role
                else {}
            )
        return self.within(org, role, teams)

    def within(self, org: Organization, role: str, teams: Mapping[UUID, str]) -> Actor:
        """Return the actor inside an organization where its roles are already known.

        Raises NotFound, and NotPermitted if the organization requires a second factor that is
        missing.
        """
        is_elsewhere = (
            self.token is not None and self.token.org_id != org.id
        ) or self.only_org not in (None, org.id)
        if is_elsewhere or not (role or self.is_operator):
            raise NotFound(
                Message("There is no organization {slug} that you belong to.", slug=repr(org.slug))
            )
        if way := self.closed.get(str(org.id)):
            raise NotPermitted(
                Message(
                    "{name} requires sign-in with {way}. Sign out, and sign in with that.",
                    name=org.name,
                    way=way,
                )
            )
        if org.requires_second_factor and not self._is_vouched_for():
            raise NotPermitted(
                Message(
                    "{name} requires a second factor, and {email} has none yet: add a passkey or "
                    "an authenticator app on the Security page of your account.",
                    name=org.name,
                    email=self.email,
                ),
                code="second_factor_required",
            )
        own = custom_roles_for(org.id, (role, *teams.values()))
        return replace(
            self, org_id=org.id, org_slug=org.slug, org_role=role, team_roles=teams, own_roles=own
        )

    def _is_vouched_for(self) -> bool:
        """Return whether the second-factor requirement is met or does not apply.

        Service accounts have no factors, and a running job does not stop for its owner's. The
        organization's own provider has applied its own requirements.
        """
        is_job = self.token is not None and self.token.attempt_id is not None
        is_let_in = self.only_org is not None and self.token is None
        return (
            self.has_second_factor or self.is_service or is_job or is_let_in or self.user_id is None
        )

    def may(self, permission: AppPermission, team_id: UUID | None = None) -> bool:
        """Return whether the roles and the token, if any, allow it in the team or organization."""
        if self.token and not self.token.allows(permission):
            return False
        if self.token and self.token.team_id and team_id != self.token.team_id:
            return team_id is None and permission in READS and self._has(permission, None)
        return self._has(permission, team_id)

    def teams_where(self, permission: AppPermission) -> frozenset[UUID] | None:
        """Return the teams in which it is allowed, or None for the whole organization.

        Use it to filter a queryset.
        """
        if (self.token and not self.token.allows(permission)) or self.refuses_to_act(permission):
            return frozenset()
        if self.token and self.token.team_id:
            return (
                frozenset({self.token.team_id})
                if self.may(permission, self.token.team_id)
                else frozenset()
            )
        if self._has(permission, None):
            return None
        return frozenset(
            t
            for t, role in self.team_roles.items()
            if permission in granted_by("team", role, self.own_roles)
        )

    def granted(self, team_id: UUID | None = None) -> frozenset[AppPermission]:
        """Return what the roles grant in the organization, or in that team. Ignores the token."""
        if self.is_operator:
            return operator_grants()
        granted = granted_by("org", self.org_role, self.own_roles)
        if team_id is not None and team_id in self.team_roles:
            granted = granted | granted_by("team", self.team_roles[team_id], self.own_roles)
        return granted - denied_while_impersonating() if self.acted_by else granted

    def refuses_to_act(self, permission: AppPermission) -> bool:
        """Return whether an impersonating operator is denied this permission."""
        return self.acted_by is not None and permission in denied_while_impersonating()

    def check_acts_for_oneself(self) -> None:
        """Raise NotPermitted if an operator is impersonating this user."""
        if self.acted_by is not None:
            raise NotPermitted(
                Message(
                    "You're impersonating {email}; only they can do that. Stop impersonating "
                    "first.",
                    email=self.email,
                ),
                code="impersonating",
            )

    def _has(self, permission: AppPermission, team_id: UUID | None) -> bool:
        """Return whether `granted` has it, without building the set: every request calls this."""
        if self.refuses_to_act(permission):
            return False
        if self.is_operator or permission in granted_by("org", self.org_role, self.own_roles):
            return True
        role = self.team_roles.get(team_id) if team_id is not None else None
        return role is not None and permission in granted_by("team", role, self.own_roles)

    def case(self, permission: AppPermission, team: Team | UUID | None = None) -> AccessQuestion:
        """Return the question that `may` answers, for an explanation."""
        team_id, slug = (team.id, team.slug) if isinstance(team, Team) else (team, "")
        return AccessQuestion(
            email=self.email,
            permission=permission,
            org_id=self.org_id,
            team_id=team_id,
            team=slug,
            is_operator=self.is_operator,
            org_role=self.org_role,
            team_role=self.team_roles.get(team_id, "") if team_id else "",
            own_roles=self.own_roles,
            token=self.token,
        )


def authorize(actor: Actor, permission: AppPermission, team: Team | UUID | None = None) -> None:
    """Raise NotPermitted, with the reason, unless the actor may.

    The object must already have been found inside the actor's organization.
    """
    team_id = team.id if isinstance(team, Team) else team
    if actor.refuses_to_act(permission):
        actor.check_acts_for_oneself()
    if not actor.may(permission, team_id):
        reasons = denial_reason(explained(actor.case(permission, team)))
        if actor.token and not actor.token.allows(permission):
            denied = (
                Message(
                    "You can't do that in this team with this token: it needs {permission}.",
                    permission=permission,
                )
                if team_id
                else Message(
                    "You can't do that in this organization with this token: it needs "
                    "{permission}.",
                    permission=permission,
                )
            )
        elif team_id:
            denied = Message(
                "You can't do that in this team: it needs {permission}.", permission=permission
            )
        else:
            denied = Message(
                "You can't do that in this organization: it needs {permission}.",
                permission=permission,
            )
        raise NotPermitted(
            Message.joined(" ", (denied, reasons)),
            data={
                "permission": str(permission),
                **({"team": team.slug} if isinstance(team, Team) else {}),
            },
        )


def actor_of(user: User, token: TokenFacts | None = None) -> Actor:
    """Return the actor for a user who has not entered an organization yet.

    A token allows no more than the session that created it.
    """
    actor = Actor(
        user_id=user.id,
        email=user.email,
        name=user.display_name,
        is_operator=user.is_operator,
        is_service=user.is_service,
        has_second_factor=user.has_second_factor,
        token=token,
    )
    return (
        restrict_to_org(actor, token.org_id, token.vouched_by)
        if token and token.vouched_by
        else actor
    )


def restrict_to_org(actor: Actor, org_id: UUID, provider_id: UUID | None) -> Actor:
    """Restrict an actor to the organization of its provider, without operator rights."""
    return replace(actor, is_operator=False, only_org=org_id, vouched_by=provider_id)


def actor_in_session(user: User, session: Mapping[str, Any]) -> Actor | None:
    """Return the actor of a browser session, or None for anonymous users and service accounts.

    Whoever signed in through an organization's own provider is limited to that organization: its
    administrators control whom the provider vouches for.
    """
    if not (user.is_authenticated and user.is_active) or user.is_service:
        return None
    only = session.get(ONLY_ORG)
    actor = actor_of(user)
    if only:
        by = session.get(VOUCHED_BY)
        actor = restrict_to_org(actor, UUID(only), UUID(by) if by else None)
    if session.get(ACTS_AS):
        return _as_person(actor, session[ACTS_AS])
    if only:
        return actor
    return replace(actor, closed=session[CLOSED]) if session.get(CLOSED) else actor


def live_impersonations() -> QuerySet[Impersonation]:
    """Return impersonations that are still valid.

    They have not ended, and neither account has changed in a way that forbids them.
    """
    return Impersonation.objects.filter(
        ended_at=None,
        ends_at__gt=clock.now(),
        operator__is_operator=True,
        operator__is_active=True,
        person__is_operator=False,
        person__is_active=True,
        person__is_service=False,
    )


def _as_person(operator: Actor, pk: str) -> Actor:
    """Return the user whom the session's operator impersonates.

    Raises NotPermitted once that has ended: the action must not fall back to the operator's own
    rights.
    """
    row = (
        live_impersonations()
        .filter(id=pk, operator_id=operator.user_id)
        .select_related("person")
        .first()
        if operator.is_operator
        else None
    )
    if row is None:
        raise NotPermitted(
            Message("The impersonation has ended. Reload the page to continue as yourself."),
            code="impersonation_over",
        )
    person = actor_of(row.person)
    return replace(
        person,
        has_second_factor=person.has_second_factor and operator.has_second_factor,
        acted_by=ActedBy(row.id, operator.email, row.ends_at),
    )
