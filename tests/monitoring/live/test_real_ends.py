"""A real portal ends access within 5 s, over REST, on pages and on open websockets."""

from __future__ import annotations

import asyncio
import json
import time

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

WITHIN = 5.0

MAKE = """
from workspaces.access.actors import actor_of
from workspaces.models import Organization, User
from workspaces.credentials.service_accounts import create_service_account, create_service_token
from workspaces.credentials.tokens import TokenParams
from workspaces.tenancy.scope import org_scope
org = Organization.objects.get(slug="home")
with org_scope(org.id):
    actor = actor_of(User.objects.get(email="ada@atlas.example")).enter(org)
    row = create_service_account(actor=actor, org=org, name="{name}")
    print(create_service_token(actor=actor, account=row, params=TokenParams("ci", ["all"])).secret)
"""
SWITCH_OFF = """
from workspaces.models import User
User.objects.filter(email="{name}@home.service.invalid").update(is_active=False)
"""
END_OVERLAP = """
from portal.core import clock
from workspaces.models import AccessToken
from workspaces.tenancy.scope import platform_scope
with platform_scope("test"):
    rows = AccessToken.objects.filter(user__email="{name}@home.service.invalid").exclude(successor_id=None)
    rows.update(expires_at=clock.now())
"""


def by_revoking(site, name: str) -> None:
    [token] = site.api.get(f"service-accounts/{name}/tokens").json()["items"]
    site.api.delete(f"tokens/{token['id']}").raise_for_status()


def by_rotating_without_overlap(site, name: str) -> None:
    [token] = site.api.get(f"service-accounts/{name}/tokens").json()["items"]
    site.api.post(f"tokens/{token['id']}/rotate", json={"overlap_hours": 0}).raise_for_status()


def by_the_end_of_the_overlap(site, name: str) -> None:
    [token] = site.api.get(f"service-accounts/{name}/tokens").json()["items"]
    site.api.post(f"tokens/{token['id']}/rotate", json={"overlap_hours": 1}).raise_for_status()
    site.portal.manage("shell", "-v", "0", "-c", END_OVERLAP.format(name=name))


def by_switching_off(site, name: str) -> None:
    site.portal.manage("shell", "-v", "0", "-c", SWITCH_OFF.format(name=name))


def by_removing(site, name: str) -> None:
    site.api.delete(f"service-accounts/{name}").raise_for_status()


ENDS = [
    by_revoking,
    by_rotating_without_overlap,
    by_the_end_of_the_overlap,
    by_switching_off,
    by_removing,
]


@pytest.mark.integration
@pytest.mark.parametrize("end", ENDS)
async def test_ended_access_ends_everywhere_within_five_seconds(site, end):
    name = end.__name__.replace("_", "-")
    secret = site.portal.manage("shell", "-v", "0", "-c", MAKE.format(name=name)).splitlines()[-1]
    with httpx.Client(
        base_url=site.portal.url, headers={"Authorization": f"Bearer {secret}"}
    ) as program:
        async with site.opened(secret) as socket:
            assert json.loads(await socket.recv())["op"] == "hello"
            assert statuses(program) == [200, 200]
            await asyncio.to_thread(end, site, name)
            began = time.monotonic()
            assert statuses(program) == [401, 401]
            assert await closing_code(socket) == 4401
            seconds = time.monotonic() - began
    assert seconds < WITHIN


def statuses(program: httpx.Client) -> list[int]:
    """Return the status codes of the REST API and of a page."""
    return [program.get(path).status_code for path in ("/api/v1/orgs/home/teams", "/home/teams")]


async def closing_code(socket) -> int:
    async with asyncio.timeout(WITHIN + 5):
        try:
            while True:
                await socket.recv()
        except ConnectionClosed as error:
            return error.rcvd.code if error.rcvd else 0
