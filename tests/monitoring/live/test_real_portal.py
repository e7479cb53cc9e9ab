"""Websockets of a real portal: logs across reconnects, authentication, invalid messages."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from tests.monitoring.live.conftest import Reader, Site
from tests.rig.seeds import courses

LINES = 4000
SAYS = (
    'echo "line $i of the log, in a job that writes while it is watched"; [ $((i % 100)) = 0 ] '
    "&& sleep 0.05"
)
WRITES = f"for i in $(seq {LINES}); do {SAYS}; done; true"
NO_TOPIC = "log:" + "0" * 32


async def next_message(socket, seconds: float = 10) -> dict[str, Any]:
    """Return the next message other than hello."""
    async with asyncio.timeout(seconds):
        while (message := json.loads(await socket.recv()))["op"] == "hello":
            pass
    return message


async def response_to(site: Site, message: str | bytes, token: str | None = None) -> dict[str, Any]:
    """Return the answer to one message on a new socket."""
    async with site.opened(token) as socket:
        await socket.send(message)
        return await next_message(socket)


def subscribe(topic: Any, **more: Any) -> str:
    return json.dumps({"op": "subscribe", "id": 1, "topic": topic, **more})


def downloaded(site: Site, number: int, wait_for) -> bytes:
    wait_for(lambda: site.api.get(f"jobs/{number}/logs/certificate").json()["certificate"], 30)
    return site.api.get(f"jobs/{number}/logs/download").content


NONSENSE: list[str | bytes] = [
    *(
        "",
        "{",
        "[]",
        "null",
        "1",
        '"x"',
        "{}",
        '{"op": 3}',
        '{"op": "shout"}',
        '{"op": "subscribe"}',
        "[" * 2000,
    ),
    *(
        subscribe(5),
        subscribe("log:../../etc"),
        subscribe("log:" + "g" * 32),
        subscribe("secrets:" + "0" * 32),
    ),
    *(subscribe(NO_TOPIC, after=wrong) for wrong in (-1, "0", 2**63, 0.5)),
    *(subscribe(NO_TOPIC, id=wrong) for wrong in (-1, "x", True, 2**32)),
    '{"op": "ping", "x": "' + "y" * 5000 + '"}',
    b"\x00\x01",
]


# The hub of embedded mode, which is in the portal's process: tests/e2e/test_first_job.py
async def test_live_log_arrives_complete_with_its_end(site, wait_for):
    number, topic = site.submit(WRITES)
    reader = Reader(topic)
    async with site.opened() as socket:
        await reader.read(socket, lambda r: r.end is not None, 60)
    log = downloaded(site, number, wait_for)
    assert bytes(reader.data) == log and log.count(b"\n") == LINES
    assert reader.end["complete"] and reader.end["sha256"] == hashlib.sha256(log).hexdigest()
    assert reader.end["text"] == f"The log is complete: {len(log):,} bytes."


@courses(range(3), few=1)
async def test_reconnecting_socket_resumes_at_its_offset(site, wait_for, seed):
    chance, cuts = random.Random(seed), 0
    number, topic = site.submit(WRITES)
    reader = Reader(topic)
    while reader.end is None:
        enough = len(reader.data) + chance.randrange(1, 60_000) + (0 if cuts < 8 else 1 << 30)
        async with site.opened() as socket:
            await reader.read(
                socket, lambda r, enough=enough: r.end is not None or len(r.data) >= enough, 60
            )
            cuts += 1
            socket.transport.abort()
    assert cuts > 3
    assert bytes(reader.data) == downloaded(site, number, wait_for)


@pytest.mark.integration
async def test_finished_log_is_read_like_a_live_one(site, wait_for):
    number, topic = site.submit(r"printf 'a\377\000b'; exit 3")
    assert downloaded(site, number, wait_for) == b"a\xff\x00b"
    reader = Reader(topic, bytearray(b"a"))
    async with site.opened() as socket:
        await reader.read(socket, lambda r: r.end is not None)
    assert bytes(reader.data) == b"a\xff\x00b" and reader.end["closed_by"] == "exit 3"


async def test_job_list_reports_new_job_within_seconds(site):
    async with site.opened() as socket:
        await socket.send(subscribe(f"jobs:{site.org}"))
        assert (await next_message(socket))["op"] == "subscribed"
        site.submit("true")
        assert (await next_message(socket, 5))["op"] == "event"


async def test_websocket_without_credentials_is_closed(site):
    for headers in ({}, {"Authorization": "Bearer mst_wrong"}, {"Authorization": "Basic eDp5"}):
        assert await _refused(site, headers), headers


async def test_websocket_from_other_site_cannot_use_the_session(site):
    cookie = _session(site)
    async with site.opened("", headers={"Cookie": cookie}, origin=site.portal.url) as socket:
        assert json.loads(await socket.recv())["op"] == "hello"
    assert await _refused(site, {"Cookie": cookie}, origin="https://evil.example")
    assert await _refused(site, {"Cookie": cookie})


async def test_log_of_another_organization_is_not_found(site):
    _, topic = site.submit("true")
    for wanted in (topic, NO_TOPIC):
        message = await response_to(site, subscribe(wanted, after=0), site.outsider)
        assert (message["op"], message["id"], message["code"]) == ("error", 1, "not_found")


async def test_invalid_message_is_answered_and_socket_stays_open(site):
    for message in NONSENSE:
        async with site.opened() as socket:
            await socket.send(message)
            texts = await next_message(socket)
            assert texts["op"] == "error" and texts["message"], message
            assert texts["code"] in {"invalid", "invalid_input", "not_found"}, message
            await socket.send('{"op": "ping"}')
            assert await next_message(socket) == {"op": "pong"}, message


@pytest.mark.integration
async def test_subscription_number_in_use_is_refused(site):
    _, topic = site.submit("sleep 2")
    async with site.opened() as socket:
        for expected in ("subscribed", "error"):
            await socket.send(subscribe(topic))
            assert (await next_message(socket))["op"] == expected
        await socket.send('{"op": "unsubscribe", "id": 1}')
        await socket.send(subscribe(topic))
        assert (await next_message(socket))["op"] == "subscribed"


async def test_socket_closes_within_seconds_after_token_revocation(site):
    answer = site.api.post("tokens", json={"name": "short", "scopes": ["all"]}).json()
    _, topic = site.submit("sleep 5")
    async with site.opened(answer["token"]) as socket:
        await socket.send(subscribe(topic, after=0))
        assert (await next_message(socket))["op"] == "subscribed"
        site.api.delete(f"tokens/{answer['id']}").raise_for_status()
        began = time.monotonic()
        assert await _closing_code(socket) == 4401
    assert time.monotonic() - began < 5


@pytest.mark.integration
async def test_socket_closes_within_seconds_after_session_end(site):
    cookie = _session(site)
    async with site.opened("", headers={"Cookie": cookie}, origin=site.portal.url) as socket:
        assert json.loads(await socket.recv())["op"] == "hello"
        site.portal.manage("shell", "-v", "0", "-c", SIGN_OUT.format(key=cookie.partition("=")[2]))
        began = time.monotonic()
        assert await _closing_code(socket) == 4401
    assert time.monotonic() - began < 5


@pytest.mark.integration
async def test_socket_of_removed_member_closes_and_others_stay_open(site):
    token = site.portal.manage("shell", "-v", "0", "-c", GUEST).splitlines()[-1]
    _, topic = site.submit("sleep 8")
    async with site.opened(token) as guest, site.opened() as ada:
        await guest.send(subscribe(f"jobs:{site.org}"))
        await ada.send(subscribe(topic))
        assert (await next_message(guest))["op"] == (await next_message(ada))["op"] == "subscribed"
        site.api.delete("members/guest@atlas.example").raise_for_status()
        assert await _closing_code(guest, 5) == 4401  # removing a member also revokes the tokens
        await ada.send('{"op": "ping"}')
        assert await next_message(ada) == {"op": "pong"}


@pytest.mark.integration
async def test_live_log_is_complete_after_redis_restarts_empty(site, wait_for):
    """In embedded mode there is no Redis; the log must be complete as well."""
    number, topic = site.submit(WRITES)
    reader = Reader(topic)
    async with site.opened() as socket:
        await reader.read(socket, lambda r: len(r.data) > 20_000)
        site.kill_redis()
        await reader.read(socket, lambda r: len(r.data) > 40_000, again=False)
        site.start_redis()
        await reader.read(socket, lambda r: r.end is not None, again=False)
    assert bytes(reader.data) == downloaded(site, number, wait_for)


async def _closing_code(socket: ClientConnection, seconds: float = 10) -> int:
    """Return the close code, ignoring earlier messages."""
    async with asyncio.timeout(seconds):
        try:
            while True:
                await socket.recv()
        except ConnectionClosed as error:
            return error.rcvd.code if error.rcvd else 0


async def _refused(site: Site, headers: dict[str, str], **more: Any) -> bool:
    """Return whether it is closed as unauthenticated before any message."""
    async with site.opened("", headers=headers, **more) as socket:
        try:
            return not await socket.recv()
        except ConnectionClosed as error:
            return error.rcvd is not None and error.rcvd.code == 4401


def _session(site: Site) -> str:
    with site.portal.browser() as browser:
        return next(
            f"{one.name}={one.value}" for one in browser.cookies.jar if "session" in one.name
        )


SIGN_OUT = """
from django.contrib.sessions.models import Session
assert Session.objects.filter(session_key="{key}").delete()[0]
"""
GUEST = """
from workspaces.access.actors import actor_of
from workspaces.models import Organization, User
from workspaces.credentials.tokens import create_token
from workspaces.organizations.services import add_member
from workspaces.tenancy.scope import no_scope, org_scope
with no_scope():
    guest = User.objects.create_user("guest@atlas.example", "a long password of a guest", name="Guest")
    org = Organization.objects.get(slug="home")
    ada = actor_of(User.objects.get(email="ada@atlas.example"))
with org_scope(org.id):
    add_member(actor=ada.enter(org), org=org, email=guest.email, has_agreed=True)
    print(create_token(actor=actor_of(guest).enter(org), org=org, name="test", scopes=["all"]).secret)
"""
