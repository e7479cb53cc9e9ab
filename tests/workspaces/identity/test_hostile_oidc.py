"""Hostile or misdirected OpenID replies: nobody is signed in and no account is created.

Each entry changes one part of a reply that is otherwise accepted.
"""

from __future__ import annotations

import time

import jwt
from django.test import Client

from portal.core.events import Event
from tests.each import each
from tests.rig.issuer import forged, key
from tests.workspaces.identity.conftest import go
from workspaces.models import Identity, User


def _public_pem():
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _changed(**claims):
    return lambda truth: {k: v for k, v in (truth | claims).items() if v is not None}


def _token(made):
    return lambda truth: (
        truth
        | {"id_token": made(jwt.decode(truth["id_token"], options={"verify_signature": False}))}
    )


def _hs256(secret):
    import hashlib
    import hmac

    def made(claims):
        head = forged({"alg": "HS256", "kid": "k1"}, claims).rpartition(".")[0]
        import base64

        mac = hmac.new(secret, head.encode(), hashlib.sha256).digest()
        return f"{head}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"

    return made


HOSTILE = {
    "another issuer": {"id_token": _changed(iss="https://evil.example")},
    "another audience": {"id_token": _changed(aud="grafana")},
    "several audiences and no azp": {"id_token": _changed(aud=["muster", "grafana"])},
    "azp of another client": {"id_token": _changed(azp="grafana")},
    "expired": {"id_token": _changed(exp=int(time.time()) - 3600)},
    "without an expiry time": {"id_token": _changed(exp=None)},
    "not valid yet": {"id_token": _changed(nbf=int(time.time()) + 3600)},
    "another nonce": {"id_token": _changed(nonce="of another sign-in")},
    "no nonce": {"id_token": _changed(nonce=None)},
    "no subject": {"id_token": _changed(sub=None), "userinfo": _changed(sub=None)},
    "an empty subject": {"id_token": _changed(sub=" "), "userinfo": _changed(sub=" ")},
    "a list as subject": {
        "id_token": _changed(sub=["u-1"]),
        "userinfo": _changed(sub=["u-1"]),
    },
    "not signed": {"token": _token(lambda claims: forged({"alg": "none"}, claims))},
    "signed with the client secret": {"token": _token(_hs256(b"s"))},
    "signed with the public key as a secret": {"token": _token(_hs256(_public_pem()))},
    "signed with an unpublished key": {"header": lambda truth: truth | {"key": key("k2")}},
    "an unknown key id": {"header": lambda truth: truth | {"kid": "k9", "key": key("k2")}},
    "a removed signature": {
        "token": lambda truth: truth | {"id_token": truth["id_token"].rpartition(".")[0] + "."}
    },
    "no ID token": {"token": lambda truth: {"access_token": "a", "token_type": "Bearer"}},
    "userinfo of another person": {"userinfo": _changed(sub="u-2")},
    "discovery document of another issuer": {"discovery": _changed(issuer="https://evil.example")},
    "discovery document without keys": {"discovery": _changed(jwks_uri=None)},
    "invalid keys": {"jwks": lambda _: {"keys": ["x", {"kty": "RSA", "kid": "k1"}, 7]}},
    "keys as a list": {"jwks": lambda _: []},
    "a reply that is not JSON": {"token": lambda _: b"<html>"},
    "a number as reply": {"token": lambda _: 7},
    "groups as an object": {
        "id_token": _changed(groups={"people": True}),
        "userinfo": _changed(groups={"people": True}),
    },
}


@each("lie", HOSTILE)
def test_hostile_oidc_reply_is_rejected(atlas_idp, issuer, lie):
    issuer.claims["groups"], issuer.lies = ["people"], {}
    before, client = User.objects.count(), Client()
    trip = go(client, atlas_idp, issuer) if "discovery" not in HOSTILE[lie] else None
    issuer.lies = HOSTILE[lie]
    answer = trip.back() if trip else client.post("/accounts/sso/atlas-idp/")
    assert answer.status_code == 401 and "was rejected" in answer.content.decode()
    _nobody(client, before)


def test_unmodified_oidc_reply_signs_in(atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client = Client()
    assert go(client, atlas_idp, issuer).back().status_code == 302
    assert "_auth_user_id" in client.session


@each(
    "changed",
    [
        {"state": None},
        {"state": "x" * 16},
        {"code": None},
        {"iss": "https://evil.example"},
        {"code": None, "error": "access_denied"},
        {"code": None, "error": "<script>alert(1)</script>"},
    ],
)
def test_oidc_callback_with_wrong_parameters_is_rejected(atlas_idp, issuer, changed):
    issuer.claims["groups"] = ["people"]
    before, client = User.objects.count(), Client()
    answer = go(client, atlas_idp, issuer).back(**changed)
    assert answer.status_code == 401 and b"<script>alert" not in answer.content
    _nobody(client, before)


def test_oidc_state_is_single_use(atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client = Client()
    trip = go(client, atlas_idp, issuer)
    assert trip.back().status_code == 302
    client.logout()
    assert trip.back().status_code == 401


def test_oidc_state_in_another_browser_is_rejected(atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    before, other = User.objects.count(), Client()
    assert go(Client(), atlas_idp, issuer).back(client=other).status_code == 401
    _nobody(other, before)


def test_oidc_state_of_another_provider_is_rejected(atlas_idp, house_idp, issuer):
    issuer.claims["groups"] = ["people"]
    before, client = User.objects.count(), Client()
    trip = go(client, atlas_idp, issuer)
    trip.slug = "house-idp"
    assert trip.back().status_code == 401
    _nobody(client, before)


def test_oidc_code_is_bound_to_the_browser_by_pkce(atlas_idp, issuer):
    import base64
    import hashlib

    trip = go(Client(), atlas_idp, issuer)
    trip.back()
    proof = hashlib.sha256(issuer.asked[0]["code_verifier"].encode()).digest()
    assert trip.query["code_challenge_method"] == "S256"
    assert trip.query["code_challenge"] == base64.urlsafe_b64encode(proof).rstrip(b"=").decode()


@each(
    "added",
    [
        "?scope=admin",
        "?auth_params=redirect_uri%3Dhttps://evil.example",
        "?process=connect",
        "?next=https://evil.example/",
    ],
)
def test_query_parameters_do_not_change_the_authorization_request(atlas_idp, issuer, added):
    page = Client().post(f"/accounts/sso/atlas-idp/{added}").content.decode()
    assert "evil.example" not in page and "scope=admin" not in page


def test_redirect_after_sign_in_stays_on_this_site(atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    assert go(Client(), atlas_idp, issuer, next="https://evil.example/").back()["Location"] == "/"
    assert go(Client(), atlas_idp, issuer, next="/atlas/teams").back()["Location"] == "/atlas/teams"


def test_private_issuer_address_without_approval_is_refused(atlas_idp, issuer):
    atlas_idp.config |= {"is_private": False, "issuer": issuer.url.replace("http:", "https:")}
    atlas_idp.save()
    answer = Client().post("/accounts/sso/atlas-idp/")
    assert answer.status_code == 401 and "not on the open internet" in answer.content.decode()


def test_sign_in_by_link_or_cross_site_post_does_not_start(atlas_idp):
    client = Client()
    page = client.get("/accounts/sso/atlas-idp/")
    assert (
        page.status_code == 200
        and "http-equiv" not in page.content.decode()
        and not client.session.keys()
    )
    assert Client(enforce_csrf_checks=True).post("/accounts/sso/atlas-idp/").status_code == 403


def test_forged_callback_records_no_error_or_event(atlas_idp, issuer):
    Client().get("/accounts/sso/atlas-idp/callback/", {"code": "c", "state": "made up"})
    atlas_idp.refresh_from_db()
    assert atlas_idp.trouble == "" and not Event.objects.filter(kind="sign_in.refused").exists()


def test_unavailable_provider_is_reported_to_administrators(atlas_idp, issuer):
    issuer.lies = {"discovery": lambda _: b"oops"}
    assert Client().post("/accounts/sso/atlas-idp/").status_code == 401
    atlas_idp.refresh_from_db()
    assert "isn't a JSON object" in atlas_idp.trouble and atlas_idp.trouble_since


def test_disabled_provider_is_not_found(atlas_idp):
    atlas_idp.is_enabled = False
    atlas_idp.save()
    assert Client().post("/accounts/sso/atlas-idp/").status_code == 404


def _nobody(client, before):
    assert (
        "_auth_user_id" not in client.session
        and User.objects.count() == before
        and not Identity.objects.exists()
    )
