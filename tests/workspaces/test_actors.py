"""Permissions of roles, and tokens that only restrict them."""

from __future__ import annotations

import itertools

import pytest

from portal.core.errors import InvalidInput, NotFound, NotPermitted
from tests.each import each
from workspaces.access.actors import Actor, TokenFacts, actor_of, authorize
from workspaces.access.permissions import (
    READS,
    OrgRole,
    Permission,
    TeamRole,
    org_grants,
    team_grants,
)
from workspaces.credentials.token_format import authenticate_token
from workspaces.credentials.tokens import create_token
from workspaces.models import Team
from workspaces.organizations.services import add_team_member
from workspaces.tenancy.scope import org_scope


def test_roles_include_permissions_of_lower_roles():
    owner, admin, member = (org_grants()[r] for r in (OrgRole.OWNER, OrgRole.ADMIN, OrgRole.MEMBER))
    assert owner > admin > member
    assert (
        team_grants()[TeamRole.LEAD]
        > team_grants()[TeamRole.MEMBER]
        > team_grants()[TeamRole.VIEWER]
    )
    assert (
        Permission.JOBS_SUBMIT
        not in org_grants()[OrgRole.VIEWER]
        | org_grants()[OrgRole.MEMBER]
        | team_grants()[TeamRole.VIEWER]
    )


def test_agent_permissions_require_operator():
    everybody = set().union(*org_grants().values(), *team_grants().values())
    assert Permission.AGENT_WRITE not in everybody


def _tokened(actor: Actor, story, team: Team | None, scopes: frozenset[str]) -> Actor:
    from dataclasses import replace

    return replace(
        actor,
        token=TokenFacts(
            id=story.ada.id,
            org_id=story.atlas.id,
            team_id=team and team.id,
            attempt_id=None,
            scopes=scopes,
        ),
    )


@each("name", ["ada", "ben", "dot"])
def test_token_never_exceeds_owner(story, name):
    person = story.actor(getattr(story, name), story.atlas)
    places = (None, story.vision.id, story.speech.id, story.north.id)
    reaches = [
        (team, frozenset(scopes))
        for team in (None, story.vision, story.speech)
        for scopes in (["all"], [], ["jobs:read"], ["jobs:submit", "jobs:read"], list(Permission))
    ]
    for team, scopes in reaches:
        narrowed = _tokened(person, story, team, scopes)
        for permission, place in itertools.product(Permission, places):
            assert not narrowed.may(permission, place) or person.may(permission, place)
        for permission in Permission:
            mine, its = person.teams_where(permission), narrowed.teams_where(permission)
            assert mine is None or (its is not None and its <= mine)


def test_token_without_scope_is_denied(story):
    narrowed = _tokened(story.actor(story.ada), story, None, frozenset({"jobs:read"}))
    assert narrowed.may(Permission.JOBS_READ)
    assert not narrowed.may(Permission.JOBS_SUBMIT)
    assert narrowed.teams_where(Permission.JOBS_SUBMIT) == frozenset()
    with pytest.raises(NotPermitted, match="with this token"):
        authorize(narrowed, Permission.JOBS_SUBMIT)


def test_team_token_reads_organization_and_writes_team_only(story):
    narrowed = _tokened(story.actor(story.ada), story, story.vision, frozenset({"all"}))
    assert narrowed.may(Permission.JOBS_SUBMIT, story.vision.id)
    assert not narrowed.may(Permission.JOBS_SUBMIT, story.speech.id)
    assert {p for p in Permission if narrowed.may(p)} == READS
    assert narrowed.teams_where(Permission.JOBS_READ) == {story.vision.id}


def test_token_of_other_organization_is_not_found(story):
    secret = story.token(story.dot, story.atlas)
    actor = authenticate_token(secret)
    assert actor.enter(story.atlas).org_slug == "atlas"
    with pytest.raises(NotFound):
        actor.enter(story.borealis)


@each("scopes", [[], ["jobs:fly"], ["all", "x"]])
def test_create_token_unknown_scopes_are_rejected(story, scopes):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput, match="jobs:read"):
        create_token(actor=story.actor(story.ada), org=story.atlas, name="x", scopes=scopes)


@each("days", [0, -1, 4000])
def test_create_token_lifetime_is_limited(story, days):
    with org_scope(story.atlas.id), pytest.raises(InvalidInput, match="days"):
        create_token(
            actor=story.actor(story.ada), org=story.atlas, name="x", scopes=["all"], days=days
        )


def test_create_token_by_token_is_not_wider(story):
    with org_scope(story.atlas.id):
        narrow = _tokened(
            story.actor(story.ada), story, None, frozenset({"tokens:write", "jobs:read"})
        )
        for scopes in (["all"], ["jobs:submit"], ["jobs:read", "jobs:submit"]):
            with pytest.raises(NotPermitted):
                create_token(actor=narrow, org=story.atlas, name="x", scopes=scopes)
        assert create_token(
            actor=narrow, org=story.atlas, name="x", scopes=["jobs:read"]
        ).row.scopes == ["jobs:read"]


def test_create_token_by_team_token_stays_in_team(story):
    with org_scope(story.atlas.id):
        bound = _tokened(story.actor(story.ada), story, story.vision, frozenset({"all"}))
        for team in (None, story.speech):
            with pytest.raises(NotPermitted):
                create_token(actor=bound, org=story.atlas, name="x", scopes=["all"], team=team)
        assert (
            create_token(
                actor=bound, org=story.atlas, name="x", scopes=["all"], team=story.vision
            ).row.team
            == story.vision
        )


def test_team_role_does_not_apply_to_other_team(story):
    ben = story.actor(story.ben)
    assert ben.teams_where(Permission.JOBS_SUBMIT) == {story.vision.id}
    with org_scope(story.atlas.id):
        add_team_member(
            actor=story.actor(story.ada), team=story.speech, email=story.ben.email, role="viewer"
        )
    ben = story.actor(story.ben)
    assert ben.teams_where(Permission.JOBS_READ) == {story.vision.id, story.speech.id}
    assert ben.teams_where(Permission.JOBS_SUBMIT) == {story.vision.id}


def test_actor_outside_organization_is_denied_unless_operator(story):
    assert not any(actor_of(story.ada).may(p) for p in Permission)
    assert all(actor_of(story.dot).may(p) for p in Permission)
