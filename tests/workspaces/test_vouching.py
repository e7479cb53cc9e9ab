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


def test_vouched_session_cannot_enter_other_organization(story):
    _join_borealis(story, story.ben.email)
    actor = actor_in_session(story.ben, {ONLY_ORG: str(story.atlas.id)})
    assert actor is not None and actor.enter(story.atlas).org_role == "member"
    with pytest.raises(NotFound):
        actor.enter(story.borealis)
    assert [org["slug"] for org in orgs_of(actor)] == ["atlas"]


def test_vouched_session_has_no_operator_rights(story):
    actor = actor_in_session(story.dot, {ONLY_ORG: str(story.atlas.id)})
    assert actor is not None and not actor.is_operator
    with pytest.raises(NotFound):
        actor.enter(story.atlas)


def test_vouched_session_pages_of_other_org_are_not_found(story):
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
def test_vouched_session_denies_account_even_with_token(story, path, header):
    _join_borealis(story, story.ben.email)
    client = story.client(story.ben)
    session = client.session
    session[ONLY_ORG] = str(story.atlas.id)
    session.save()
    more = {"Authorization": f"Bearer {story.token(story.ben)}"} if header else {}
    answer = client.get(path, headers=more)
    assert (
        answer.status_code == 403 and "access to your account settings" in answer.content.decode()
    )
    assert Event.objects.filter(kind="access.denied", actor=story.ben.email).count() == 1


def test_vouched_session_of_single_org_account_opens_sessions(
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


def test_suspended_member_is_denied_until_restored(story):
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
