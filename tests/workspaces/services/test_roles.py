"""Custom roles: contents, management, and effective permissions."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.core.errors import Conflict, InvalidInput, NotFound, NotPermitted
from portal.core.models import Event
from tests.each import each
from tests.stand_in import StandIn
from workspaces.access import custom_roles
from workspaces.access import services as access_services
from workspaces.access.permissions import OPERATORS_ONLY, Permission
from workspaces.access.roles import RESERVED_PERMISSIONS, grantable
from workspaces.credentials.authentication import by_token
from workspaces.models import Membership, Role, User
from workspaces.organizations import services as organization_services
from workspaces.tenancy.scope import org_scope


@pytest.fixture
def atlas(story):
    with org_scope(story.atlas.id):
        yield story.atlas
    custom_roles.invalidate()


def make(
    story, slug="trainer", kind="team", permissions=("jobs:read", "jobs:submit"), actor=None, **more
):
    return access_services.create_role(
        actor=actor or story.actor(story.ada),
        org=story.atlas,
        slug=slug,
        kind=kind,
        permissions=list(permissions),
        **more,
    )


def give(story, role="trainer", person=None):
    person = person or story.ben
    return organization_services.change_team_member(
        actor=story.actor(story.ada), team=story.vision, email=person.email, role=role
    )


def uma(story):
    organization_services.add_member(
        actor=story.actor(story.ada), org=story.atlas, email="uma@atlas.example", role="user-admin"
    )
    return story.actor(User.objects.get(email="uma@atlas.example"))


def test_custom_role_grants_exactly_its_permissions(story, atlas):
    make(story)
    give(story)
    ben = story.actor(story.ben)
    assert ben.may(Permission.JOBS_SUBMIT, story.vision.id) and not ben.may(
        Permission.JOBS_CANCEL, story.vision.id
    )
    assert ben.teams_where(Permission.JOBS_SUBMIT) == {story.vision.id}
    assert not ben.may(Permission.JOBS_SUBMIT, story.speech.id)


def test_organization_role_applies_to_all_teams(story, atlas):
    make(story, "helpdesk", "org", ["jobs:read", "jobs:cancel", "jobs:admin", "teams:read"])
    organization_services.change_member(
        actor=story.actor(story.ada), org=atlas, email=story.ben.email, role="helpdesk"
    )
    ben = story.actor(story.ben)
    assert (
        ben.may(Permission.JOBS_ADMIN, story.speech.id)
        and ben.teams_where(Permission.JOBS_READ) is None
    )


def test_custom_role_change_applies_to_members(story, atlas, django_capture_on_commit_callbacks):
    make(story)
    give(story)
    assert story.actor(story.ben).may(Permission.JOBS_SUBMIT, story.vision.id)
    with django_capture_on_commit_callbacks(execute=True):
        access_services.change_role(
            actor=story.actor(story.ada), org=atlas, slug="trainer", permissions=["jobs:read"]
        )
    assert not story.actor(story.ben).may(Permission.JOBS_SUBMIT, story.vision.id)


def test_custom_role_change_by_other_process_is_seen_in_seconds(story, atlas, monkeypatch):
    make(story)
    give(story)
    story.actor(story.ben)
    Role.objects.update(permissions=["jobs:read"])
    now = custom_roles.time.monotonic()
    monkeypatch.setattr(
        custom_roles,
        "time",
        StandIn(custom_roles.time, monotonic=lambda: now + custom_roles.CACHE_SECONDS),
    )
    assert not story.actor(story.ben).may(Permission.JOBS_SUBMIT, story.vision.id)
    assert custom_roles.CACHE_SECONDS + 2.5 < 5


def test_custom_role_cache_drops_stale_reads(story, atlas, monkeypatch):
    make(story)
    read = custom_roles.read_custom_roles

    def slowly(org_id):
        found = read(org_id)
        custom_roles.invalidate()
        return found

    custom_roles.invalidate()
    monkeypatch.setattr(custom_roles, "read_custom_roles", slowly)
    custom_roles.cached_custom_roles(atlas.id)
    monkeypatch.setattr(custom_roles, "read_custom_roles", lambda org_id: {})
    assert custom_roles.cached_custom_roles(atlas.id) == {}


def test_token_authentication_query_count_with_custom_roles(story, atlas):
    secret = story.token(story.ben)
    by_token(secret, "atlas").enter()

    def statements():
        with CaptureQueriesContext(
            connection,
        ) as seen:
            by_token(secret, "atlas").enter()
        return len(seen)

    assert statements() == 1
    make(story)
    give(story)
    custom_roles.invalidate()
    assert [statements(), statements()] == [2, 1]


@each("permission", sorted(RESERVED_PERMISSIONS))
def test_custom_role_reserved_permissions_are_rejected(story, atlas, permission):
    for actor in (story.actor(story.ada), story.actor(story.dot, atlas)):
        with pytest.raises(InvalidInput, match="not available to custom roles"):
            make(story, permissions=["jobs:read", permission], actor=actor)
    row = make(story)
    Role.objects.filter(id=row.id).update(permissions=["jobs:read", str(permission), "jobs:fly"])
    custom_roles.invalidate()
    give(story)
    ben = story.actor(story.ben)
    assert ben.may(Permission.JOBS_READ, story.vision.id) and not ben.may(
        permission, story.vision.id
    )
    assert set(custom_roles.read_custom_roles(atlas.id)["trainer"].unknown) == {
        permission,
        "jobs:fly",
    }


@each("permissions", [[], ["jobs:fly"], ["all"], ["jobs:read", ""]])
def test_custom_role_unknown_permissions_are_rejected(story, atlas, permissions):
    with pytest.raises(InvalidInput, match="jobs:submit"):
        make(story, permissions=permissions)


@each(
    "slug", ["owner", "member", "lead", "read-only", "team-admin", "operator", "A", "x", "a_b", ""]
)
def test_custom_role_built_in_name_is_rejected(story, atlas, slug):
    with pytest.raises(InvalidInput, match="slug"):
        make(story, slug=slug)


def test_custom_role_duplicate_name_is_conflict(story, atlas):
    make(story)
    with pytest.raises(Conflict):
        make(story, kind="org")


def test_custom_roles_above_maximum_are_rejected(story, atlas, monkeypatch):
    monkeypatch.setattr(access_services, "MAX_CUSTOM_ROLES", 1)
    make(story)
    with pytest.raises(Conflict, match="maximum"):
        make(story, slug="other")


def test_custom_role_is_limited_to_creators_permissions(story, atlas):
    actor = uma(story)
    assert (
        make(story, "helpdesk", "org", ["members:write", "members:read"], actor=actor).slug
        == "helpdesk"
    )
    for permissions in (["jobs:read"], ["quotas:write"], ["members:read", "audit:read"]):
        with pytest.raises(NotPermitted):
            make(story, "more", "team", permissions, actor=actor)


def test_custom_role_edit_cannot_escalate_privileges(story, atlas):
    actor = uma(story)
    make(story, "helpdesk", "org", ["members:write"], actor=actor)
    make(story, "trainer", "team", ["jobs:submit"])
    edits = (
        lambda: access_services.change_role(
            actor=actor, org=atlas, slug="helpdesk", permissions=["members:write", "jobs:admin"]
        ),
        lambda: access_services.change_role(
            actor=actor, org=atlas, slug="trainer", permissions=["members:read"]
        ),
        lambda: access_services.delete_role(actor=actor, org=atlas, slug="trainer"),
    )
    for edit in edits:
        with pytest.raises(NotPermitted):
            edit()
    assert Role.objects.get(slug="helpdesk").permissions == ["members:write"]


def test_custom_role_higher_role_cannot_be_given(story, atlas):
    make(story, "trainer", "team", ["jobs:submit", "jobs:admin"])
    make(story, "auditor", "org", ["audit:read"])
    actor = uma(story)
    for act in (
        lambda: organization_services.change_team_member(
            actor=actor, team=story.vision, email=story.ben.email, role="trainer"
        ),
        lambda: organization_services.change_member(
            actor=actor, org=atlas, email=story.ben.email, role="auditor"
        ),
        lambda: organization_services.add_member(
            actor=actor, org=atlas, email="new@atlas.example", role="auditor"
        ),
    ):
        with pytest.raises(NotPermitted):
            act()


def test_custom_role_higher_role_cannot_be_revoked(story, atlas):
    make(story, "auditor", "org", ["audit:read"])
    organization_services.change_member(
        actor=story.actor(story.ada), org=atlas, email=story.ben.email, role="auditor"
    )
    with pytest.raises(NotPermitted):
        organization_services.remove_member(actor=uma(story), org=atlas, email=story.ben.email)


@each(("kind", "other"), [("org", "team"), ("team", "org")])
def test_custom_role_of_other_kind_cannot_be_given(story, atlas, kind, other):
    make(story, kind=kind)
    acts = {
        "org": lambda: organization_services.change_member(
            actor=story.actor(story.ada), org=atlas, email=story.ben.email, role="trainer"
        ),
        "team": lambda: give(story),
    }
    with pytest.raises(InvalidInput, match="role"):
        acts[other]()


def test_custom_role_in_use_cannot_be_deleted(story, atlas):
    make(story)
    give(story)
    with pytest.raises(Conflict, match=r"ben@atlas\.example in vision"):
        access_services.delete_role(actor=story.actor(story.ada), org=atlas, slug="trainer")
    give(story, "member")
    access_services.delete_role(actor=story.actor(story.ada), org=atlas, slug="trainer")
    with pytest.raises(NotFound):
        access_services.delete_role(actor=story.actor(story.ada), org=atlas, slug="trainer")


def test_membership_with_deleted_role_grants_nothing(story, atlas):
    Membership.objects.filter(user=story.ben).update(role="gone")
    assert not any(story.actor(story.ben).may(p) for p in Permission)


def test_last_owner_cannot_change_to_custom_role(story, atlas):
    make(story, "everything", "org", [*grantable()])
    with pytest.raises(Conflict, match="owner"):
        organization_services.change_member(
            actor=story.actor(story.ada), org=atlas, email=story.ada.email, role="everything"
        )


def test_custom_role_changes_are_recorded_with_before_and_after(story, atlas):
    make(story, name="Trainers")
    access_services.change_role(
        actor=story.actor(story.ada),
        org=atlas,
        slug="trainer",
        name="Coaches",
        permissions=["jobs:read"],
    )
    access_services.delete_role(actor=story.actor(story.ada), org=atlas, slug="trainer")
    made, changed, deleted = Event.objects.filter(kind__startswith="role.").order_by("position")
    assert [e.kind for e in (made, changed, deleted)] == [
        "role.made",
        "role.changed",
        "role.deleted",
    ]
    assert (
        made.data["after"]
        == changed.data["before"]
        == {"name": "Trainers", "kind": "team", "permissions": ["jobs:read", "jobs:submit"]}
    )
    assert (
        changed.data["after"]
        == deleted.data["before"]
        == {"name": "Coaches", "kind": "team", "permissions": ["jobs:read"]}
    )
    assert {e.actor for e in (made, changed, deleted)} == {story.ada.email}


def test_custom_role_of_other_organization_is_not_found(story, atlas):
    make(story)
    with org_scope(story.borealis.id), pytest.raises(NotFound):
        access_services.change_role(
            actor=story.actor(story.cyd), org=story.borealis, slug="trainer", name="x"
        )
    with org_scope(story.borealis.id), pytest.raises(InvalidInput):
        organization_services.change_member(
            actor=story.actor(story.cyd), org=story.borealis, email=story.cyd.email, role="trainer"
        )


def test_custom_role_choices_are_all_but_reserved():
    assert set(grantable()) == set(Permission) - OPERATORS_ONLY - {
        Permission.ORG_ADMIN,
        Permission.PROVIDERS_WRITE,
    }
