"""Previews of access changes match what happens when the change is made."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspaces.access.worlds import owned
from workspaces.access import services as access_services
from workspaces.access.differences import EVERYWHERE, PersonRoles, differences, reach
from workspaces.access.permissions import Permission as P
from workspaces.access.permissions import org_grants, team_grants
from workspaces.access.whatif import preview_memberships, preview_role, standings
from workspaces.models import Membership
from workspaces.organizations import services as organization_services
from workspaces.tenancy.scope import org_scope

_standings = st.builds(
    PersonRoles,
    st.sampled_from(["", "trainer", *org_grants()]),
    st.dictionaries(
        st.sampled_from(["vision", "speech"]),
        st.sampled_from(["trainer", "helpdesk", *team_grants()]),
    ),
)
_worlds = st.dictionaries(st.sampled_from(["ada@x", "ben@x", "kim@x"]), _standings)
PLACES = (EVERYWHERE, "vision", "speech")


def granted(standing, own, place):
    """Compute grants from the policy tables, without the code under test."""
    found = reach(standing, own)
    return found.get(place, found[EVERYWHERE])


@settings(deadline=None)
@given(_worlds, _worlds, owned, owned)
def test_differences_applied_to_before_give_after(before, after, own, own_after):
    result = {one.email: one for one in differences(before, after, own, own_after)}
    for email in before.keys() | after.keys():
        old, new = before.get(email, PersonRoles()), after.get(email, PersonRoles())
        for place in PLACES:
            gained, lost = (
                (result[email].gained, result[email].lost) if email in result else ({}, {})
            )
            more = gained.get(EVERYWHERE, frozenset()) | gained.get(place, frozenset())
            less = lost.get(EVERYWHERE, frozenset()) | lost.get(place, frozenset())
            had, has = granted(old, own, place), granted(new, own_after, place)
            assert has == (had | (more & has)) - (less - has)
            assert (gained.get(place, frozenset()) <= has - had) and (
                lost.get(place, frozenset()) <= had - has
            )


@given(_worlds, owned)
def test_differences_without_change_are_empty(world, own):
    assert differences(world, world, own) == []


def test_differences_organization_grant_is_not_repeated_for_teams():
    [one] = differences(
        {"kim@x": PersonRoles("member", {"vision": "viewer"})},
        {"kim@x": PersonRoles("admin", {"vision": "viewer"})},
        {},
    )
    assert set(one.gained) == {EVERYWHERE} and one.lost == {}


@pytest.fixture
def atlas(story):
    with org_scope(story.atlas.id):
        yield story.atlas


def test_preview_group_added_to_team_lists_gains_without_storing(story, atlas):
    before = standings()
    found = preview_memberships(
        atlas,
        {
            "kim@atlas.example": PersonRoles("member", {"vision": "member"}),
            story.ben.email.upper(): PersonRoles("member", {"vision": "lead"}),
        },
    )
    assert [one.email for one in found] == ["ben@atlas.example", "kim@atlas.example"]
    assert (
        found[0].gained
        == {
            "vision": {
                P.DATASETS_ADMIN,
                P.JOBS_ADMIN,
                P.MEMBERS_WRITE,
                P.MODELS_APPROVE,
            }
        }
        and found[0].lost == {}
    )
    assert (
        P.JOBS_SUBMIT in found[1].gained["vision"] and P.TEAMS_READ in found[1].gained[EVERYWHERE]
    )
    assert standings() == before


def test_preview_matches_applied_change(story, atlas):
    [result] = preview_memberships(atlas, {story.ben.email: PersonRoles("viewer", {})})
    assert result.lost == {
        "vision": {
            P.DATASETS_WRITE,
            P.EXPERIMENTS_WRITE,
            P.JOBS_CANCEL,
            P.JOBS_EXEC,
            P.JOBS_SUBMIT,
            P.JOBS_WRITE_METRICS,
            P.MODELS_WRITE,
            P.SECRETS_READ,
            P.SECRETS_WRITE,
        }
    }
    before = story.actor(story.ben)
    organization_services.change_member(
        actor=story.actor(story.ada), org=atlas, email=story.ben.email, role="viewer"
    )
    organization_services.remove_team_member(
        actor=story.actor(story.ada), team=story.vision, email=story.ben.email
    )
    after = story.actor(story.ben)
    assert before.granted(story.vision.id) - after.granted(story.vision.id) == result.lost["vision"]
    assert after.granted() - before.granted() == result.gained[EVERYWHERE]


def test_preview_removed_member_loses_all_suspended_loses_nothing(story, atlas):
    [result] = preview_memberships(atlas, {story.ben.email: PersonRoles()})
    assert result.lost[EVERYWHERE] == story.actor(story.ben).granted()
    from portal.core import clock

    Membership.objects.filter(user=story.ben).update(suspended_at=clock.now())
    assert preview_memberships(atlas, {story.ben.email: PersonRoles()}) == []


def test_preview_role_change_lists_all_members_with_role(story, atlas):
    access_services.create_role(
        actor=story.actor(story.ada),
        org=atlas,
        slug="trainer",
        kind="team",
        permissions=["jobs:read", "jobs:submit"],
    )
    organization_services.change_team_member(
        actor=story.actor(story.ada), team=story.vision, email=story.ben.email, role="trainer"
    )
    [result] = preview_role(atlas, "trainer", ["jobs:read", "jobs:exec"])
    assert (result.email, result.gained, result.lost) == (
        story.ben.email,
        {"vision": {P.JOBS_EXEC}},
        {"vision": {P.JOBS_SUBMIT}},
    )
