"""Nobody grants more permissions than they have, in any way."""

from __future__ import annotations

import itertools

import pytest

from portal.core.errors import InvalidInput, NotPermitted
from tests.each import each
from workspaces.access.permissions import (
    DELEGABLE_TEAM_ROLES,
    ORG_TITLES,
    TEAM_TITLES,
    Permission,
    org_grants,
    team_grants,
    texts,
)
from workspaces.access.role_grants import org_roles_for, team_roles_for
from workspaces.models import Identity, Membership, Provider, TeamMembership, User
from workspaces.organizations import services as organization_services
from workspaces.organizations.invitation_links import invite_url
from workspaces.tenancy.scope import org_scope, platform_scope


@pytest.fixture
def atlas(story):
    """Enter Atlas: Uma is user admin, Amy admin, Bea billing viewer, and Eve has no team."""
    with org_scope(story.atlas.id):
        ada = story.actor(story.ada)
        for name, role in (
            ("uma", "user-admin"),
            ("amy", "admin"),
            ("bea", "billing-viewer"),
            ("eve", "member"),
        ):
            organization_services.add_member(
                actor=ada, org=story.atlas, email=f"{name}@atlas.example", role=role
            )
        yield story.atlas


def person(story, name):
    return story.actor(User.objects.get(email=f"{name}@atlas.example"))


def change(actor, org, name, role):
    return organization_services.change_member(
        actor=actor, org=org, email=f"{name}@atlas.example", role=role
    )


@each("role", ["owner", "admin", "viewer", "billing-viewer"])
def test_user_admin_cannot_give_higher_role(story, atlas, role):
    uma = person(story, "uma")
    for act in (
        lambda: change(uma, atlas, "eve", role),
        lambda: change(uma, atlas, "uma", role),
        lambda: organization_services.add_member(
            actor=uma, org=atlas, email="new@atlas.example", role=role
        ),
    ):
        with pytest.raises(NotPermitted):
            act()
    assert not User.objects.filter(email="new@atlas.example").exists()


def test_user_admin_adds_members_and_user_admins(story, atlas):
    uma = person(story, "uma")
    organization_services.add_member(actor=uma, org=atlas, email="new@atlas.example", role="member")
    assert change(uma, atlas, "eve", "user-admin").role == "user-admin"


@each("name", ["ada", "amy", "bea"])
def test_user_admin_cannot_change_or_remove_higher_role(story, atlas, name):
    uma, before = (
        person(story, "uma"),
        Membership.objects.get(user__email=f"{name}@atlas.example").role,
    )
    with pytest.raises(NotPermitted):
        change(uma, atlas, name, "member")
    with pytest.raises(NotPermitted):
        organization_services.remove_member(actor=uma, org=atlas, email=f"{name}@atlas.example")
    assert Membership.objects.get(user__email=f"{name}@atlas.example").role == before


@each("role", sorted(DELEGABLE_TEAM_ROLES))
def test_user_admin_adds_others_but_not_self_to_teams(story, atlas, role):
    uma = person(story, "uma")
    row = organization_services.add_team_member(
        actor=uma, team=story.speech, email="eve@atlas.example", role=role
    )
    assert row.role == role
    with pytest.raises(NotPermitted):
        organization_services.add_team_member(
            actor=uma, team=story.speech, email="uma@atlas.example", role=role
        )
    assert not TeamMembership.objects.filter(user_id=uma.user_id).exists()


def test_user_admin_cannot_give_lead_or_become_lead_by_creating(story, atlas):
    uma = person(story, "uma")
    with pytest.raises(NotPermitted):
        organization_services.add_team_member(
            actor=uma, team=story.vision, email="eve@atlas.example", role="lead"
        )
    with pytest.raises(NotPermitted):
        organization_services.change_team_member(
            actor=uma, team=story.vision, email=story.ben.email, role="lead"
        )
    fresh = organization_services.create_team(actor=uma, org=atlas, slug="fresh")
    assert not TeamMembership.objects.filter(team=fresh).exists()
    organization_services.add_team_member(actor=uma, team=fresh, email="eve@atlas.example")


def test_user_admin_cannot_raise_own_team_role(story, atlas):
    organization_services.add_team_member(
        actor=story.actor(story.ada), team=story.vision, email="uma@atlas.example", role="viewer"
    )
    for role in ("member", "lead"):
        with pytest.raises(NotPermitted):
            organization_services.change_team_member(
                actor=person(story, "uma"), team=story.vision, email="uma@atlas.example", role=role
            )


def test_team_lead_gives_lead_role_in_that_team(story, atlas):
    organization_services.change_team_member(
        actor=story.actor(story.ada), team=story.vision, email=story.ben.email, role="lead"
    )
    row = organization_services.add_team_member(
        actor=story.actor(story.ben), team=story.vision, email="eve@atlas.example", role="lead"
    )
    assert row.role == "lead"


def test_unknown_role_is_rejected(story, atlas):
    ada = story.actor(story.ada)
    for act in (
        lambda: change(ada, atlas, "eve", "lead"),
        lambda: change(ada, atlas, "eve", ""),
        lambda: organization_services.add_team_member(
            actor=ada, team=story.vision, email="eve@atlas.example", role="owner"
        ),
    ):
        with pytest.raises(InvalidInput) as caught:
            act()
        assert caught.value.data["errors"][0]["field"] == "role"


@each(("giver", "role"), list(itertools.product(["ada", "amy", "uma", "eve"], org_grants())))
def test_offered_org_roles_match_accepted_roles(story, atlas, giver, role):
    actor = person(story, giver)
    is_offered = role in {r.slug for r in org_roles_for(actor, atlas)} and actor.may(
        Permission.MEMBERS_WRITE
    )
    try:
        organization_services.add_member(
            actor=actor, org=atlas, email="new@atlas.example", role=role
        )
        is_accepted = True
    except NotPermitted:
        is_accepted = False
    assert is_accepted == is_offered


@each(("giver", "role"), list(itertools.product(["ada", "uma", "ben"], team_grants())))
def test_offered_team_roles_match_accepted_roles(story, atlas, giver, role):
    actor = person(story, giver)
    is_offered = role in {r.slug for r in team_roles_for(actor, story.vision)} and actor.may(
        Permission.MEMBERS_WRITE, story.vision.id
    )
    try:
        organization_services.add_team_member(
            actor=actor, team=story.vision, email="eve@atlas.example", role=role
        )
        is_accepted = True
    except NotPermitted:
        is_accepted = False
    assert is_accepted == is_offered


def test_add_member_known_elsewhere_gives_no_password_link(story, atlas):
    ada = story.actor(story.ada)
    new = organization_services.add_member(actor=ada, org=atlas, email="new@atlas.example").user
    assert invite_url(new)
    by_directory = User.objects.create_user("ldap@atlas.example")
    with platform_scope("a directory of the installation"):
        Identity.objects.create(
            provider=Provider.objects.create(kind="ldap", slug="ad", name="AD"),
            subject="1",
            user=by_directory,
        )
    operator = User.objects.create_user("op@platform.example", is_operator=True)
    for person in (by_directory, operator):
        assert (
            invite_url(
                organization_services.add_member(
                    actor=ada, org=atlas, email=person.email, has_agreed=True
                ).user
            )
            is None
        )
    with org_scope(story.borealis.id):
        organization_services.add_member(
            actor=story.actor(story.cyd), org=story.borealis, email=new.email, has_agreed=True
        )
    assert invite_url(new) is None


def test_billing_viewer_and_user_admin_see_no_jobs():
    assert not {
        p for p in org_grants()["billing-viewer"] if p.startswith(("jobs:", "members:", "nodes:"))
    }
    assert Permission.BILLING_READ in org_grants()["billing-viewer"]
    assert not {p for p in org_grants()["user-admin"] if p.startswith("jobs:")}
    assert Permission.QUOTAS_WRITE not in org_grants()["user-admin"]


def test_roles_have_titles_and_permissions_have_words():
    assert (set(ORG_TITLES), set(TEAM_TITLES), set(texts())) == (
        set(org_grants()),
        set(team_grants()),
        set(Permission),
    )
