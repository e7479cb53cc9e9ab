"""Hostile, misdirected or modified SAML responses: nobody is signed in.

Each entry changes one part of a response that is otherwise accepted.
"""

from __future__ import annotations

import base64
import html
import re
import zlib
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import cache
from django.test import Client
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Names

from portal.core.models import Event
from tests.each import each
from tests.rig import saml_idp as idp
from tests.workspaces.identity.conftest import ONWARD, rule
from workspaces.identity.http_client import provider_requests
from workspaces.identity.saml import protocol
from workspaces.identity.saml.settings import Config
from workspaces.models import Identity, Membership, Provider, User
from workspaces.tenancy.scope import org_scope


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()


@pytest.fixture
def row(story):
    made = Provider.objects.create(
        kind="saml",
        org=story.atlas,
        slug="atlas-saml",
        name="Atlas SAML",
        domains=["atlas.example"],
        config={"metadata": idp.metadata()},
    )
    rule(made, "people", story.atlas)
    return made


class Trip:
    """A browser that started a sign-in, and the id of its request."""

    def __init__(self, settings, **form):
        self.client, base = Client(), f"{settings.MUSTER_BASE_URL}/accounts/sso/atlas-saml"
        self.acs, self.us = f"{base}/acs/", f"{base}/metadata/"
        found = ONWARD.search(self.client.post("/accounts/sso/atlas-saml/", form).content.decode())
        query = parse_qs(urlsplit(html.unescape(found[1])).query)
        request_xml = zlib.decompress(base64.b64decode(query["SAMLRequest"][0]), -15).decode()
        self.request = re.search(r'ID="([^"]+)"', request_xml)[1]

    def facts(self, **changed):
        return idp.facts(self.acs, self.us, self.request, **changed)

    def good(self, **changed):
        known = self.facts(**changed)
        return idp.response(known, idp.signed(idp.assertion(known)))

    def send(self, xml, client=None):
        """Post the response without our cookies, then follow the redirect with them."""
        client, poster = client or self.client, Client()
        landed = poster.post("/accounts/sso/atlas-saml/acs/", {"SAMLResponse": idp.posted(xml)})
        if landed.status_code != 302:
            return landed
        client.cookies["saml-acs-session"] = poster.cookies["saml-acs-session"].value
        return client.get(landed["Location"])


def _wrapped(trip):
    """Move the signed assertion elsewhere in the response and put a forged one in its place."""
    known = trip.facts()
    good = idp.signed(idp.assertion(known))
    evil = idp.assertion(
        known
        | {"id": "evil", "nameid": "ada", "attributes": idp.attribute("email", "ada@atlas.example")}
    )
    return idp.response(
        known,
        evil.replace("</saml:Assertion>", f"<saml:Advice>{good}</saml:Advice></saml:Assertion>"),
    )


def _two(trip):
    known = trip.facts()
    return idp.response(
        known,
        idp.assertion(known | {"id": "evil", "nameid": "ada"}) + idp.signed(idp.assertion(known)),
    )


def _changed_after(trip):
    return trip.good().replace("eve@atlas.example", "ada@atlas.example")


def _only_response_signed(trip):
    known = trip.facts()
    return idp.signed(idp.response(known, idp.assertion(known)))


def _unsigned(trip):
    known = trip.facts()
    return idp.response(known, idp.assertion(known))


def _by_another(trip):
    known = trip.facts()
    return idp.response(known, idp.signed(idp.assertion(known), by="evil"))


def _sha1(trip):
    known = trip.facts()
    return idp.response(
        known, idp.signed(idp.assertion(known), sign=Names.RSA_SHA1, digest=Names.SHA1)
    )


def _confirmed(**changed):
    def make(trip):
        parts = {
            "InResponseTo": trip.request,
            "Recipient": trip.acs,
            "NotOnOrAfter": trip.facts()["after"],
        } | changed
        return trip.good(
            confirmed=" ".join(f'{name}="{value}"' for name, value in parts.items() if value)
        )

    return make


def _entity(trip):
    bomb = '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    return bomb + trip.good().replace("cooks", "&x;")


PAST, FUTURE = "2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
HOSTILE = {
    "not signed": _unsigned,
    "signed by another key": _by_another,
    "signed with SHA-1": _sha1,
    "only the response is signed": _only_response_signed,
    "modified after signing": _changed_after,
    "signature wrapping": _wrapped,
    "two assertions": _two,
    "another audience": lambda t: t.good(
        audience="<saml:AudienceRestriction><saml:Audience>https://grafana</saml:Audience></saml:AudienceRestriction>"
    ),
    "no audience": lambda t: t.good(audience=""),
    "another issuer": lambda t: t.good(issuer="https://evil.example/metadata"),
    "expired": lambda t: t.good(after=PAST, before="2019-01-01T00:00:00Z"),
    "not valid yet": lambda t: t.good(before=FUTURE, after="2099-01-02T00:00:00Z"),
    "no InResponseTo": lambda t: t.good(
        answers="", confirmed=f'Recipient="{t.acs}" NotOnOrAfter="{FUTURE}"'
    ),
    "InResponseTo only in the response": _confirmed(InResponseTo=""),
    "another request": lambda t: t.good(
        answers=' InResponseTo="_o"',
        confirmed=f'InResponseTo="_o" Recipient="{t.acs}" NotOnOrAfter="{FUTURE}"',
    ),
    "another recipient": _confirmed(Recipient="https://grafana.example/acs"),
    "no recipient": _confirmed(Recipient=""),
    "confirmation without expiry": _confirmed(NotOnOrAfter=""),
    "expired confirmation": _confirmed(NotOnOrAfter=PAST),
    "sent to another address": lambda t: t.good(destination="https://grafana.example/acs"),
    "status is not success": lambda t: t.good(
        status="urn:oasis:names:tc:SAML:2.0:status:AuthnFailed"
    ),
    "an empty NameID": lambda t: t.good(nameid=""),
    "a transient NameID": lambda t: t.good(
        format="urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
    ),
    "an external entity": _entity,
    "no XML": lambda t: "hello",
}


@each("lie", HOSTILE)
def test_hostile_saml_response_is_rejected(row, settings, lie):
    before, trip = User.objects.count(), Trip(settings)
    answer = trip.send(HOSTILE[lie](trip))
    assert answer.status_code == 401 and "was rejected" in answer.content.decode(), (
        answer.content.decode()[:3000]
    )
    _nobody(trip.client, before)


def test_unmodified_saml_response_signs_in(row, settings):
    trip = Trip(settings)
    answer = trip.send(trip.good())
    assert answer.status_code == 302, answer.content.decode()
    user = User.objects.get(email="eve@atlas.example")
    assert trip.client.session["_auth_user_id"] == str(user.id) and trip.client.session[
        "only_org"
    ] == str(row.org_id)
    assert (
        Identity.objects.values_list("subject", "groups").get() == ("u-1", ["cooks", "people"])
        and user.name == "Eve"
    )


def test_saml_groups_with_elements_of_their_own_take_no_role_away(row, settings):
    trip = Trip(settings)
    assert trip.send(trip.good()).status_code == 302
    nested = idp.attribute("email", "eve@atlas.example") + idp.attribute("groups", "<g>people</g>")
    trip = Trip(settings)
    answer = trip.send(trip.good(attributes=nested))
    assert answer.status_code == 401 and "nothing was changed" in answer.content.decode()
    with org_scope(row.org_id):
        member = Membership.objects.get(user__email="eve@atlas.example")
    assert member.role == "member" and member.suspended_at is None


def test_saml_response_is_single_use(row, settings):
    trip = Trip(settings)
    answer = trip.good()
    assert trip.send(answer).status_code == 302
    trip.client.logout()
    assert trip.send(answer).status_code == 401


def test_saml_response_in_another_browser_is_rejected(row, settings):
    before, trip, other = User.objects.count(), Trip(settings), Client()
    assert trip.send(trip.good(), client=other).status_code == 401
    _nobody(other, before)


@each("nameid", ["ada<!-- x -->.evil", "ada<?x y?>.evil"])
def test_name_id_with_comment_is_not_truncated(row, settings, nameid):
    trip = Trip(settings)
    trip.send(trip.good(nameid=nameid))
    assert not Identity.objects.filter(subject="ada").exists()


def test_oversized_saml_response_is_not_stored(row, settings):
    from workspaces.identity.saml.protocol import LARGEST

    answer = Client().post("/accounts/sso/atlas-saml/acs/", {"SAMLResponse": "A" * (LARGEST + 1)})
    assert answer.status_code == 400 and "saml-acs-session" not in answer.cookies


def test_service_provider_metadata_requires_signed_assertions(row):
    found = Client().get("/accounts/sso/atlas-saml/metadata/")
    assert (
        found.status_code == 200
        and b'WantAssertionsSigned="true"' in found.content
        and b"/accounts/sso/atlas-saml/acs/" in found.content
    )


def _nobody(client, before):
    assert (
        "_auth_user_id" not in client.session
        and User.objects.count() == before
        and not Identity.objects.exists()
    )


def test_unsolicited_saml_response_records_no_error_or_event(row, settings):
    trip = Trip(settings)
    answer = trip.send("<nothing/>", client=Client())
    row.refresh_from_db()
    assert (
        answer.status_code == 401
        and not row.trouble
        and not Event.objects.filter(kind="sign_in.refused").exists()
    )
    trip.send("<nothing/>")
    row.refresh_from_db()
    assert row.trouble and Event.objects.filter(kind="sign_in.refused").exists()


def test_saml_responses_from_one_address_are_rate_limited(story, row, settings, monkeypatch):
    monkeypatch.setattr("workspaces.identity.saml.views._A_MINUTE", 3)
    outsider = Client(REMOTE_ADDR="203.0.113.77")
    statuses = [
        outsider.post("/accounts/sso/atlas-saml/acs/", {"SAMLResponse": "x"}).status_code
        for _ in range(6)
    ]
    assert statuses[:3] == [302] * 3 and 429 in statuses


def test_metadata_cache_is_separate_for_private_addresses(monkeypatch):
    requests = []

    class Asking:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def get(self, url):
            requests.append(url)
            return type("Answer", (), {"status_code": 200, "text": idp.metadata()})()

    monkeypatch.setattr(protocol, "session", Asking)
    near, far = (
        Config(metadata_url="https://idp.example/seen-once", is_private=inside)
        for inside in (True, False)
    )
    for config, refresh in ((near, False), (near, False), (far, False), (far, True)):
        with provider_requests(config):
            assert protocol.idp_metadata(config, refresh=refresh)["entityId"]
    assert len(requests) == 3
