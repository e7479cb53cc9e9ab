"""Texts of pages: permission groups, times in the audit log, and labels."""

from __future__ import annotations

import re

from tests.each import each
from tests.story import PASSWORD
from workspaces.access.services import create_role
from workspaces.tenancy.scope import org_scope


@each(("language", "group"), [("en", "jobs"), ("ko", "작업"), ("ja", "ジョブ")])
def test_permission_groups_are_translated(story, client, language, group):
    with org_scope(story.atlas.id):
        create_role(
            actor=story.actor(story.ada),
            org=story.atlas,
            slug="auditor",
            kind="org",
            name="Auditor",
            permissions=["audit:read"],
        )
    client.force_login(story.ada)
    page = client.get(
        "/atlas/roles/auditor", headers={"accept-language": language}
    ).content.decode()
    assert f"<legend>{group}</legend>" in page


def test_service_account_token_names_owner_on_mobile(story, client):
    client.force_login(story.ada)
    client.post("/atlas/tokens", {"name": "laptop", "days": "90"})
    page = client.get("/atlas/tokens").content.decode()
    [cell] = re.findall(r'<td class="muted wide break figure">(.*?)</td>', page, re.DOTALL)
    link = '<a href="/atlas/people/ada@atlas.example">ada@atlas.example</a>'
    assert cell.strip() == link


def test_passkey_page_has_breadcrumb_and_korean_label(story, client):
    client.post("/accounts/login/", {"login": story.ada.email, "password": PASSWORD})
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = client.get(
        "/accounts/2fa/webauthn/add/", headers={"accept-language": "ko"}
    ).content.decode()
    assert "<span>이름</span>" in page and '<b class="clip">패스키 추가</b>' in page


def test_placeholder_does_not_repeat_label(client, db):
    shown = client.get("/accounts/login/").content.decode()
    assert 'name="password"' in shown and "placeholder" not in shown
