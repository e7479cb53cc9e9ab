"""Pages of people and teams: roles with undo, suspension, and who sees what."""

from __future__ import annotations

import pytest

from portal.core.errors import Conflict
from portal.core.models import Event
from portal.web.undo import undo_of
from workspaces.models import Membership, Provider, Role, TeamMembership
from workspaces.organizations.services import restore_member, suspend_member
from workspaces.tenancy.scope import org_scope, platform_scope

BEN = "ben@atlas.example"


def _kinds(prefix):
    with platform_scope("test"):
        rows = Event.objects.filter(kind__startswith=prefix).order_by("position")
        return list(rows.values_list("kind", flat=True))


@pytest.mark.parametrize("path", [f"/atlas/people/{BEN}", f"/atlas/teams/vision/members/{BEN}"])
def test_role_change_is_undone_by_its_message(story, path):
    ada = story.client(story.ada)
    role = "admin" if "people" in path else "viewer"
    kind = "member.changed" if "people" in path else "team_member.changed"
    model = Membership if "people" in path else TeamMembership
    with org_scope(story.atlas.id):
        before = model.objects.get(user=story.ben).role
    shown = ada.post(path, {"role": role}, follow=True)
    message = next(iter(shown.context["messages"]))
    assert "Role updated" in str(message)
    undo = undo_of(message)
    ada.post(undo.url, undo.fields)
    with org_scope(story.atlas.id):
        assert model.objects.get(user=story.ben).role == before
    assert _kinds(kind) == [kind, kind]


@pytest.mark.parametrize("path", [f"/atlas/people/{BEN}", f"/atlas/teams/vision/members/{BEN}"])
def test_undo_does_not_restore_a_role_that_somebody_changed_since(story, path):
    ada = story.client(story.ada)
    first, other = ("viewer", "user-admin") if "people" in path else ("viewer", "lead")
    model = Membership if "people" in path else TeamMembership
    undo = undo_of(next(iter(ada.post(path, {"role": first}, follow=True).context["messages"])))
    with org_scope(story.atlas.id):
        model.objects.filter(user=story.ben).update(role=other)
    shown = ada.post(undo.url, undo.fields, follow=True).context["messages"]
    assert "changed since" in str(next(iter(shown)))
    with org_scope(story.atlas.id):
        assert model.objects.get(user=story.ben).role == other


def test_undo_and_a_stale_page_do_not_overwrite_a_role_of_the_organization(story):
    ada = story.client(story.ada)
    made = {"slug": "helper", "name": "Helper", "kind": "org", "permissions": ["teams:read"]}
    assert ada.post("/atlas/roles", made).status_code == 302
    page = "/atlas/roles/helper"
    form = {"do": "save", "name": "Helper", "permissions": ["teams:read", "members:read"]}
    stale = form | {"was": "teams:read"}
    messages = list(ada.post(page, stale, follow=True).context["messages"])
    undo = undo_of(messages[-1])
    with org_scope(story.atlas.id):
        Role.objects.filter(slug="helper").update(permissions=["members:read"])
    for one in (undo.fields, stale):
        shown = ada.post(page, one, follow=True).context["messages"]
        assert "changed since" in str(next(iter(shown)))
        with org_scope(story.atlas.id):
            assert Role.objects.get(slug="helper").permissions == ["members:read"]


def test_suspended_member_is_out_until_restored(story):
    ada, ben = story.client(story.ada), story.client(story.ben)
    assert ben.get("/atlas/teams").status_code == 200
    ada.post(f"/atlas/people/{BEN}", {"do": "suspend"})
    assert ben.get("/atlas/teams").status_code == 404
    ada.post(f"/atlas/people/{BEN}", {"do": "restore"})
    assert ben.get("/atlas/teams").status_code == 200
    assert _kinds("member.")[-2:] == ["member.suspended", "member.restored"]


def test_suspension_is_refused_for_oneself_and_members_of_a_directory(story):
    ada = {"actor": story.actor(story.ada), "org": story.atlas}
    with org_scope(story.atlas.id):
        with pytest.raises(Conflict, match="suspend yourself"):
            suspend_member(**ada, email="ada@atlas.example")
        with pytest.raises(Conflict, match="isn't suspended"):
            restore_member(**ada, email=BEN)
        provider = Provider.objects.create(
            org=story.atlas, slug="atlas.corp", kind="ldap", name="Corp"
        )
        Membership.objects.filter(user=story.ben).update(provider=provider)
        with pytest.raises(Conflict, match="managed by Corp"):
            suspend_member(**ada, email=BEN)


def test_person_page_shows_each_reader_what_they_may_see(story):
    ada, ben = story.client(story.ada), story.client(story.ben)
    own, others = ben.get(f"/atlas/people/{BEN}"), ben.get("/atlas/people/ada@atlas.example")
    assert own.context["tokens"] == 0 and own.context["quotas"] == []
    assert others.context["tokens"] is None and others.context["quotas"] is None
    assert others.context["events"] is None and "Suspend" not in others.content.decode()
    shown = ada.get(f"/atlas/people/{BEN}")
    assert shown.context["tokens"] == 0 and "Suspend" in shown.content.decode()
    assert ada.get("/atlas/people/cyd@borealis.example").status_code == 404
    assert ada.get(f"/atlas/members/{BEN}")["Location"] == f"/atlas/people/{BEN}"


def test_team_page_has_people_quota_rules_and_audit(story):
    shown = story.client(story.ada).get("/atlas/teams/vision")
    assert [m["email"] for m in shown.context["members"]] and shown.context["events"] is not None
    assert "Job rules" in shown.content.decode()
    hidden = story.client(story.ben).get("/atlas/teams/vision")
    assert hidden.context["events"] is None and "Save rules" not in hidden.content.decode()
