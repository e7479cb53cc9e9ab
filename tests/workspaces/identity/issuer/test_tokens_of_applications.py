"""Tokens of applications: lifetime, single use, scopes and withdrawal of consent."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import jwt
from allauth.idp.oidc.models import Client as Application
from allauth.idp.oidc.models import Token
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from portal.core import clock
from portal.core.models import Event
from tests.each import each
from tests.rig.environment import ROOT
from tests.workspaces.identity.issuer.test_applications import (  # noqa: F401
    BACK,
    _agree,
    _ask,
    _code,
    _token,
    empty_cache,
    grafana,
)
from workspaces.identity.oidc_provider.applications import (
    change_application,
    create_application,
)
from workspaces.models import Consent, User
from workspaces.tasks import tidy

BASIC = {"Authorization": f"Basic {base64.b64encode(b'grafana:s3cret').decode()}"}
PROOF = "p" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(PROOF.encode()).digest()).rstrip(b"=").decode()


def signed_in(story) -> dict:
    client = story.client(story.ben)
    return _token(_code(_agree(client, _ask(client)))).json()


def refresh(token: str, headers=BASIC, **more) -> object:
    return Client(headers=headers).post(
        "/identity/o/api/token", {"grant_type": "refresh_token", "refresh_token": token, **more}
    )


def is_known(access: str) -> bool:
    return (
        Client(headers={"Authorization": f"Bearer {access}"})
        .get("/identity/o/api/userinfo")
        .status_code
        == 200
    )


def test_authorization_code_expires_after_one_minute(story, grafana, monkeypatch):  # noqa: F811
    kept, real = [], cache.set
    monkeypatch.setattr(
        "allauth.idp.oidc.internal.oauthlib.authorization_codes.cache.set",
        lambda key, value, timeout=None: (kept.append(timeout), real(key, value, timeout=timeout)),
    )
    client = story.client(story.ben)
    code = _code(_agree(client, _ask(client)))
    assert kept == [60]
    real(
        next(k for k in [f"allauth.idp.oidc.authorization_code[grafana:{code}]"]), None, timeout=0
    )  # the minute is over
    assert _token(code).status_code == 400


def test_refresh_token_reuse_revokes_all_tokens(story, grafana):  # noqa: F811
    first = signed_in(story)
    second = refresh(first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"] and is_known(second["access_token"])
    outsider = {"Authorization": f"Basic {base64.b64encode(b'grafana:wrong').decode()}"}
    assert refresh(first["refresh_token"], outsider).status_code == 401 and is_known(
        second["access_token"]
    )
    assert refresh("never given out").status_code == 400 and is_known(second["access_token"])
    assert refresh(first["refresh_token"]).status_code == 400
    assert (
        not is_known(second["access_token"]) and refresh(second["refresh_token"]).status_code == 400
    )
    assert (
        Event.objects.filter(kind="application.token_replayed", data__client_id="grafana").count()
        == 1
    )


def test_refresh_token_use_does_not_extend_expiry(story, grafana):  # noqa: F811
    token = signed_in(story)["refresh_token"]
    soon = clock.now() + timedelta(hours=1)
    assert Token.objects.get(type="rt").expires_at - clock.now() <= timedelta(days=30)
    Token.objects.filter(type="rt").update(expires_at=soon)
    made = refresh(token).json()
    assert Token.objects.get(type="rt").expires_at == soon and made["refresh_expires_in"] <= 3600
    Token.objects.update(expires_at=clock.now() - timedelta(seconds=1))
    assert refresh(made["refresh_token"]).status_code == 400
    tidy()
    assert not Token.objects.exists()


def test_application_tokens_survive_sign_out_but_not_deactivation(
    story,
    grafana,  # noqa: F811
):
    text = re.sub(r"\s+", " ", (ROOT / "docs/security-policy.md").read_text())
    assert (
        "Signing out here does not sign out there, nor in applications that the portal signs "
        "people in to"
    ) in text
    client = story.client(story.ben)
    made = _token(_code(_agree(client, _ask(client)))).json()
    client.post("/accounts/logout/")
    assert is_known(made["access_token"])
    made = refresh(made["refresh_token"]).json()
    User.objects.filter(id=story.ben.id).update(is_active=False)
    assert not is_known(made["access_token"]) and refresh(made["refresh_token"]).status_code == 400


def test_withdrawn_consent_revokes_application_tokens(story, grafana):  # noqa: F811
    made, client = signed_in(story), story.client(story.ben)
    page = client.get("/accounts/applications/").content.decode()
    assert "Grafana" in page and "Your organizations and teams" in page
    assert (
        "Your organizations and teams"
        not in story.client(story.ada).get("/accounts/applications/").content.decode()
    )
    story.client(story.ada).post("/accounts/applications/", {"client_id": "grafana"})
    assert is_known(made["access_token"])
    client.post("/accounts/applications/", {"client_id": "grafana"})
    assert not is_known(made["access_token"]) and refresh(made["refresh_token"]).status_code == 400
    assert not Consent.objects.exists() and _ask(client).status_code == 200  # asked again
    assert Event.objects.get(kind="application.agreement_taken_back").actor == story.ben.email
    assert Client().get("/accounts/applications/")["Location"].startswith("/accounts/login/")


def test_authorization_code_after_withdrawn_consent_is_refused(story, grafana):  # noqa: F811
    client = story.client(story.ben)
    code = _code(_agree(client, _ask(client)))
    client.post("/accounts/applications/", {"client_id": "grafana"})
    answer = _token(code)
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "invalid_grant",
    ) and not Token.objects.exists()


def test_refresh_after_withdrawn_consent_is_refused(story, grafana):  # noqa: F811
    token = signed_in(story)["refresh_token"]
    Consent.objects.all().delete()  # as if withdrawn while this request waited
    assert refresh(token).status_code == 400 and not Token.objects.exclude(type="sp").exists()


@each("asked", ["openid", "openid email"])
def test_application_gets_only_granted_scopes(story, grafana, asked):  # noqa: F811
    client = story.client(story.ben)
    Consent.objects.create(user=story.ben, client_id="grafana", scopes=asked.split())
    made = _token(_code(_ask(client, scope=asked))).json()
    claims = jwt.decode(made["id_token"], options={"verify_signature": False})
    assert claims["aud"] in ("grafana", ["grafana"])
    assert (
        ("email" in claims) == ("email" in asked)
        and "groups" not in claims
        and "name" not in claims
    )
    assert made["scope"].split() == asked.split()
    assert refresh(made["refresh_token"], scope="openid groups").status_code == 400
    unknown = _ask(client, scope="openid everything")
    assert (
        "invalid_scope" in unknown["Location"]
        if unknown.status_code == 302
        else unknown.status_code == 400
    )


def test_new_application_requires_pkce_unless_waived(story):
    actor = story.actor(story.dot, story.atlas)
    secret = create_application(
        actor=actor, client_id="grafana", name="Grafana", addresses=[BACK]
    ).secret
    client = story.client(story.ben)
    for given in (
        {},
        {"code_challenge": CHALLENGE},
        {"code_challenge": PROOF, "code_challenge_method": "plain"},
        {"code_challenge_method": "S256"},
    ):
        answer = _ask(client, **given)
        result = parse_qs(urlsplit(answer["Location"]).query)
        assert (result["error"], result["state"]) == (["invalid_request"], ["st"]), given
    _agree(client, _ask(client, code_challenge=CHALLENGE, code_challenge_method="S256"))
    for proof, status in (
        ({}, 400),
        ({"code_verifier": "q" * 64}, 400),
        ({"code_verifier": PROOF}, 200),
    ):
        code = _code(_ask(client, code_challenge=CHALLENGE, code_challenge_method="S256"))
        assert _token(code, secret, **proof).status_code == status, proof
    change_application(actor=actor, client_id="grafana", needs_pkce=False)
    assert _code(_ask(client))
    assert Event.objects.get(kind="application.changed").data["after"]["needs_pkce"] is False


@each(
    "twice",
    [
        "redirect_uri=https://evil.example/",
        "client_id=other",
        "scope=openid",
        "state=b",
        "response_type=token",
    ],
)
def test_authorization_with_repeated_parameter_is_refused(story, grafana, twice):  # noqa: F811
    request = (
        f"client_id=grafana&redirect_uri={BACK}&response_type=code&scope=openid&state=st&nonce=n"
    )
    client = story.client(story.ben)
    for query in (f"{request}&{twice}", f"{twice}&{request}"):
        answer = client.get(f"/identity/o/authorize?{query}")
        assert answer.status_code == 400 and "Location" not in answer.headers, query


def test_form_ignores_query_parameters(story):
    browser = Client()
    browser.post(
        f"/accounts/login/?login={story.ada.email}&password=the+story%27s+own+password", {}
    )
    assert settings.SESSION_COOKIE_NAME not in browser.cookies
    people = f"/platform/people/{story.ben.id}"
    story.client(story.dot).post(f"{people}?do=suspend&why=because", {"do": "suspend"})
    story.ben.refresh_from_db()
    assert story.ben.is_active
    assert Application.objects.count() == 0
