"""Who has a place for a large body: people share them, and slow uploads give theirs up."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from portal.core import clock
from portal.core.protocols import BODY
from portal.process import bodies
from portal.process.bodies import Bodies, Uploads
from tests.stand_in import StandIn

PIECE, SIZE = b"x" * 1024, 60 << 20


@dataclass
class Upload:
    """A request with a large body, whose client sends what `send` puts into its queue."""

    person: str
    sent: asyncio.Queue[dict[str, Any]] = field(default_factory=asyncio.Queue)
    status: int = 0
    headers: dict[bytes, bytes] = field(default_factory=dict)
    body: bytes = b""

    def send(self, data: bytes, *, more_body: bool = True) -> None:
        self.sent.put_nowait({"type": "http.request", "body": data, "more_body": more_body})

    async def answered(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
        else:
            self.body += message.get("body", b"")


async def _store(scope, _receive, send) -> None:
    """Read the body in a thread, as Django does, and answer with the number of bytes."""
    stream = scope[BODY]
    stream.who = lambda: scope["person"]

    def read() -> int:
        size = 0
        try:
            while data := stream.read(4096):
                size += len(data)
        except OSError:
            pass  # a resumable upload keeps what came
        return size

    size = await asyncio.get_running_loop().run_in_executor(scope["threads"], read)
    body = b"%d" % size
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


class Site:
    def __init__(self, total: int, each: int) -> None:
        self.uploads = Uploads(total, each)
        self.app = Bodies(_store, _store, self.uploads)  # type: ignore[arg-type]
        self.threads = ThreadPoolExecutor(40)
        self.tasks: list[asyncio.Task[None]] = []

    async def begin(self, person: str) -> Upload:
        """Send the head and the first bytes, and wait until they are judged."""
        upload = Upload(person)
        scope: dict[str, Any] = {
            "type": "http",
            "path": "/api/v1/orgs/home/datasets/d/contents",
            "person": person,
        }
        scope["threads"] = self.threads
        scope["headers"] = [(b"content-length", b"%d" % SIZE), (b"expect", b"100-continue")]
        upload.send(PIECE)
        self.tasks.append(asyncio.create_task(self.app(scope, upload.sent.get, upload.answered)))  # type: ignore[arg-type]
        await until(lambda: upload.status or upload.sent.empty())
        return upload

    async def end(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await asyncio.to_thread(self.threads.shutdown)


async def until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - the middleware has no event for it
            await asyncio.sleep(0.005)


@pytest.fixture
def time(monkeypatch) -> SimpleNamespace:
    passed = SimpleNamespace(seconds=0.0)
    ahead = lambda: clock.monotonic() + passed.seconds  # noqa: E731
    monkeypatch.setattr(bodies, "clock", StandIn(clock, monotonic=ahead))
    monkeypatch.setattr(bodies, "_LINGER", 0.0)
    return passed


def test_person_has_as_many_places_as_are_left_for_others():
    async def attack() -> None:
        site = Site(32, 12)
        held = {}
        for person in ("ada", "ben", "cyd"):
            refused = None
            while not refused:
                upload = await site.begin(person)
                held[person] = held.get(person, 0) + (not upload.status)
                refused = upload.status and upload
            assert (refused.status, refused.headers[b"retry-after"]) == (429, b"5")
        assert held == {"ada": 12, "ben": 10, "cyd": 5}
        said = json.loads(refused.body)["detail"]
        assert said.startswith("You have 5 uploads in progress, and the other 5 places are left")
        assert not (await site.begin("dot")).status
        await site.end()

    asyncio.run(attack())


def test_slow_upload_gives_its_place_to_one_who_waits(time):
    async def attack() -> None:
        site = Site(3, 2)
        slow, fast, _ = [await site.begin(person) for person in ("ada", "ada", "ben")]
        assert (await site.begin("dot")).status == 503
        time.seconds = 61
        for _ in range(2 * 1024):
            fast.send(PIECE)
        await until(fast.sent.empty)
        assert not (await site.begin("dot")).status
        await until(lambda: slow.status)
        told = json.loads(slow.body)
        assert (slow.status, told["code"], told["retryable"]) == (408, "upload_too_slow", True)
        assert "others waited" in told["detail"] and slow.headers[b"retry-after"] == b"5"
        fast.send(b"", more_body=False)
        await until(lambda: fast.status)
        assert (fast.status, int(fast.body)) == (200, (2 << 20) + 1024)
        await site.end()

    asyncio.run(attack())


def test_slow_upload_stays_while_nobody_waits(time):
    async def attack() -> None:
        site = Site(4, 2)
        slow = await site.begin("ada")
        time.seconds = 600
        assert not (await site.begin("ben")).status
        slow.send(b"", more_body=False)
        await until(lambda: slow.status)
        assert slow.status == 200
        await site.end()

    asyncio.run(attack())


def test_upload_that_the_portal_keeps_waiting_is_not_slow(time):
    async def busy() -> None:
        site = Site(1, 1)
        stream = (await site.begin("ada")) and next(iter(site.uploads._places))
        stream._waits_since = bodies.clock.monotonic()
        time.seconds = 600
        assert stream.rate() is None
        stream._waits_since = 0.0
        assert stream.rate() is not None
        await site.end()

    asyncio.run(busy())
