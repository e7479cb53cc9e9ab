"""Organizations, teams and members: validation, effects and events."""

from __future__ import annotations

import pytest

from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from workspaces.access.actors import actor_of
from workspaces.credentials import tokens
from workspaces.credentials.token_format import authenticate_token
from workspaces.models import AccessToken, Membership, Team, TeamMembership
from workspaces.organizations import services as organization_services
from workspaces.tenancy.scope import org_scope


@pytest.fixture
def atlas(story):
    """Enter Atlas."""
    with org_scope(story.atlas.id):
        yield story.atlas


def _role(story, email, role):
    return organization_services.change_member(
        actor=story.actor(story.ada), org=story.atlas, email=email, role=role
    )


def test_last_owner_cannot_step_down_or_leave(story, atlas):
    with pytest.raises(Conflict, match="owner"):
        _role(story, story.ada.email, "admin")
    with pytest.raises(Conflict, match="owner"):
        organization_services.remove_member(
            actor=story.actor(story.ada), org=atlas, email=story.ada.email
        )
    assert Membership.objects.get(user=story.ada).role == "owner"


def test_owner_with_another_owner_may_leave(story, atlas):
    _role(story, story.ben.email, "owner")
    organization_services.remove_member(
        actor=story.actor(story.ada), org=atlas, email=story.ada.email
    )
    assert list(Membership.objects.values_list("user__email", "role")) == [
        (story.ben.email, "owner")
    ]


def test_admin_cannot_appoint_or_demote_owner(story, atlas):
    _role(story, story.ben.email, "admin")
    ben = story.actor(story.ben)
    for act in (
        lambda: organization_services.change_member(
            actor=ben, org=atlas, email=story.ben.email, role="owner"
        ),
        lambda: organization_services.change_member(
            actor=ben, org=atlas, email=story.ada.email, role="member"
        ),
        lambda: organization_services.remove_member(actor=ben, org=atlas, email=story.ada.email),
        lambda: organization_services.add_member(
            actor=ben, org=atlas, email="new@atlas.example", role="owner"
        ),
    ):
        with pytest.raises(NotPermitted):
            act()


def test_remove_member_removes_teams_and_tokens(story, atlas):
    token = story.token(story.ben)
    organization_services.remove_member(
        actor=story.actor(story.ada), org=atlas, email=story.ben.email
    )
    assert not TeamMembership.objects.filter(user=story.ben).exists()
    assert authenticate_token(token) is None
    with pytest.raises(NotFound):
        story.actor(story.ben)


def test_remove_team_member_revokes_tokens_of_team_only(story, atlas):
    def made(team):
        return tokens.create_token(
            actor=story.actor(story.ben), org=atlas, name="t", scopes=["all"], team=team
        ).secret

    bound, free = made(story.vision), made(None)
    organization_services.remove_team_member(
        actor=story.actor(story.ada), team=story.vision, email=story.ben.email
    )
    assert authenticate_token(bound) is None
    assert authenticate_token(free)


def test_add_team_member_outside_organization_is_rejected(story, atlas):
    with pytest.raises(NotFound, match="not a member"):
        organization_services.add_team_member(
            actor=story.actor(story.ada), team=story.vision, email=story.cyd.email
        )


def test_add_member_twice_is_conflict(story, atlas):
    ada = story.actor(story.ada)
    with pytest.raises(Conflict):
        organization_services.add_member(actor=ada, org=atlas, email=story.ben.email.upper())
    with pytest.raises(Conflict):
        organization_services.add_team_member(actor=ada, team=story.vision, email=story.ben.email)
    with pytest.raises(Conflict):
        organization_services.create_team(actor=ada, org=atlas, slug="vision")


def test_team_lead_adds_members_to_own_team_only(story, atlas):
    organization_services.change_team_member(
        actor=story.actor(story.ada), team=story.vision, email=story.ben.email, role="lead"
    )
    organization_services.add_member(
        actor=story.actor(story.ada), org=atlas, email="eve@atlas.example"
    )
    ben = story.actor(story.ben)
    organization_services.add_team_member(actor=ben, team=story.vision, email="eve@atlas.example")
    with pytest.raises(NotPermitted):
        organization_services.add_team_member(
            actor=ben, team=story.speech, email="eve@atlas.example"
        )
    with pytest.raises(NotPermitted):
        organization_services.add_member(actor=ben, org=atlas, email="fay@atlas.example")


def test_add_member_new_user_has_no_password(story, atlas):
    row = organization_services.add_member(
        actor=story.actor(story.ada), org=atlas, email=" Eve@Atlas.Example ", name="Eve"
    )
    assert row.user.email == "eve@atlas.example"
    assert not row.user.has_usable_password()


@each(
    "email",
    [
        "",
        "eve",
        "eve@",
        "@x.example",
        "e ve@x.example",
        "eve@x.example\x00",
        '"<b>"@x.example',
        "x" * 300,
    ],
)
def test_add_member_invalid_email_is_rejected(story, atlas, email):
    with pytest.raises(InvalidInput) as caught:
        organization_services.add_member(actor=story.actor(story.ada), org=atlas, email=email)
    assert caught.value.data["errors"][0]["field"] == "email"


@each("slug", ["", "a", "A", "1a", "-a", "a-", "a_b", "a" * 41, "café", "a b", "a\n", "org"])
def test_create_team_invalid_slug_is_rejected(story, atlas, slug):
    with pytest.raises(InvalidInput, match="slug"):
        organization_services.create_team(actor=story.actor(story.ada), org=atlas, slug=slug)
    assert Team.objects.count() == 2


@each(
    "slug",
    sorted(
        organization_services.RESERVED & {"api", "accounts", "static", "ws", "metrics", "healthz"}
    ),
)
def test_create_org_reserved_slug_is_rejected(story, slug):
    with pytest.raises(InvalidInput, match="slug"):
        organization_services.create_org(
            actor=actor_of(story.dot), slug=slug, name="x", owner=story.ada
        )


def test_reserved_slugs_cover_all_url_prefixes(story):
    from django.urls import get_resolver

    firsts = {str(p.pattern).partition("/")[0] for p in get_resolver().url_patterns} - {""}
    assert firsts <= organization_services.RESERVED
    assert {"static", "ws"} <= organization_services.RESERVED


def test_create_org_requires_operator(story):
    with pytest.raises(NotPermitted):
        organization_services.create_org(
            actor=story.actor(story.ada), slug="fresh", name="Fresh", owner=story.ada
        )


@each("name", ["", "  ", "x" * 101, "a\nb", "a\x07b", "a\u202eb"])
def test_names_unprintable_or_long_are_rejected(story, atlas, name):
    with pytest.raises(InvalidInput, match="name"):
        organization_services.rename_team(
            actor=story.actor(story.ada), team=story.vision, name=name
        )


def test_changes_record_one_event_with_actor(story, atlas):
    last = Event.objects.order_by("-position").first().position
    _role(story, story.ben.email, "viewer")
    fact = Event.objects.get(position__gt=last)
    assert (fact.kind, fact.actor, fact.org_id) == ("member.changed", story.ada.email, atlas.id)
    assert (fact.data["before"], fact.data["after"]) == ({"role": "member"}, {"role": "viewer"})


def test_rejected_change_leaves_no_row_or_event(story, atlas):
    facts = Event.objects.count()
    with pytest.raises(Conflict):
        _role(story, story.ada.email, "viewer")
    assert Event.objects.count() == facts


def test_revoke_token_own_or_as_admin(story, atlas):
    story.token(story.ada)
    row = AccessToken.objects.get()
    with pytest.raises(NotFound):
        tokens.revoke_token(actor=story.actor(story.ben), token_id=row.id)
    story.token(story.ben)
    bens = AccessToken.objects.get(user=story.ben)
    tokens.revoke_token(actor=story.actor(story.ada), token_id=bens.id)
    with pytest.raises(NotFound):
        tokens.revoke_token(actor=story.actor(story.ada), token_id=bens.id)
