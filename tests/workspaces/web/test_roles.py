"""Pages of roles and of access explanations."""

from __future__ import annotations

import pytest

from tests.each import each
from workspaces.access import services as access_services
from workspaces.models import Membership, Role, TeamMembership
from workspaces.organizations import services as organization_services
from workspaces.tenancy.scope import org_scope


@pytest.fixture
def ada(story):
    return story.client(story.ada)


def rows(story, kind):
    with org_scope(story.atlas.id):
        return list(kind.objects.all())


def made(story, **more):
    with org_scope(story.atlas.id):
        access_services.create_role(
            actor=story.actor(story.ada),
            org=story.atlas,
            slug="trainer",
            kind="team",
            name="Trainer",
            permissions=["jobs:read", "jobs:submit"],
            **more,
        )


def test_roles_page_shows_display_names(ada):
    text = ada.get("/atlas/roles").content.decode()
    for title in ("Owner", "User admin", "Read-only", "Billing viewer", "Team admin"):
        assert f">{title} <" in text
    assert "clusters:write" not in text


def test_role_created_on_page_is_offered_in_forms(story, ada):
    answer = ada.post(
        "/atlas/roles",
        {
            "slug": "trainer",
            "name": "Trainer",
            "kind": "team",
            "permissions": ["jobs:read", "jobs:submit"],
        },
    )
    assert answer["Location"] == "/atlas/roles/trainer"
    assert (
        '<option value="trainer">Trainer</option>'
        in ada.get("/atlas/teams/vision").content.decode()
    )
    ada.post(f"/atlas/teams/vision/members/{story.ben.email}", {"role": "trainer"})
    assert "trainer" in {row.role for row in rows(story, TeamMembership)}
    assert "ben@atlas.example in vision" in ada.get("/atlas/roles/trainer").content.decode()


def test_role_is_created_for_a_purpose_that_its_giver_has(story, ada):
    shown = ada.get("/atlas/roles").context["presets"]
    assert not any(preset["why_not"] for preset in shown)
    assert [p["name"] for p in shown if p["sets"]["kind"] == "org"] == [
        "support",
        "billing",
        "auditor",
    ]
    form = {"slug": "lab", "name": "Lab", "kind": "team", "preset": "researcher"}
    assert ada.post("/atlas/roles", form)["Location"] == "/atlas/roles/lab"
    [row] = rows(story, Role)
    assert {"jobs:submit", "secrets:read"} <= {
        *row.permissions
    } and "secrets:write" not in row.permissions
    body = {"slug": "book", "kind": "org", "permissions": ["billing", "audit:read"]}
    made_role = (
        story.api(story.ada)
        .post("/api/v1/orgs/atlas/roles", body, content_type="application/json")
        .json()
    )
    assert {"audit:read", "billing:read"} <= {*made_role["permissions"]}
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=story.ben).update(role="user-admin")
    locked = story.client(story.ben).get("/atlas/roles").context["presets"]
    assert {p["name"] for p in locked if p["why_not"]} >= {"team-lead", "auditor"}


def test_role_form_rejected_keeps_input(ada):
    text = ada.post(
        "/atlas/roles",
        {"slug": "owner", "name": "Boss", "kind": "team", "permissions": ["jobs:read"]},
    ).content.decode()
    assert "is the name of a built-in role" in text and 'value="Boss"' in text
    assert 'value="jobs:read" checked' in text


def test_role_preview_lists_losses_without_changes(story, ada):
    made(story)
    ada.post(f"/atlas/teams/vision/members/{story.ben.email}", {"role": "trainer"})
    text = ada.post(
        "/atlas/roles/trainer", {"do": "look", "name": "Trainer", "permissions": ["jobs:read"]}
    ).content.decode()
    assert "ben@atlas.example" in text and "loses</b> jobs:submit" in text
    assert rows(story, Role)[0].permissions == ["jobs:read", "jobs:submit"]
    ada.post(
        "/atlas/roles/trainer", {"do": "save", "name": "Trainer", "permissions": ["jobs:read"]}
    )
    assert rows(story, Role)[0].permissions == ["jobs:read"]


def test_role_page_deletes_unused_role(story, ada):
    made(story)
    assert ada.post("/atlas/roles/trainer", {"do": "delete"})["Location"] == "/atlas/roles"
    assert rows(story, Role) == []
    assert ada.get("/atlas/roles/trainer").status_code == 404


def test_access_page_shows_chain_and_command(story, ada):
    text = ada.get(
        "/atlas/access", {"user": story.ben.email, "permission": "jobs:submit", "team": "speech"}
    ).content.decode()
    assert "Not allowed" in text and "the role Member in team speech" in text
    assert "muster access why ben@atlas.example jobs:submit --team speech" in text
    assert (
        "Allowed"
        in ada.get(
            "/atlas/access",
            {"user": story.ben.email, "permission": "jobs:submit", "team": "vision"},
        ).content.decode()
    )


def test_access_page_asks_about_own_teams_first_and_never_advises_admin(story, ada):
    asked = {"user": story.ben.email, "permission": "jobs:submit"}
    answer = ada.get("/atlas/access", asked)
    assert answer.context["answer"]["team"] == "vision" and answer.context["answer"]["allowed"]
    assert [team.slug for team in answer.context["own_teams"]] == ["vision"]
    everywhere = ada.get("/atlas/access", asked | {"team": "*"}).context["answer"]
    assert not everywhere["allowed"] and everywhere["would_allow"] == [
        {
            "text": "a custom role in the organization that grants jobs:submit",
            "changes": [{"kind": "custom-role", "role": "custom"}],
        }
    ]
    quotas = ada.get("/atlas/access", asked | {"permission": "quotas:write"}).context["answer"]
    assert quotas["team"] is None and [
        way["changes"][0]["kind"] for way in quotas["would_allow"]
    ] == ["custom-role"]


@each(
    "query",
    [
        {"permission": "x"},
        {"permission": "jobs:read", "team": "x"},
        {"permission": "jobs:read", "about": "job:9"},
    ],
)
def test_access_page_invalid_question_shows_error(ada, query):
    answer = ada.get("/atlas/access", query)
    assert answer.status_code == 400 and 'role="alert"' in answer.content.decode()


def test_denied_page_links_to_explanation(story):
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=story.ben).update(role="billing-viewer")
    client = story.client(story.ben)
    answer = client.get("/atlas/people")
    assert (
        answer.status_code == 403
        and "/atlas/access?permission=members%3Aread&amp;team=%2A" in answer.content.decode()
    )
    text = client.get("/atlas/access?permission=members%3Aread&team=*").content.decode()
    assert "The role Billing viewer in the organization does not grant members:read." in text
    assert (
        client.get(
            "/atlas/access", {"permission": "members:read", "user": story.ada.email}
        ).status_code
        == 400
    )


def test_roles_page_offers_user_admin_only_own_permissions(story, ada):
    with org_scope(story.atlas.id):
        organization_services.change_member(
            actor=story.actor(story.ada), org=story.atlas, email=story.ben.email, role="user-admin"
        )
    text = story.client(story.ben).get("/atlas/people").content.decode()
    assert '<option value="user-admin"' in text and '<option value="admin"' not in text
    text = story.client(story.ben).get("/atlas/roles").content.decode()
    assert 'value="jobs:admin" disabled' in text and 'value="members:write" disabled' not in text
