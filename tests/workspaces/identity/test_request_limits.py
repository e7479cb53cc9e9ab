"""Hanging providers: few requests wait for them, and none while they are known to be down."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest
from django.test import Client

from tests.rig.processes import wait_until
from tests.workspaces.identity.conftest import go, oidc
from workspaces.identity import http_client, request_limits
from workspaces.identity.ldap import password_check
from workspaces.models import Provider


@pytest.fixture(autouse=True)
def nobody_is_away():
    request_limits.reset()
    yield
    request_limits.reset()


@pytest.fixture
def tarpit():
    """Listen on a port without ever answering."""
    listening = socket.create_server(("127.0.0.1", 0))
    yield listening.getsockname()[1]
    listening.close()


def test_requests_waiting_for_providers_are_limited(story, atlas_idp, issuer):
    trip = go(Client(), atlas_idp, issuer)
    other = oidc(issuer.url, org=story.borealis, slug="other", name="Other")
    with ExitStack() as requests:
        for _ in range(request_limits.OF_ONE_QUICK):
            requests.enter_context(request_limits.waiting(story.atlas.id))
        for refused in (trip.client.post("/accounts/sso/atlas-idp/"), trip.back()):
            assert (refused.status_code, refused["Retry-After"]) == (503, "5")
            assert "Too many requests are waiting" in refused.content.decode()
        go(Client(), other, issuer)  # of another organization
        requests.enter_context(request_limits.waiting(story.borealis.id))
        assert Client().post("/accounts/sso/other/").status_code == 503  # the total limit
    issuer.claims["groups"] = ["people"]
    assert trip.back().status_code == 302  # the refused page, reloaded


def test_provider_that_timed_out_is_skipped_for_a_while(story, tarpit, monkeypatch):
    monkeypatch.setattr(http_client, "SECONDS", 1.0)
    monkeypatch.setattr(password_check.query_directories, "__defaults__", (1.0,))
    oidc(f"http://127.0.0.1:{tarpit}", org=story.atlas, slug="silent", name="Silent")
    Provider.objects.create(
        kind="ldap",
        slug="corp",
        name="Corp",
        config={"url": f"ldaps://127.0.0.1:{tarpit}", "people_base": "dc=corp", "is_private": True},
    )
    first = Client().post("/accounts/sso/silent/")
    assert first.status_code == 401 and "no whole answer within" in first.content.decode()
    monkeypatch.setattr(http_client, "SECONDS", 60.0)
    again = Client().post("/accounts/sso/silent/")
    assert (
        again.status_code == 503
        and "This identity provider isn&#x27;t responding" in again.content.decode()
    )
    assert again["Retry-After"] == "15"
    form = {"login": "ada", "password": "x"}
    assert Client().post("/accounts/login/", form).status_code == 503
    wait_until(
        lambda: request_limits.unavailable_reason("corp"), "the thread ends at its own deadline", 30
    )
    requests = []
    monkeypatch.setattr(password_check, "_check", lambda *given: requests.append(given))
    again = Client().post("/accounts/login/", form)
    assert (
        again.status_code == 503
        and "Corp does not respond" in again.content.decode()
        and requests == []
    )


def test_sign_ins_started_from_one_address_are_rate_limited(atlas_idp, settings):
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"sso_begin": "2/m/ip"}
    codes = [Client().post("/accounts/sso/atlas-idp/") for _ in range(3)]
    assert [code.status_code for code in codes] == [200, 200, 429] and codes[2][
        "Retry-After"
    ] == "60"
