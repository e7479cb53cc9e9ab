"""Sign-in with real OpenID providers: oidc-provider-mock and a second Muster."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import httpx
import oidc_provider_mock
import orjson
import pytest
import requests
from django.test import Client

from portal.core import vault
from tests.rig.portal import PASSWORD, Portal
from tests.rig.processes import Folder
from tests.workspaces.identity.conftest import ONWARD, oidc, rule
from workspaces.identity.provider_services import PURPOSE
from workspaces.models import Identity, User

EVE = "eve@second.example"


@pytest.fixture
def provider():
    user = oidc_provider_mock.User(
        sub="eve-1", claims={"email": "eve@atlas.example", "name": "Eve", "groups": ["people"]}
    )
    with oidc_provider_mock.run_server_in_thread(user_claims=[user], require_nonce=True) as server:
        yield f"http://localhost:{server.server_port}"


def test_sign_in_with_oidc_provider_mock_creates_account(story, provider):
    row = oidc(provider, org=story.atlas, slug="mock", name="Mock", domains=["atlas.example"])
    rule(row, "people", story.atlas)
    client = Client()
    found = ONWARD.search(client.post("/accounts/sso/mock/").content.decode())
    assert found
    there = html.unescape(found[1])
    back = requests.post(
        there, data={"sub": "eve-1", "action": "authorize"}, allow_redirects=False, timeout=10
    ).headers["Location"]
    query = {name: values[0] for name, values in parse_qs(urlsplit(back).query).items()}
    answer = client.get("/accounts/sso/mock/callback/", query)
    assert answer.status_code == 302, re.sub(r"\s+", " ", answer.content.decode())
    user = User.objects.get(email="eve@atlas.example")
    assert (
        client.session["_auth_user_id"] == str(user.id)
        and Identity.objects.get().subject == "eve-1"
    )


VOUCHED = """
from workspaces.models import Identity, Provider, User
house = Provider.objects.create(org=None, kind="ldap", slug="house", name="House", config={})
eve = User.objects.get(email="eve@second.example")
Identity.objects.create(provider=house, subject="eve", email=eve.email, user=eve)
"""


@pytest.fixture
def second(monkeypatch):
    """Run another Muster, with an application registered for this one.

    The timeout is longer than in production, as two portals share a busy machine here.
    """
    monkeypatch.setattr("workspaces.identity.http_client.SECONDS", 60)
    folder = Folder()
    portal = Portal(folder, settings={"MUSTER_ADMIN_EMAIL": EVE}, is_furnished=True)
    portal.start()
    yield portal
    portal.stop()
    folder.close()


@pytest.mark.integration
def test_sign_in_with_second_muster_maps_its_teams_to_groups(story, second, settings):
    back = f"{settings.MUSTER_BASE_URL}/accounts/sso/second/callback/"
    token = second.manage("create_token", EVE, "--org", "home", "--scopes", "all")
    second.manage("shell", "-v", "0", "-c", VOUCHED)  # otherwise it does not confirm her address
    made = httpx.post(
        f"{second.url}/api/v1/orgs/home/applications",
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
        json={"client_id": "first", "name": "The first", "addresses": [back]},
    )
    assert made.status_code == 201, made.text
    row = oidc(
        second.url,
        org=story.atlas,
        slug="second",
        name="Second",
        domains=["second.example"],
        client_id="first",
        scope="openid profile email groups",
    )
    row.secrets = vault.encrypt(
        orjson.dumps({"client_secret": made.json()["client_secret"]}), PURPOSE
    )
    row.save()
    rule(row, "home/default", story.atlas, story.vision)
    client = Client()
    there = ONWARD.search(client.post("/accounts/sso/second/").content.decode())
    assert there
    answer = client.get("/accounts/sso/second/callback/", _agreed(second, html.unescape(there[1])))
    assert answer.status_code == 302, answer.content.decode()
    user = User.objects.get(email=EVE)
    assert client.session["_auth_user_id"] == str(user.id) and Identity.objects.get().groups == [
        "home",
        "home/default",
    ]
    assert client.get("/atlas/teams/vision").status_code == 200


def _agreed(portal, address):
    """Sign in and consent there, and return the parameters of the redirect."""
    with httpx.Client(base_url=portal.url, follow_redirects=True, timeout=60) as browser:
        page = browser.get(address)
        form = {
            "login": EVE,
            "password": PASSWORD,
            "csrfmiddlewaretoken": _hidden(page.text, "csrfmiddlewaretoken"),
            "next": html.unescape(_hidden(page.text, "next")),
        }
        page = browser.post("/accounts/login/", data=form, headers={"Referer": str(page.url)})
        form = {
            "request": html.unescape(_hidden(page.text, "request")),
            "csrfmiddlewaretoken": _hidden(page.text, "csrfmiddlewaretoken"),
            "action": "grant",
            "scopes": ["openid", "profile", "email", "groups"],
        }
        done = browser.post(
            "/identity/o/authorize",
            data=form,
            headers={"Referer": str(page.url)},
            follow_redirects=False,
        )
        return {
            name: values[0]
            for name, values in parse_qs(urlsplit(done.headers["Location"]).query).items()
        }


def _hidden(text, name):
    found = re.search(rf'name="{name}" value="([^"]*)"', text)
    assert found, text
    return found[1]
