"""Sessions of an organization's own provider, and memberships suspended by a directory."""

from __future__ import annotations

import pytest

from portal.core import clock
from portal.core.errors import NotFound
from portal.core.models import Event
from tests.each import each
from workspaces.access.actors import ONLY_ORG, actor_in_session
from workspaces.credentials.authentication import by_token
from workspaces.models import Membership
from workspaces.organizations.selectors import orgs_of
from workspaces.organizations.services import add_member
from workspaces.tenancy.scope import no_scope, org_scope


def _join_borealis(story, email):
    with org_scope(story.borealis.id):
        add_member(actor=story.actor(story.cyd), org=story.borealis, email=email, has_agreed=True)


def test_a_session_that_one_organization_vouched_for_opens_no_other(story):
    _join_borealis(story, story.ben.email)
    actor = actor_in_session(story.ben, {ONLY_ORG: str(story.atlas.id)})
    assert actor is not None and actor.enter(story.atlas).org_role == "member"
    with pytest.raises(NotFound):
        actor.enter(story.borealis)
    assert [org["slug"] for org in orgs_of(actor)] == ["atlas"]


def test_a_session_that_one_organization_vouched_for_is_no_operators(story):
    actor = actor_in_session(story.dot, {ONLY_ORG: str(story.atlas.id)})
    assert actor is not None and not actor.is_operator
    with pytest.raises(NotFound):
        actor.enter(story.atlas)


def test_pages_of_another_organization_are_not_there_in_such_a_session(story):
    _join_borealis(story, story.ben.email)
    client = story.client(story.ben)
    assert client.get("/borealis/teams").status_code == 200
    session = client.session
    session[ONLY_ORG] = str(story.atlas.id)
    session.save()
    assert client.get("/borealis/teams").status_code == 404
    assert client.get("/atlas/teams").status_code == 200


_SHUT = (
    "/accounts/2fa/",
    "/accounts/email/",
    "/accounts/linked/",
    "/accounts/password/change/",
    "/accounts/reauthenticate/",
    "/accounts/sessions/",
    "/api/v1/me/sessions",
    "/identity/o/authorize",
)


@each(
    ("path", "header"),
    [
        (path, header)
        for path in _SHUT
        for header in (False, True)
        if not (header and "/api/" in path)
    ],
)
def test_what_belongs_to_the_account_is_shut_in_such_a_session_whatever_token_comes_along(
    story, path, header
):
    _join_borealis(story, story.ben.email)
    client = story.client(story.ben)
    session = client.session
    session[ONLY_ORG] = str(story.atlas.id)
    session.save()
    more = {"Authorization": f"Bearer {story.token(story.ben)}"} if header else {}
    answer = client.get(path, headers=more)
    assert answer.status_code == 403 and "sign-in opens the organization" in answer.content.decode()
    assert Event.objects.filter(kind="access.denied", actor=story.ben.email).count() == 1


def test_of_an_account_that_is_that_organizations_alone_the_sessions_are_open_and_what_lets_in_is_not(
    story,
):
    story.ben.set_unusable_password()
    story.ben.save()
    client = story.client(story.ben)
    session = client.session
    session[ONLY_ORG] = str(story.atlas.id)
    session.save()
    assert {path for path in _SHUT if client.get(path).status_code == 200} == {
        "/accounts/sessions/",
        "/api/v1/me/sessions",
    }
    assert {client.get(path).status_code for path in _SHUT if "sessions" not in path} == {403}


def test_a_suspended_member_is_a_stranger_by_session_and_by_token_until_they_are_back(story):
    secret, client = story.token(story.ben), story.client(story.ben)
    _suspend(story, clock.now())
    with no_scope():
        entry = by_token(secret, "atlas")
    assert entry is not None
    with pytest.raises(NotFound):
        entry.enter()
    with pytest.raises(NotFound):
        story.actor(story.ben)
    assert client.get("/atlas/teams").status_code == 404
    _suspend(story, None)
    assert story.actor(story.ben).team_roles and client.get("/atlas/teams").status_code == 200


def _suspend(story, at):
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=story.ben).update(suspended_at=at)
