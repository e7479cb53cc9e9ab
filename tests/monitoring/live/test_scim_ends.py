"""A user deactivated through SCIM loses all access within 5 s; nothing is deleted."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.monitoring.live.test_real_ends import WITHIN, closing_code

pytestmark = pytest.mark.integration

MAKE = """
from workspaces.access.actors import actor_of
from workspaces.models import GroupRule, Organization, Provider, User
from workspaces.identity.scim.tokens import create_scim_token
from workspaces.tenancy.scope import org_scope
org = Organization.objects.get(slug="home")
row = Provider.objects.create(kind="scim", org={org}, slug="{slug}", name="People", domains=["{slug}.example"])
with org_scope(org.id):
    GroupRule.objects.create(provider=row, position=1, group="people", org=org, role="member")
    ada = User.objects.get(email="ada@atlas.example")
    print(create_scim_token(actor=actor_of(ada).enter(org), provider=row))
"""
COME_IN = """
from django.conf import settings
from django.test import Client
from workspaces.access.actors import actor_of
from workspaces.models import Organization, User
from workspaces.credentials.tokens import create_token
from workspaces.tenancy.scope import org_scope
eve, org = User.objects.get(email="{email}"), Organization.objects.get(slug="home")
client = Client()
client.force_login(eve)
with org_scope(org.id):
    token = create_token(actor=actor_of(eve).enter(org), org=org, name="laptop", scopes=["all"]).secret
print(settings.SESSION_COOKIE_NAME, client.cookies[settings.SESSION_COOKIE_NAME].value, token, org.id.hex)
"""
KEPT = """
from workspaces.models import Identity, Membership, User
from workspaces.tenancy.scope import platform_scope
with platform_scope("test"):
    eve = User.objects.get(email="{email}")
    print(Membership.objects.filter(user=eve).count(), Identity.objects.filter(user=eve).count())
"""


@pytest.mark.parametrize(
    "org", ["org", "None"], ids=["an organization's own provider", "one of the whole installation"]
)
async def test_user_deactivated_by_scim_loses_access_within_five_seconds(site, org):
    def shell(code: str, **names: str) -> str:
        return site.portal.manage("shell", "-v", "0", "-c", code.format(**names)).splitlines()[-1]

    slug = "own" if org == "org" else "wide"
    email = f"eve@{slug}.example"
    base, scim = (
        f"{site.portal.url}/scim/v2/{slug}",
        {"Authorization": f"Bearer {shell(MAKE, org=org, slug=slug)}"},
    )
    with httpx.Client(base_url=base, headers=scim, timeout=30) as client:
        user = await asyncio.to_thread(provision_user, client, email)
        cookie, session, token, home = shell(COME_IN, email=email).split()
        with (
            _by(site, headers={"Authorization": f"Bearer {token}"}) as program,
            _by(site, cookies={cookie: session}) as browser,
        ):
            assert (
                program.get("/api/v1/orgs/home/teams").status_code,
                browser.get("/home/teams").status_code,
            ) == (200, 200)
            own = {"Cookie": f"{cookie}={session}", "Origin": site.portal.url}
            async with site.opened(token) as socket, site.opened("", headers=own) as page:
                assert (
                    json.loads(await socket.recv())["op"]
                    == json.loads(await page.recv())["op"]
                    == "hello"
                )
                await page.send(json.dumps({"op": "subscribe", "id": 1, "topic": f"jobs:{home}"}))
                began = time.monotonic()
                off = {"Operations": [{"op": "Replace", "path": "active", "value": "False"}]}
                await asyncio.to_thread(
                    lambda: client.patch(f"/Users/{user['id']}", json=off).raise_for_status()
                )
                assert program.get("/api/v1/orgs/home/teams").status_code in (401, 404)
                assert browser.get("/home/teams").status_code in (302, 404)
                assert await closing_code(socket) == 4401
                assert await ending(page) in ("not_found", "closed")
                assert time.monotonic() - began < WITHIN
    assert shell(KEPT, email=email) == "1 1"


def provision_user(told: httpx.Client, email: str) -> dict[str, Any]:
    """Provision a user in the group of the rule."""
    user = told.post("/Users", json={"userName": email, "emails": [{"value": email}]}).json()
    told.post(
        "/Groups", json={"displayName": "people", "members": [{"value": user["id"]}]}
    ).raise_for_status()
    return dict(user)


async def ending(page) -> str:
    """Return how an open subscription of a page ends."""
    async with asyncio.timeout(WITHIN):
        try:
            while (message := json.loads(await page.recv())).get("op") != "error":
                pass
        except ConnectionClosed:
            return "closed"
        return str(message["code"])


def _by(site, **how) -> httpx.Client:
    return httpx.Client(base_url=site.portal.url, timeout=30, **how)
