"""Applications that sign people in through the portal, by OpenID Connect."""

from __future__ import annotations

import base64
import hashlib
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from allauth.idp.oidc.models import Client as Application
from django.core.cache import cache
from django.test import Client

from portal.core import clock
from tests.each import each
from workspaces.identity.oidc_provider import keys
from workspaces.identity.oidc_provider.adapter import groups_of, is_verified
from workspaces.models import Consent, Identity, Membership, Provider, SigningKey
from workspaces.tenancy.scope import org_scope

BACK = "https://grafana.example/login/generic_oauth"


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


@pytest.fixture
def grafana(story):
    row = Application(
        id="grafana",
        name="Grafana",
        redirect_uris=BACK,
        scopes="openid\nprofile\nemail\ngroups",
        grant_types="authorization_code\nrefresh_token",
    )
    row.set_secret("s3cret")
    row.save()
    return row


def _ask(client, **changed):
    body = {
        "client_id": "grafana",
        "redirect_uri": BACK,
        "response_type": "code",
        "scope": "openid profile email groups",
        "state": "st",
        "nonce": "n-1",
    } | changed
    return client.get("/identity/o/authorize", {k: v for k, v in body.items() if v is not None})


def _agree(client, page):
    import html
    import re

    signed = re.search(r'name="request" value="([^"]+)"', page.content.decode())
    assert signed, page.content.decode()
    return client.post(
        "/identity/o/authorize",
        {
            "request": html.unescape(signed[1]),
            "action": "grant",
            "scopes": ["openid", "profile", "email", "groups"],
        },
    )


def _code(answer):
    assert answer.status_code == 302, answer.content.decode()
    return parse_qs(urlsplit(answer["Location"]).query)["code"][0]


def _token(code, secret="s3cret", **more):
    basic = base64.b64encode(f"grafana:{secret}".encode()).decode()
    return Client(headers={"Authorization": f"Basic {basic}"}).post(
        "/identity/o/api/token",
        {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK} | more,
    )


def _keys():
    return {
        key["kid"]: jwt.PyJWK(key) for key in Client().get("/.well-known/jwks.json").json()["keys"]
    }


def _verified(token):
    key = _keys()[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key.key, algorithms=["RS256"], audience="grafana")


def test_consent_gives_application_identity_and_groups(story, grafana, settings):
    client = story.client(story.ben)
    page = _ask(client)
    assert (
        "Grafana" in page.content.decode()
        and "https://grafana.example" in page.headers["Content-Security-Policy"]
    )
    answer = _token(_code(_agree(client, page))).json()
    claims = _verified(answer["id_token"])
    assert claims["iss"] == settings.MUSTER_BASE_URL and claims["nonce"] == "n-1"
    assert (
        claims["groups"] == ["atlas", "atlas/vision"]
        and claims["email"] == story.ben.email
        and claims["email_verified"] is False
    )
    info = (
        Client(headers={"Authorization": f"Bearer {answer['access_token']}"})
        .get("/identity/o/api/userinfo")
        .json()
    )
    assert info["sub"] == claims["sub"] == str(story.ben.id) or info["sub"] == claims["sub"]
    assert info["groups"] == ["atlas", "atlas/vision"]


def test_consent_is_asked_once(story, grafana):
    client = story.client(story.ben)
    _agree(client, _ask(client))
    assert _code(_ask(client)) and Consent.objects.get().scopes == [
        "email",
        "groups",
        "openid",
        "profile",
    ]
    assert _ask(client, prompt="consent").status_code == 200
    assert _ask(story.client(story.ada)).status_code == 200


@each("given", [None, ["openid"]])
def test_silent_request_without_consent_for_client_is_refused(story, grafana, given):
    Application.objects.create(
        id="wiki",
        name="Wiki",
        redirect_uris=BACK,
        scopes=grafana.scopes,
        grant_types=grafana.grant_types,
    )
    client = story.client(story.ben)
    _token(_code(_agree(client, _ask(client))))
    if given:
        Consent.objects.create(user=story.ben, client_id="wiki", scopes=given)
    for scope in (
        ("openid profile email groups", None) if not given else ("openid profile email groups",)
    ):
        answer = _ask(client, client_id="wiki", prompt="none", scope=scope)
        assert answer.status_code == 302 and answer["Location"].startswith(f"{BACK}?")
        assert parse_qs(urlsplit(answer["Location"]).query) == {
            "error": ["consent_required"],
            "state": ["st"],
        }


def test_silent_request_with_consent_returns_code(story, grafana):
    client = story.client(story.ben)
    _token(_code(_agree(client, _ask(client))))
    assert _token(_code(_ask(client, prompt="none"))).status_code == 200
    assert "login_required" in _ask(Client(), prompt="none")["Location"]


@each(
    "changed",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": f"{BACK}?x=1"},
        {"redirect_uri": f"{BACK}/"},
        {"redirect_uri": None},
        {"redirect_uri": "https://user@grafana.example/login/generic_oauth"},
        {"client_id": "nobody"},
        {"client_id": None},
    ],
)
def test_authorization_requires_exact_registered_redirect_uri(story, grafana, changed):
    answer = _ask(story.client(story.ben), **changed)
    assert answer.status_code == 400 and "Location" not in answer.headers


@each(
    ("org", "said", "is_true"),
    [
        ("", "ben@atlas.example", True),
        ("", "other@atlas.example", False),
        ("", "", False),
        ("atlas", "ben@atlas.example", False),
    ],
)
def test_email_is_verified_only_by_installation_provider(story, org, said, is_true):
    row = Provider.objects.create(
        kind="oidc", slug="idp", name="ID", org=story.atlas if org else None
    )
    Identity.objects.create(provider=row, subject="ben", user=story.ben, email=said)
    assert is_verified(story.ben) is is_true


def test_groups_claim_omits_organizations_closed_to_the_user(story, grafana):
    with org_scope(story.borealis.id):
        Membership.objects.create(org=story.borealis, user=story.ben, role="member")
    assert groups_of(story.ben) == ["atlas", "atlas/vision", "borealis"]
    story.atlas.requires_second_factor = True
    story.atlas.save()
    assert groups_of(story.ben) == ["borealis"]
    story.ben.has_second_factor = True
    assert groups_of(story.ben) == ["atlas", "atlas/vision", "borealis"]
    Provider.objects.create(
        kind="oidc",
        slug="idp",
        name="ID",
        org=story.atlas,
        domains=["atlas.example"],
        config={"is_required": True},
    )
    assert groups_of(story.ben) == ["borealis"]


def test_authorization_code_is_single_use_and_needs_secret(story, grafana):
    client = story.client(story.ben)
    code = _code(_agree(client, _ask(client)))
    assert _token(code, secret="wrong").status_code in (400, 401)
    assert _token(code).status_code == 200 and _token(code).status_code == 400


def test_authorization_code_with_pkce_needs_verifier(story, grafana):
    client, proof = story.client(story.ben), "p" * 64
    challenge = (
        base64.urlsafe_b64encode(hashlib.sha256(proof.encode()).digest()).rstrip(b"=").decode()
    )
    page = _ask(client, code_challenge=challenge, code_challenge_method="S256")
    code = _code(_agree(client, page))
    assert _token(code, code_verifier="wrong" * 12).status_code == 400
    again = _code(_ask(client, code_challenge=challenge, code_challenge_method="S256"))
    assert _token(again, code_verifier=proof).status_code == 200


def test_authorization_without_session_redirects_to_sign_in(grafana):
    answer = _ask(Client())
    assert answer.status_code == 302 and answer["Location"].startswith("/accounts/login/")


def test_authorization_in_org_provider_session_is_refused(story, grafana):
    client = story.client(story.ben)
    session = client.session
    session["only_org"] = str(story.atlas.id)
    session.save()
    assert _ask(client).status_code == 403


def test_cross_site_consent_is_refused(story, grafana):
    client = Client(enforce_csrf_checks=True)
    client.force_login(story.ben)
    assert _agree(client, _ask(client)).status_code == 403 and not Consent.objects.exists()


def test_userinfo_of_deactivated_user_is_unauthorized(story, grafana):
    client = story.client(story.ben)
    token = _token(_code(_agree(client, _ask(client)))).json()["access_token"]
    story.ben.is_active = False
    story.ben.save()
    assert (
        Client(headers={"Authorization": f"Bearer {token}"})
        .get("/identity/o/api/userinfo")
        .status_code
        == 401
    )


def test_discovery_document_lists_supported_features(db, settings):
    found = Client().get("/.well-known/openid-configuration").json()
    assert found["issuer"] == settings.MUSTER_BASE_URL and "groups" in found["scopes_supported"]
    assert found["code_challenge_methods_supported"] == ["S256"] and found[
        "response_types_supported"
    ] == ["code"]
    assert "registration_endpoint" not in found


def test_key_rotation_keeps_old_signatures_verifiable(story, grafana):
    client = story.client(story.ben)
    before = _token(_code(_agree(client, _ask(client)))).json()["id_token"]
    start = clock.now()
    keys.rotate()
    assert len(_keys()) == 2 and _verified(before)
    meanwhile = _token(_code(_ask(client))).json()["id_token"]
    assert jwt.get_unverified_header(meanwhile)["kid"] == jwt.get_unverified_header(before)["kid"]
    SigningKey.objects.update(signs_from=start - keys.AHEAD)
    assert _verified(_token(_code(_ask(client))).json()["id_token"])


def test_signing_key_is_encrypted_in_its_row(story, grafana):
    _keys()
    assert b"PRIVATE" not in bytes(SigningKey.objects.get().sealed)


def test_old_signing_key_is_rotated_automatically(db):
    _keys()
    SigningKey.objects.update(issued_at=clock.now() - keys.SIGNS * 1.1)
    assert len(_keys()) == 2 and len(_keys()) == 2
