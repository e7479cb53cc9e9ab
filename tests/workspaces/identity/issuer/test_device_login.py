"""`muster login`: a device code, a page, and a token for one organization."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from django.test import Client

from tests.each import each
from workspaces.access.actors import ONLY_ORG
from workspaces.identity.oidc_provider.device_login import CLIENT
from workspaces.models import Membership
from workspaces.tenancy.scope import org_scope

GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


@pytest.fixture
def device_request(story, settings):
    settings.IDP_OIDC_DEVICE_CODE_INTERVAL = 0
    return _form("/identity/o/api/device/code", client_id=CLIENT, machine="ben's laptop").json()


def _form(address, **given):
    return Client().post(
        address, urlencode(given), content_type="application/x-www-form-urlencoded"
    )


def _page(device_request):
    return f"/identity/o/device?code={device_request['user_code']}"


def _poll(device_request):
    return _form(
        "/identity/o/api/token",
        client_id=CLIENT,
        grant_type=GRANT,
        device_code=device_request["device_code"],
    )


def test_device_code_before_confirmation_is_pending(device_request):
    answer = _poll(device_request)
    assert answer.status_code == 400 and answer.json()["error"] == "authorization_pending"


def test_confirmed_device_code_gives_token_for_organization(story, device_request):
    client = story.client(story.ben)
    page = client.get(_page(device_request)).content.decode()
    assert (
        "ben&#x27;s laptop" in page
        and device_request["user_code"] in page
        and "Borealis" not in page
    )
    assert (
        "signed in"
        in client.post(
            _page(device_request), {"action": "confirm", "org": "atlas"}
        ).content.decode()
    )
    given = _poll(device_request).json()
    assert given["access_token"].startswith("mst_") and given["org"] == "atlas"
    me = (
        Client(headers={"Authorization": f"Bearer {given['access_token']}"})
        .get("/api/v1/me")
        .json()
    )
    assert me["email"] == story.ben.email and [org["slug"] for org in me["orgs"]] == ["atlas"]


def test_device_code_is_single_use(story, device_request):
    story.client(story.ben).post(_page(device_request), {"action": "confirm", "org": "atlas"})
    assert _poll(device_request).status_code == 200 and _poll(device_request).status_code == 400


def test_denied_device_code_gives_no_token(story, device_request):
    assert (
        "Request denied"
        in story.client(story.ben).post(_page(device_request), {"action": "deny"}).content.decode()
    )
    assert _poll(device_request).json()["error"] == "access_denied"


def test_device_page_without_session_redirects_to_sign_in(device_request):
    answer = Client().get(_page(device_request))
    assert answer.status_code == 302 and answer["Location"].startswith(
        "/accounts/login/?next=/identity/o/device"
    )


def test_cross_site_consent_is_refused(story, device_request):
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.ben)
    assert (
        client.post(_page(device_request), {"action": "confirm", "org": "atlas"}).status_code == 403
    )
    assert _poll(device_request).json()["error"] == "authorization_pending"


def test_device_login_for_foreign_organization_is_not_found(story, device_request):
    assert (
        story.client(story.ben)
        .post(_page(device_request), {"action": "confirm", "org": "borealis"})
        .status_code
        == 404
    )
    assert _poll(device_request).json()["error"] == "authorization_pending"


def test_device_login_in_restricted_session_offers_one_organization(story, device_request):
    with org_scope(story.borealis.id):
        Membership.objects.create(org=story.borealis, user=story.ben, role="member")
    client = story.client(story.ben)
    session = client.session
    session[ONLY_ORG] = str(story.atlas.id)
    session.save()
    assert "Borealis" not in client.get(_page(device_request)).content.decode()
    assert (
        client.post(_page(device_request), {"action": "confirm", "org": "borealis"}).status_code
        == 404
    )


def test_device_login_of_member_suspended_meanwhile_is_denied(story, device_request):
    from portal.core import clock

    story.client(story.ben).post(_page(device_request), {"action": "confirm", "org": "atlas"})
    with org_scope(story.atlas.id):
        Membership.objects.filter(user=story.ben).update(suspended_at=clock.now())
    assert _poll(device_request).json()["error"] == "access_denied"


@each("code", ["", "BBBB-BBBB", "<script>", "%00"])
def test_device_page_with_unknown_code_shows_form(story, code):
    page = story.client(story.ben).get("/identity/o/device", {"code": code})
    assert page.status_code in (200, 400) and "<script>" not in page.content.decode().replace(
        "<script src", ""
    )


def test_device_code_for_unknown_client_is_refused(story):
    assert _form("/identity/o/api/device/code", client_id="grafana").status_code in (400, 401)
