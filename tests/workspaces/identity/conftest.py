"""Fixtures for OpenID providers of Atlas and of the installation, and for sign-ins there."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from django.test import Client

from portal.core import vault
from tests.rig.issuer import Issuer
from tests.story import prove
from workspaces.identity.provider_services import PURPOSE
from workspaces.models import GroupRule, Provider

ONWARD = re.compile(r'http-equiv="refresh" content="0;url=([^"]+)"')


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    made = Issuer()
    yield made
    made.close()


@pytest.fixture
def atlas_idp(story, issuer) -> Provider:
    """Return Atlas's provider with rules for members (`people`) and team Vision (`vision`)."""
    row = oidc(
        issuer.url, org=story.atlas, slug="atlas-idp", name="Atlas ID", domains=["atlas.example"]
    )
    rule(row, "people", story.atlas)
    rule(row, "vision", story.atlas, story.vision)
    return row


@pytest.fixture
def house_idp(story, issuer) -> Provider:
    """Return a provider of the whole installation whose group `people` are members of Atlas."""
    row = oidc(issuer.url, org=None, slug="house-idp", name="House ID")
    rule(row, "people", story.atlas)
    return row


def oidc(
    issuer: str, *, org: Any, slug: str, name: str, domains: Any = (), **config: Any
) -> Provider:
    return Provider.objects.create(
        kind="oidc",
        org=org,
        slug=slug,
        name=name,
        domains=list(domains),
        secrets=vault.encrypt(orjson.dumps({"client_secret": "s"}), PURPOSE),
        config={"issuer": issuer, "client_id": "muster", "is_private": True} | config,
    )


def rule(row: Provider, group: str, org: Any, team: Any = None, role: str = "member") -> GroupRule:
    return GroupRule.objects.create(
        provider=row,
        position=GroupRule.objects.filter(provider=row).count(),
        group=group,
        org=org,
        team=team,
        role=role,
    )


@dataclass
class Trip:
    """One sign-in at a provider: the request and the return."""

    client: Client
    issuer: Issuer
    query: dict[str, str]
    slug: str

    def back(self, client: Client | None = None, **changed: Any) -> Any:
        """Return from the provider with a code; `changed` replaces parameters, None omits one."""
        self.issuer.nonce = self.query.get("nonce", "")
        given = {"code": "c", "state": self.query["state"]} | changed
        return (client or self.client).get(
            f"/accounts/sso/{self.slug}/callback/",
            {k: v for k, v in given.items() if v is not None},
        )


def go(client: Client, row: Provider, issuer: Issuer, **form: str) -> Trip:
    """Start a sign-in at the provider; linking reauthenticates first."""
    if form.get("process") == "connect":
        prove(client)
    page = client.post(f"/accounts/sso/{row.slug}/", form)
    found = ONWARD.search(page.content.decode())
    assert found, page.content.decode()
    url = urlsplit(html.unescape(found[1]))
    return Trip(
        client, issuer, {name: values[0] for name, values in parse_qs(url.query).items()}, row.slug
    )
