"""Replies of an OpenID provider that lies, is led astray or is not the one that was asked: nobody is signed in, and no person is
made. Each row of the table changes one thing of an answer that is accepted otherwise."""

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
    "without an end": {"id_token": _changed(exp=None)},
    "not valid yet": {"id_token": _changed(nbf=int(time.time()) + 3600)},
    "another nonce": {"id_token": _changed(nonce="of another sign-in")},
    "no nonce": {"id_token": _changed(nonce=None)},
    "no subject": {"id_token": _changed(sub=None), "userinfo": _changed(sub=None)},
    "an empty subject": {"id_token": _changed(sub=" "), "userinfo": _changed(sub=" ")},
    "a subject that is a list": {
        "id_token": _changed(sub=["u-1"]),
        "userinfo": _changed(sub=["u-1"]),
    },
    "not signed": {"token": _token(lambda claims: forged({"alg": "none"}, claims))},
    "signed with the client secret": {"token": _token(_hs256(b"s"))},
    "signed with the public key as a secret": {"token": _token(_hs256(_public_pem()))},
    "signed by a key that is not published": {"header": lambda truth: truth | {"key": key("k2")}},
    "an unknown key id": {"header": lambda truth: truth | {"kid": "k9", "key": key("k2")}},
    "a signature that was cut off": {
        "token": lambda truth: truth | {"id_token": truth["id_token"].rpartition(".")[0] + "."}
    },
    "no ID token": {"token": lambda truth: {"access_token": "a", "token_type": "Bearer"}},
    "userinfo of somebody else": {"userinfo": _changed(sub="u-2")},
    "a description of another issuer": {"discovery": _changed(issuer="https://evil.example")},
    "a description without keys": {"discovery": _changed(jwks_uri=None)},
    "keys that are no keys": {"jwks": lambda _: {"keys": ["x", {"kty": "RSA", "kid": "k1"}, 7]}},
    "keys that are a list": {"jwks": lambda _: []},
    "an answer that is no JSON": {"token": lambda _: b"<html>"},
    "an answer that is a number": {"token": lambda _: 7},
    "groups that are an object": {
        "id_token": _changed(groups={"people": True}),
        "userinfo": _changed(groups={"people": True}),
    },
}


@each("lie", HOSTILE)
def test_a_hostile_reply_signs_nobody_in(atlas_idp, issuer, lie):
    issuer.claims["groups"], issuer.lies = ["people"], {}
    before, client = User.objects.count(), Client()
    trip = go(client, atlas_idp, issuer) if "discovery" not in HOSTILE[lie] else None
    issuer.lies = HOSTILE[lie]
    answer = trip.back() if trip else client.post("/accounts/sso/atlas-idp/")
    assert answer.status_code == 401 and "was not accepted" in answer.content.decode()
    _nobody(client, before)


def test_the_same_reply_without_a_lie_signs_in(atlas_idp, issuer):
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
def test_a_return_that_was_not_asked_for_signs_nobody_in(atlas_idp, issuer, changed):
    issuer.claims["groups"] = ["people"]
    before, client = User.objects.count(), Client()
    answer = go(client, atlas_idp, issuer).back(**changed)
    assert answer.status_code == 401 and b"<script>alert" not in answer.content
    _nobody(client, before)


def test_a_state_counts_once(atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    client = Client()
    trip = go(client, atlas_idp, issuer)
    assert trip.back().status_code == 302
    client.logout()
    assert trip.back().status_code == 401


def test_a_state_counts_in_the_browser_that_began(atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    before, other = User.objects.count(), Client()
    assert go(Client(), atlas_idp, issuer).back(client=other).status_code == 401
    _nobody(other, before)


def test_a_state_counts_for_the_provider_that_was_asked(atlas_idp, house_idp, issuer):
    issuer.claims["groups"] = ["people"]
    before, client = User.objects.count(), Client()
    trip = go(client, atlas_idp, issuer)
    trip.slug = "house-idp"
    assert trip.back().status_code == 401
    _nobody(client, before)


def test_the_code_is_bound_to_this_browser_by_pkce(atlas_idp, issuer):
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
def test_the_address_changes_nothing_of_what_is_asked(atlas_idp, issuer, added):
    page = Client().post(f"/accounts/sso/atlas-idp/{added}").content.decode()
    assert "evil.example" not in page and "scope=admin" not in page


def test_where_one_goes_afterwards_is_here(atlas_idp, issuer):
    issuer.claims["groups"] = ["people"]
    assert go(Client(), atlas_idp, issuer, next="https://evil.example/").back()["Location"] == "/"
    assert go(Client(), atlas_idp, issuer, next="/atlas/teams").back()["Location"] == "/atlas/teams"


def test_an_address_inside_the_house_is_not_asked_unless_an_operator_allowed_it(atlas_idp, issuer):
    atlas_idp.config |= {"is_private": False, "issuer": issuer.url.replace("http:", "https:")}
    atlas_idp.save()
    answer = Client().post("/accounts/sso/atlas-idp/")
    assert answer.status_code == 401 and "not on the open internet" in answer.content.decode()


def test_a_link_from_elsewhere_starts_nothing(atlas_idp):
    client = Client()
    page = client.get("/accounts/sso/atlas-idp/")
    assert (
        page.status_code == 200
        and "http-equiv" not in page.content.decode()
        and not client.session.keys()
    )
    assert Client(enforce_csrf_checks=True).post("/accounts/sso/atlas-idp/").status_code == 403


def test_what_strangers_send_leaves_no_trouble_and_no_event(atlas_idp, issuer):
    Client().get("/accounts/sso/atlas-idp/callback/", {"code": "c", "state": "made up"})
    atlas_idp.refresh_from_db()
    assert atlas_idp.trouble == "" and not Event.objects.filter(kind="sign_in.refused").exists()


def test_a_provider_that_is_down_is_said_and_its_administrators_see_it(atlas_idp, issuer):
    issuer.lies = {"discovery": lambda _: b"oops"}
    assert Client().post("/accounts/sso/atlas-idp/").status_code == 401
    atlas_idp.refresh_from_db()
    assert "no JSON" in atlas_idp.trouble and atlas_idp.trouble_since


def test_one_that_is_switched_off_is_not_there(atlas_idp):
    atlas_idp.is_enabled = False
    atlas_idp.save()
    assert Client().post("/accounts/sso/atlas-idp/").status_code == 404


def _nobody(client, before):
    assert (
        "_auth_user_id" not in client.session
        and User.objects.count() == before
        and not Identity.objects.exists()
    )
