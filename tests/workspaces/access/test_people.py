"""Explanations about members: who may ask, and what they do not reveal."""

from __future__ import annotations

import pytest

from clusters.backends import ensure_first_cluster
from jobs import services as job_services
from jobs.services.change import authorize_change
from portal.core import clock
from portal.core.errors import NotFound, NotPermitted
from schedulers.spec import parse_mapping
from tests.each import each
from workspaces.access import services as access_services
from workspaces.access.actors import authorize
from workspaces.access.check import about_named, explain_person
from workspaces.access.explanation import sentences
from workspaces.access.permissions import Permission as P
from workspaces.access.permissions import team_grants
from workspaces.models import Membership, Provider, TeamMembership, User
from workspaces.organizations import services as organization_services
from workspaces.tenancy.scope import org_scope

ACCESS = "/api/v1/orgs/atlas/access"


@pytest.fixture
def atlas(story):
    ensure_first_cluster()
    with org_scope(story.atlas.id):
        yield story.atlas


def explained_access(story, asker, email, permission, team=None, about=None):
    return explain_person(
        asker=story.actor(asker),
        org=story.atlas,
        email=email,
        permission=permission,
        team=team,
        about=about,
    )


@each("permission", list(P))
def test_explain_person_matches_actor_permissions(story, atlas, permission):
    for person in (story.ada, story.ben, story.dot):
        for team in (None, story.vision, story.speech):
            found = explained_access(story, story.ada, person.email, permission, team)
            assert found.allowed == story.actor(person, atlas).may(
                permission, team.id if team else None
            )


def test_explain_person_non_member_equals_unknown_user(story, atlas):
    User.objects.filter(id=story.cyd.id).update(is_active=False)
    outsider, unknown = (
        explained_access(story, story.ada, email, P.JOBS_READ, story.vision)
        for email in (story.cyd.email, "new@x.example")
    )
    assert (
        [s.kind for s in outsider.steps]
        == [s.kind for s in unknown.steps]
        == ["stranger", "not-in-team"]
    )
    assert not outsider.allowed


def test_explain_person_disabled_account_is_named(story, atlas):
    User.objects.filter(id=story.ben.id).update(is_active=False)
    found = explained_access(story, story.ada, story.ben.email, P.JOBS_SUBMIT, story.vision)
    assert not found.allowed
    assert [s.kind for s in found.steps if s.is_decisive] == ["account-off"]


def test_explain_person_names_directory_group_and_suspension(story, atlas):
    ad = Provider.objects.create(org=atlas, kind="ldap", slug="ad", name="Atlas AD")
    Membership.objects.filter(user=story.ben).update(provider=ad, via="cn=staff")
    TeamMembership.objects.filter(user=story.ben).update(provider=ad, via="cn=vision")
    explanation = sentences(
        explained_access(story, story.ada, story.ben.email, P.JOBS_SUBMIT, story.vision)
    )
    assert explanation[0].endswith("It is given by the group cn=staff of Atlas AD.")
    assert explanation[1] == (
        "The role Member in team vision grants jobs:submit. It is given by the group "
        "cn=vision of Atlas AD."
    )
    Membership.objects.filter(user=story.ben).update(suspended_at=clock.now())
    found = explained_access(story, story.ada, story.ben.email, P.JOBS_SUBMIT, story.vision)
    assert not found.allowed and [s.kind for s in found.steps] == ["suspended"]


def test_explain_person_without_members_read_only_about_self(story, atlas):
    organization_services.change_member(
        actor=story.actor(story.ada), org=atlas, email=story.ben.email, role="billing-viewer"
    )
    assert explained_access(story, story.ben, story.ben.email.upper(), P.BILLING_READ).allowed
    with pytest.raises(NotPermitted):
        explained_access(story, story.ben, story.ada.email, P.BILLING_READ)


def test_explain_person_other_users_job_explains_extra_permission(story, atlas):
    job = job_services.submit_job(
        actor=story.actor(story.ada), team=story.vision, spec=parse_mapping({"run": "true"})
    )
    about = about_named(story.actor(story.ada), atlas, f"job:{job.number}")
    found = explained_access(story, story.ada, story.ben.email, P.JOBS_CANCEL, about=about)
    assert found.case.permission == P.JOBS_ADMIN and not found.allowed
    assert (
        sentences(found)[0]
        == f"#{job.number} belongs to {story.ada.email}: acting on another's job takes jobs:admin."
    )
    assert explained_access(story, story.ada, story.ben.email, P.JOBS_READ, about=about).allowed
    assert (
        explained_access(
            story, story.ada, story.ada.email, P.JOBS_CANCEL, about=about
        ).case.permission
        == P.JOBS_CANCEL
    )


@each("act", [P.JOBS_EXEC, P.JOBS_CANCEL, P.JOBS_READ])
@each("role", sorted([*team_grants(), "runner", "keeper", "both"]))
def test_explain_person_other_users_job_matches_action(story, atlas, role, act):
    ada = story.actor(story.ada)
    own_roles = {
        "runner": ["jobs:exec", "jobs:read"],
        "keeper": ["jobs:exec-others", "jobs:read"],
        "both": ["jobs:exec-others", "jobs:exec"],
    }
    for slug, given in own_roles.items():
        access_services.create_role(
            actor=ada, org=atlas, kind="team", slug=slug, name=slug, permissions=given
        )
    job = job_services.submit_job(actor=ada, team=story.vision, spec=parse_mapping({"run": "true"}))
    organization_services.change_team_member(
        actor=ada, team=story.vision, email=story.ben.email, role=role
    )
    about, ben = about_named(ada, atlas, f"job:{job.number}"), story.actor(story.ben)
    found = explained_access(story, story.ada, story.ben.email, act, about=about)
    assert found.allowed == decided(ben, job, act)
    if not found.allowed:
        assert not ben.may(found.case.permission, story.vision.id)


def decided(actor, job, act):
    """Return the decision of the action itself."""
    try:
        if act == P.JOBS_EXEC:
            authorize(actor, act, job.team_id)
            authorize(actor, P.JOBS_EXEC_OTHERS, job.team_id)
        elif act == P.JOBS_READ:
            authorize(actor, act, job.team_id)
        else:
            authorize_change(actor, job, act)
    except NotPermitted:
        return False
    return True


def test_explain_person_invisible_job_is_not_found(story, atlas):
    job = job_services.submit_job(
        actor=story.actor(story.ada), team=story.speech, spec=parse_mapping({"run": "true"})
    )
    with pytest.raises(NotFound):
        about_named(story.actor(story.ben), atlas, f"job:{job.number}")


def test_denial_names_reason_and_proposal(story, atlas):
    with pytest.raises(NotPermitted) as caught:
        authorize(story.actor(story.ben), P.JOBS_SUBMIT, story.speech)
    assert caught.value.message == (
        "You can't do that in this team: it needs jobs:submit. The role Member in the "
        "organization does not grant jobs:submit."
        " ben@atlas.example has no role in team speech. To be allowed: the role Member in team "
        "speech."
    )
    assert caught.value.data == {"permission": "jobs:submit", "team": "speech"}


def test_access_api_about_self_applies_token(story):
    found = (
        story.api(story.ben, scopes=("jobs:read",))
        .get(ACCESS, {"permission": "jobs:submit", "team": "vision"})
        .json()
    )
    assert not found["allowed"]
    assert [s["kind"] for s in found["steps"] if s["is_decisive"]] == ["token-scope"]
    assert found["would_allow"] == [
        {
            "text": "a token with the scope jobs:submit that is valid there",
            "changes": [{"kind": "token", "role": None}],
        }
    ]
    named = (
        story.api(story.ada)
        .get(ACCESS, {"permission": "jobs:submit", "team": "vision", "user": story.ben.email})
        .json()
    )
    assert named["allowed"] and [s["kind"] for s in named["steps"]] == ["org-role", "team-role"]


@each(
    ("query", "code"),
    [
        ({}, 400),
        ({"permission": "jobs:fly"}, 400),
        ({"permission": "jobs:read", "team": "nosuch"}, 404),
        ({"permission": "jobs:read", "about": "job:99"}, 404),
        ({"permission": "jobs:read", "about": "moon:1"}, 400),
        ({"permission": "jobs:read", "user": "a\x00b"}, 400),
        ({"permission": "jobs:read", "user": "nobody@x.example"}, 200),
    ],
)
def test_access_api_invalid_question_is_rejected(story, query, code):
    assert story.api(story.ada).get(ACCESS, query).status_code == code
