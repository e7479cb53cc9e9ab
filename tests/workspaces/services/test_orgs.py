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


def test_the_last_owner_can_neither_step_down_nor_leave(story, atlas):
    with pytest.raises(Conflict, match="owner"):
        _role(story, story.ada.email, "admin")
    with pytest.raises(Conflict, match="owner"):
        organization_services.remove_member(
            actor=story.actor(story.ada), org=atlas, email=story.ada.email
        )
    assert Membership.objects.get(user=story.ada).role == "owner"


def test_an_owner_may_leave_once_there_is_another(story, atlas):
    _role(story, story.ben.email, "owner")
    organization_services.remove_member(
        actor=story.actor(story.ada), org=atlas, email=story.ada.email
    )
    assert list(Membership.objects.values_list("user__email", "role")) == [
        (story.ben.email, "owner")
    ]


def test_an_admin_makes_no_owner_and_unmakes_none(story, atlas):
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


def test_who_leaves_the_organization_leaves_its_teams_and_their_tokens_stop(story, atlas):
    token = story.token(story.ben)
    organization_services.remove_member(
        actor=story.actor(story.ada), org=atlas, email=story.ben.email
    )
    assert not TeamMembership.objects.filter(user=story.ben).exists()
    assert authenticate_token(token) is None
    with pytest.raises(NotFound):
        story.actor(story.ben)


def test_who_leaves_a_team_loses_the_tokens_bound_to_it_and_keeps_the_others(story, atlas):
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


def test_only_members_of_the_organization_join_its_teams(story, atlas):
    with pytest.raises(NotFound, match="not a member"):
        organization_services.add_team_member(
            actor=story.actor(story.ada), team=story.vision, email=story.cyd.email
        )


def test_somebody_joins_once(story, atlas):
    ada = story.actor(story.ada)
    with pytest.raises(Conflict):
        organization_services.add_member(actor=ada, org=atlas, email=story.ben.email.upper())
    with pytest.raises(Conflict):
        organization_services.add_team_member(actor=ada, team=story.vision, email=story.ben.email)
    with pytest.raises(Conflict):
        organization_services.create_team(actor=ada, org=atlas, slug="vision")


def test_the_lead_of_a_team_brings_people_into_that_team_only(story, atlas):
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


def test_a_person_new_to_muster_gets_an_account_without_a_password(story, atlas):
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
def test_what_is_no_address_is_refused_by_field(story, atlas, email):
    with pytest.raises(InvalidInput) as caught:
        organization_services.add_member(actor=story.actor(story.ada), org=atlas, email=email)
    assert caught.value.data["errors"][0]["field"] == "email"


@each("slug", ["", "a", "A", "1a", "-a", "a-", "a_b", "a" * 41, "café", "a b", "a\n"])
def test_a_slug_that_could_not_be_an_address_is_refused(story, atlas, slug):
    with pytest.raises(InvalidInput, match="slug"):
        organization_services.create_team(actor=story.actor(story.ada), org=atlas, slug=slug)
    assert Team.objects.count() == 2


@each(
    "slug",
    sorted(
        organization_services.RESERVED & {"api", "accounts", "static", "ws", "metrics", "healthz"}
    ),
)
def test_an_organization_cannot_take_an_address_of_the_portal(story, slug):
    with pytest.raises(InvalidInput, match="slug"):
        organization_services.create_org(
            actor=actor_of(story.dot), slug=slug, name="x", owner=story.ada
        )


def test_every_first_part_of_an_address_of_the_portal_is_reserved(story):
    from django.urls import get_resolver

    firsts = {str(p.pattern).partition("/")[0] for p in get_resolver().url_patterns} - {""}
    assert firsts <= organization_services.RESERVED
    assert {"static", "ws"} <= organization_services.RESERVED


def test_only_an_operator_makes_organizations(story):
    with pytest.raises(NotPermitted):
        organization_services.create_org(
            actor=story.actor(story.ada), slug="fresh", name="Fresh", owner=story.ada
        )


@each("name", ["", "  ", "x" * 101, "a\nb", "a\x07b", "a\u202eb"])
def test_names_are_printable_and_not_long(story, atlas, name):
    with pytest.raises(InvalidInput, match="name"):
        organization_services.rename_team(
            actor=story.actor(story.ada), team=story.vision, name=name
        )


def test_each_change_leaves_one_fact_with_who_did_it(story, atlas):
    last = Event.objects.order_by("-position").first().position
    _role(story, story.ben.email, "viewer")
    fact = Event.objects.get(position__gt=last)
    assert (fact.kind, fact.actor, fact.org_id) == ("member.changed", story.ada.email, atlas.id)
    assert (fact.data["before"], fact.data["after"]) == ({"role": "member"}, {"role": "viewer"})


def test_a_refused_change_leaves_neither_row_nor_fact(story, atlas):
    facts = Event.objects.count()
    with pytest.raises(Conflict):
        _role(story, story.ada.email, "viewer")
    assert Event.objects.count() == facts


def test_one_revokes_ones_own_tokens_and_only_admins_those_of_others(story, atlas):
    story.token(story.ada)
    row = AccessToken.objects.get()
    with pytest.raises(NotFound):
        tokens.revoke_token(actor=story.actor(story.ben), token_id=row.id)
    story.token(story.ben)
    bens = AccessToken.objects.get(user=story.ben)
    tokens.revoke_token(actor=story.actor(story.ada), token_id=bens.id)
    with pytest.raises(NotFound):
        tokens.revoke_token(actor=story.actor(story.ada), token_id=bens.id)
