"""Unverified e-mail addresses, and SAML URLs when SAML is not available."""

from __future__ import annotations

import itertools
import sys

from allauth.account.models import EmailAddress
from django.test import Client

from tests.workspaces.identity.conftest import oidc
from workspaces.models import Provider, User

PAGE = "/accounts/email/"


def test_email_page_does_not_add_unverified_address(story):
    client, before = story.client(story.ben), story.ben.email
    request = [
        client.post(PAGE, {"action_add": "", "email": "boss@borealis.example"}),
        client.post(PAGE, {"action_primary": "", "email": "boss@borealis.example"}),
        client.get(PAGE),
    ]
    assert {answer.status_code for answer in request} == {404}
    assert User.objects.get(id=story.ben.id).email == before
    assert not EmailAddress.objects.filter(email="boss@borealis.example").exists()


def test_saml_address_without_saml_is_not_found(story, issuer, monkeypatch):
    """Applies to providers of another type, and to installations without the SAML libraries."""
    oidc(issuer.url, org=story.atlas, slug="other-kind", name="Other kind")
    Provider.objects.create(
        kind="saml",
        org=story.atlas,
        slug="no-packages",
        name="No packages",
        config={"metadata": "<x/>"},
    )
    monkeypatch.setattr("workspaces.identity.saml.provider_type.find_spec", lambda name: None)
    # an import then fails, as without the libraries
    monkeypatch.setitem(sys.modules, "workspaces.identity.saml.protocol", None)
    client = Client(raise_request_exception=False)
    found = {}
    for slug, way in itertools.product(
        ("other-kind", "no-packages"), ("acs", "finish", "metadata")
    ):
        path = f"/accounts/sso/{slug}/{way}/"
        found[path] = {
            client.get(path).status_code,
            client.post(path, {"SAMLResponse": "x"}).status_code,
        }
    assert set().union(*found.values()) == {404}, found
