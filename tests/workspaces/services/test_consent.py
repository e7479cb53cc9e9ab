"""Users with an account join an organization by consent only, unless an operator adds them."""

from __future__ import annotations

import pytest

from portal.core.errors import Conflict, NotPermitted
from tests.each import each
from tests.workspaces.services.test_invitations import path_of, roles
from workspaces.models import Identity, Invitation, Membership, Provider, User
from workspaces.organizations.invitations import NewInvitation, add_or_invite
from workspaces.organizations.people_import import import_people
from workspaces.organizations.services import add_member
from workspaces.tenancy.scope import org_scope, platform_scope


def brought(story, email, by=None, org=None):
    org = org or story.atlas
    with org_scope(org.id):
        return add_or_invite(actor=story.actor(by or story.ada, org), org=org, email=email)


def test_add_member_without_consent_is_rejected(story):
    with org_scope(story.atlas.id), pytest.raises(Conflict, match="only join by invitation"):
        add_member(actor=story.actor(story.ada), org=story.atlas, email=story.cyd.email)
    assert roles(story, story.cyd.email) == ("", {})


def test_bring_in_existing_user_joins_after_accepting(story):
    made = brought(story, story.cyd.email.upper())
    assert isinstance(made, NewInvitation) and roles(story, story.cyd.email)[0] == ""
    story.client(story.cyd).post(path_of(made))
    assert roles(story, story.cyd.email)[0] == "member"


def test_bring_in_by_operator_adds_immediately(story):
    made = brought(story, story.cyd.email, by=story.dot)
    assert isinstance(made, Membership) and roles(story, story.cyd.email)[0] == "member"


def test_bring_in_unused_account_of_other_org_is_invited(story):
    assert isinstance(brought(story, "fay@atlas.example"), Membership)
    assert isinstance(
        brought(story, "fay@atlas.example", by=story.cyd, org=story.borealis), NewInvitation
    )


@each("fact", ["password", "sign-in", "directory", "operator", "switched off"])
def test_account_with_any_use_is_claimed(story, fact):
    user = User.objects.create_user(
        "una@else.example",
        "a long password of Una" if fact == "password" else None,
        is_operator=fact == "operator",
        is_active=fact != "switched off",
    )
    if fact == "sign-in":
        User.objects.filter(id=user.id).update(last_login=user.date_joined)
    if fact == "directory":
        Identity.objects.create(
            user=user,
            subject="una",
            provider=Provider.objects.create(kind="ldap", slug="ad", name="AD"),
        )
    assert isinstance(brought(story, user.email), NewInvitation)


def test_account_without_use_is_unclaimed(story):
    User.objects.create_user("una@else.example")
    assert isinstance(brought(story, "una@else.example"), Membership)


def test_bring_in_invited_or_member_is_conflict(story):
    brought(story, story.cyd.email)
    for email, why in ((story.cyd.email, "already invited"), (story.ben.email, "already a member")):
        with pytest.raises(Conflict, match=why):
            brought(story, email)
    with pytest.raises(NotPermitted):
        brought(story, "new@else.example", by=story.ben)


def test_members_page_shows_invitation_link(story):
    page = (
        story.client(story.ada)
        .post("/atlas/people", {"email": story.cyd.email, "role": "member"})
        .content.decode()
    )
    assert (
        "cyd@borealis.example already has an account and was invited." in page
        and "/accounts/invitations/" in page
    )
    assert roles(story, story.cyd.email)[0] == ""


def test_members_api_reports_invitation(story):
    answer = story.api(story.ada).post(
        "/api/v1/orgs/atlas/members", {"email": story.cyd.email}, content_type="application/json"
    )
    data = answer.json()
    assert (
        answer.status_code,
        data["is_invited"],
        data["role"],
        "/accounts/invitations/" in data["invite_url"],
    ) == (202, True, "member", True)
    assert roles(story, story.cyd.email)[0] == ""


def test_import_adds_new_users_and_invites_existing_ones(story):
    text = "email,role\nina@else.example,viewer\ncyd@borealis.example,viewer"
    with org_scope(story.atlas.id):
        dry = import_people(
            actor=story.actor(story.ada), org=story.atlas, text=text, is_dry=True, adds=True
        )
        done = import_people(
            actor=story.actor(story.ada), org=story.atlas, text=text, is_dry=False, adds=True
        )
    result = [(step.person.email, step.kind, step.note) for step in dry.steps]
    assert result == [(step.person.email, step.kind, step.note) for step in done.steps]
    assert result == [
        ("ina@else.example", "added", ""),
        ("cyd@borealis.example", "invited", "has an account and must accept an invitation"),
    ]
    assert (
        roles(story, "ina@else.example")[0] == "viewer" and roles(story, story.cyd.email)[0] == ""
    )
    with platform_scope("test"):
        assert Invitation.objects.get().role == "viewer"
