"""Token authentication in one query gives the same result as step by step."""

from __future__ import annotations

import pytest

from portal.core.errors import NotFound
from tests.each import each
from workspaces.credentials.authentication import by_token
from workspaces.credentials.token_format import authenticate_token
from workspaces.models import Membership, TeamMembership, User
from workspaces.tenancy.scope import no_scope, org_scope

PEOPLE = ["ada", "ben", "cyd"]


@each("name", PEOPLE)
def test_token_entry_matches_step_by_step_actor(story, name):
    person = getattr(story, name)
    own, other = (story.borealis, story.atlas) if name == "cyd" else (story.atlas, story.borealis)
    secret = story.token(person)
    with no_scope():
        entry, actor = by_token(secret, own.slug), authenticate_token(secret)
        assert entry is not None and actor is not None
        assert entry.actor == actor and entry.enter() == actor.enter(own) and entry.org == own
        assert {team.id for team in entry.teams.values()} == set(entry.enter().team_roles)
        outsider = by_token(secret, other.slug)
        assert outsider is not None
        with pytest.raises(NotFound):
            outsider.enter()


def test_token_entry_in_other_organization_is_not_found(story):
    with no_scope():
        for slug in ("", "nowhere", "atlas' OR '1'='1", "a" * 5000, "é"):
            entry = by_token(story.token(story.ada), slug)
            assert entry is not None and entry.org is None and not entry.teams and not entry.role


def test_token_entry_reflects_removed_roles_at_once(story):
    secret = story.token(story.ben)
    assert story.vision.slug in _teams(secret)
    with org_scope(story.atlas.id):
        TeamMembership.objects.filter(user=story.ben).delete()
    assert not _teams(secret)
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=story.ben).delete()
    with no_scope(), pytest.raises(NotFound):
        _entry(secret).enter()
    User.objects.filter(id=story.ben.id).update(is_active=False)
    assert by_token(secret, "atlas") is None


def test_token_entry_has_teams_of_its_organization_only(story):
    with org_scope(story.borealis.id):
        Membership.objects.create(org=story.borealis, user=story.ada, role="member")
        TeamMembership.objects.create(org=story.borealis, team=story.north, user=story.ada)
    secret = story.token(story.ada)
    assert set(_teams(secret)) == {"vision", "speech"}
    with no_scope():
        elsewhere = by_token(secret, story.borealis.slug)
    assert elsewhere is not None and elsewhere.role == "member"
    with pytest.raises(NotFound):
        elsewhere.enter()


def _entry(secret):
    entry = by_token(secret, "atlas")
    assert entry is not None
    return entry


def _teams(secret):
    return _entry(secret).teams
