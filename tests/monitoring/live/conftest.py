"""A real portal per module, and websocket clients."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect

from monitoring.live.subscription import HEAD
from tests.rig.portal import Portal
from tests.rig.processes import wait_until
from tests.rig.redis import start_redis

STRANGER = """
from workspaces.access.actors import actor_of
from workspaces.models import Organization, User
from workspaces.credentials.tokens import create_token
from workspaces.organizations.services import create_org
from workspaces.tenancy.scope import no_scope, org_scope
with no_scope():
    cyd = User.objects.create_user("cyd@borealis.example", "a long password of Cyd", name="Cyd")
    dot = User.objects.create_user("dot@platform.example", "a long password of Dot", name="Dot", is_operator=True)
    org = create_org(actor=actor_of(dot), slug="borealis", name="Borealis", owner=cyd)
with org_scope(org.id):
    token = create_token(actor=actor_of(cyd).enter(org), org=org, name="test", scopes=["all"])
print(Organization.objects.get(slug="home").id.hex, token.secret)
"""


@dataclass
class Site:
    """The portal with Ada's organization, her API client and token, and a token of another one."""

    portal: Portal
    org: str  # id
    api: httpx.Client
    token: str
    outsider: str

    @property
    def socket(self) -> str:
        return f"ws://127.0.0.1:{self.portal.port}/ws/live"

    def submit(self, run: str) -> tuple[int, str]:
        """Submit a job; return its number and the topic of its log."""
        answer = self.api.post(
            "jobs", json={"team": "default", "spec": {"run": run, "resources": {"cpus": 0.1}}}
        )
        assert answer.status_code == httpx.codes.CREATED, answer.text
        number = answer.json()["number"]
        attempt = self.api.get(f"jobs/{number}").json()["attempts"][0]["id"]
        return number, f"log:{UUID(attempt).hex}"

    def kill_redis(self) -> None:
        """Kill Redis with SIGKILL, if there is one."""
        if self.portal.redis:
            os.kill(self.portal.redis.pid, signal.SIGKILL)

    def start_redis(self) -> None:
        """Start an empty Redis in place of the killed one."""
        if self.portal.redis:
            self.portal.redis = start_redis(self.portal.folder, port=self.portal.redis.port)

    def opened(self, token: str | None = None, **more: Any) -> connect:
        headers = (
            {"Authorization": f"Bearer {self.token if token is None else token}"}
            if token != ""
            else {}
        )
        return connect(
            self.socket,
            additional_headers=headers | more.pop("headers", {}),
            max_size=1 << 23,
            **more,
        )


@pytest.fixture(scope="module")
def site(running_portal: Portal) -> Iterator[Site]:
    portal, token = running_portal, running_portal.token()
    with httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home/",
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
    ) as api:
        wait_until(lambda: api.get("nodes").json()["items"], "the machine is listed", 120)
        org, outsider = portal.manage("shell", "-v", "0", "-c", STRANGER).splitlines()[-1].split()
        yield Site(portal, org, api, token, outsider)


@dataclass
class Reader:
    """A viewer of one log; `at` is the next byte that it wants."""

    topic: str
    data: bytearray = field(default_factory=bytearray)
    end: dict[str, Any] | None = None

    async def read(
        self,
        socket: ClientConnection,
        until: Callable[[Reader], bool],
        seconds: float = 30,
        *,
        again: bool = True,
    ) -> None:
        """Subscribe at the current offset if needed, and read until `until` is true."""
        if again:
            await socket.send(
                json.dumps(
                    {"op": "subscribe", "id": 5, "topic": self.topic, "after": len(self.data)}
                )
            )
        async with asyncio.timeout(seconds):
            while not until(self):
                self._take(await socket.recv())

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            number, _, start, at_ms = HEAD.unpack_from(message)
            assert (number, start) == (5, len(self.data)) and at_ms > 1_600_000_000_000
            self.data += message[HEAD.size :]
            return
        frame = json.loads(message)
        assert frame["op"] in {"hello", "subscribed", "end"}, frame
        if frame["op"] == "end":
            self.end = frame["certificate"]
