"""Fixtures: Atlas's SCIM provider and a client with its token."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from django.test import Client

from tests.workspaces.identity.conftest import rule
from workspaces.identity.scim.tokens import create_scim_token
from workspaces.models import Provider
from workspaces.tenancy.scope import org_scope


class Scim:
    """A SCIM client of one provider."""

    def __init__(self, slug: str, token: str):
        self.base, self.authorization = f"/scim/v2/{slug}", f"Bearer {token}"
        self._client = Client(headers={"Authorization": self.authorization})

    def __call__(self, verb: str, path: str, body: Any = None, **headers: str) -> Any:
        data = orjson.dumps(body) if body is not None else b""
        return self._client.generic(
            verb, f"{self.base}{path}", data, content_type="application/scim+json", headers=headers
        )

    def user(self, name: str = "eve", **more: Any) -> Any:
        given = {
            "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
            "userName": f"{name}@atlas.example",
            "externalId": f"x-{name}",
            "displayName": name.capitalize(),
            "active": True,
            "emails": [{"value": f"{name}@atlas.example", "type": "work", "primary": True}],
        }
        return self("POST", "/Users", given | more).json()

    def group(self, name: str, *members: Any) -> Any:
        return self(
            "POST",
            "/Groups",
            {"displayName": name, "members": [{"value": m["id"]} for m in members]},
        ).json()


@pytest.fixture
def provider(story) -> Provider:
    row = Provider.objects.create(
        kind="scim",
        org=story.atlas,
        slug="atlas-scim",
        name="Atlas People",
        domains=["atlas.example"],
    )
    rule(row, "people", story.atlas)
    rule(row, "vision", story.atlas, story.vision)
    return row


@pytest.fixture
def scim(story, provider) -> Scim:
    with org_scope(story.atlas.id):
        return Scim(
            "atlas-scim", create_scim_token(actor=story.actor(story.ada), provider=provider)
        )
