"""The sign-in page: one URL, two steps, no scripts."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.each import each
from tests.story import PASSWORD
from workspaces.models import Membership, Provider
from workspaces.tenancy.scope import org_scope


def _page(client, **form):
    return (
        client.post("/accounts/login/", form).content.decode()
        if form
        else client.get("/accounts/login/").content.decode()
    )


def test_sign_in_page_without_providers_asks_for_password(story):
    page = _page(Client())
    assert 'name="password"' in page and 'name="login"' in page


def test_sign_in_page_with_provider_asks_for_address_first(story, atlas_idp):
    first = _page(Client())
    assert 'name="password"' not in first and "Continue with" not in first
    assert (
        "Continue with Atlas ID" in (second := _page(Client(), login="Ben@Atlas.Example"))
        and 'name="password"' in second
    )
    assert (
        "Continue with" not in (other := _page(Client(), login="cyd@borealis.example"))
        and 'name="password"' in other
    )


def test_sign_in_page_does_not_reveal_accounts(story, atlas_idp):
    import re

    def of(email):
        return re.sub(r'value="[^"]*"', "", _page(Client(), login=email)).replace(email, "")

    assert of("ben@atlas.example") == of("nobody@atlas.example")


def test_sign_in_page_from_organization_page_offers_its_provider(story, atlas_idp):
    assert (
        "Continue with Atlas ID"
        in Client().get("/accounts/login/?next=/atlas/jobs").content.decode()
    )
    assert (
        "Continue with Atlas ID"
        not in Client().get("/accounts/login/?next=/borealis/jobs").content.decode()
    )


def test_sign_in_page_offers_installation_provider_at_once(story, house_idp):
    assert "Continue with House ID" in _page(Client())


def test_sign_in_with_address_and_password_in_one_post_works(story, atlas_idp):
    client = Client()
    client.post("/accounts/login/", {"login": story.ben.email, "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(story.ben.id)


@pytest.fixture
def required(atlas_idp):
    atlas_idp.config |= {"is_required": True}
    atlas_idp.save()
    return atlas_idp


def test_correct_password_where_sso_is_required_names_provider(story, required):
    client = Client()
    page = _page(client, login=story.ben.email, password=PASSWORD)
    assert "sign in with Atlas ID" in page and "_auth_user_id" not in client.session


def test_wrong_password_where_sso_is_required_reveals_nothing(story, required):
    assert "sign in with Atlas ID" not in _page(Client(), login=story.ben.email, password="wrong")


@each("who", ["ada", "dot"])
def test_owner_and_operator_passwords_work_where_sso_is_required(story, required, who):
    client, person = Client(), getattr(story, who)
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    assert client.get("/atlas/teams").status_code == 200


def test_password_session_excludes_organization_that_requires_sso(story, required):
    with org_scope(story.borealis.id):
        Membership.objects.create(org=story.borealis, user=story.ben, role="member")
    client = Client()
    client.post("/accounts/login/", {"login": story.ben.email, "password": PASSWORD})
    assert (
        client.get("/borealis/teams").status_code == 200
        and client.get("/")["Location"] == "/borealis/"
    )
    closed = client.get("/atlas/teams")
    assert closed.status_code == 403 and "requires sign-in with Atlas ID" in closed.content.decode()


def test_required_sso_does_not_apply_to_other_organizations(story, required):
    required.domains = ["borealis.example", "atlas.example"]
    required.save()
    client = Client()
    client.post("/accounts/login/", {"login": story.cyd.email, "password": PASSWORD})
    assert client.get("/borealis/teams").status_code == 200


def test_sign_in_page_has_one_directory_choice(story, atlas_idp):
    Provider.objects.create(kind="ldap", slug="atlas-own", name="Atlas LDAP", org=story.atlas)
    page = (
        Client()
        .post(
            "/accounts/login/?next=/atlas/jobs", {"login": story.ben.email, "next": "/atlas/jobs"}
        )
        .content.decode()
    )
    assert page.count('name="password"') == page.count('name="directory"') == 1


@each("onward", ["//[", "http://[x", "/atlas/jobs"])
def test_sign_in_page_with_malformed_next_url_works(story, atlas_idp, onward):
    assert Client().get("/accounts/login/", {"next": onward}).status_code == 200
    assert (
        Client().post("/accounts/login/", {"login": story.ben.email, "next": onward}).status_code
        == 200
    )


def test_first_password_hint_ends_when_administrator_signs_in(story):
    hint = "The first administrator's password was printed"
    assert hint in story.client().get("/accounts/login/").content.decode()
    story.client(story.ada)
    assert hint in story.client().get("/accounts/login/").content.decode()
    story.client(story.dot)
    assert hint not in story.client().get("/accounts/login/").content.decode()
