"""An address that nobody proved is nobody's."""

from __future__ import annotations

import itertools
import sys

from allauth.account.models import EmailAddress
from django.test import Client

from tests.workspaces.identity.conftest import oidc
from workspaces.models import Provider, User

PAGE = "/accounts/email/"


def test_nobody_takes_an_address_for_theirs_by_typing_it(story):
    client, before = story.client(story.ben), story.ben.email
    asked = [
        client.post(PAGE, {"action_add": "", "email": "boss@borealis.example"}),
        client.post(PAGE, {"action_primary": "", "email": "boss@borealis.example"}),
        client.get(PAGE),
    ]
    assert {answer.status_code for answer in asked} == {404}
    assert User.objects.get(id=story.ben.id).email == before
    assert not EmailAddress.objects.filter(email="boss@borealis.example").exists()


def test_saml_address_without_saml_is_not_found(story, issuer, monkeypatch):
    """For a provider of another kind, and where the packages of SAML are not installed."""
    oidc(issuer.url, org=story.atlas, slug="other-kind", name="Other kind")
    Provider.objects.create(
        kind="saml",
        org=story.atlas,
        slug="no-packages",
        name="No packages",
        config={"metadata": "<x/>"},
    )
    monkeypatch.setattr("workspaces.identity.saml.provider_type.find_spec", lambda name: None)
    monkeypatch.setitem(
        sys.modules, "workspaces.identity.saml.protocol", None
    )  # as an import without them fails
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
