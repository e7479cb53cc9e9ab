"""The front server relays HTTP to a real granian, complete and in order."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import uvicorn

from portal.process.front import Relay
from portal.process.prepare import listen
from tests.rig.environment import ROOT
from tests.rig.processes import Folder, wait_until

ECHO = "tests.portal.process.echo:app"


class Granian:
    def __init__(self) -> None:
        self.folder = Folder()
        self.path = self.folder.path / "web.sock"
        self.start()

    def start(self) -> None:
        argv = [
            sys.executable,
            "-m",
            "granian",
            "--interface",
            "wsgi",
            "--uds",
            str(self.path),
            "--no-ws",
            "--no-log",
            ECHO,
        ]
        self.process = self.folder.start(
            "granian", argv, env={**os.environ, "PYTHONPATH": str(ROOT)}
        )
        wait_until(self.path.exists, "granian listens")


@pytest.fixture(scope="module")
def granian() -> Iterator[Granian]:
    made = Granian()
    yield made
    made.folder.close()


@pytest.fixture(scope="module")
def front(granian: Granian) -> Iterator[httpx.Client]:
    sock = listen("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(Relay(granian.path), http="httptools", lifespan="off", log_level="error")
    )
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the front door is open")
    with httpx.Client(base_url=f"http://127.0.0.1:{sock.getsockname()[1]}", timeout=20) as client:
        yield client
    server.should_exit = True
    thread.join(10)


def test_relayed_request_is_unchanged(front):
    said = front.get(
        "/a%20b/c?q=1&r=%C3%A9",
        headers={"Host": "muster.example.com", "X-Muster-Client": "6.6.6.6"},
    ).json()
    assert said["path"] == "/a b/c"
    assert said["query"] == "q=1&r=%C3%A9"
    assert said["host"] == "muster.example.com"


def test_relayed_client_address_cannot_be_spoofed(front):
    assert front.get("/", headers={"X-Muster-Client": "6.6.6.6"}).json()["client"] == "127.0.0.1"


@pytest.mark.parametrize("size", [0, 1, 70_000, 6_000_000])
def test_relayed_body_is_complete_with_length_and_chunked(front, size):
    data = bytes(i % 251 for i in range(size))
    plain = front.post("/", content=data).json()
    chunked = front.post("/", content=iter([data[: size // 2], data[size // 2 :]])).json()
    for said in (plain, chunked):
        assert (said["length"], said["sum"]) == (size, sum(data) % 65521)


def test_relayed_large_response_is_complete(front):
    assert front.get("/big").content == b"x" * 65536 * 320


def test_relayed_head_and_204_keep_connection_usable(front):
    assert front.head("/").content == b""
    assert front.get("/nothing").headers["x-kept"] == "yes"
    assert front.get("/after").json()["path"] == "/after"


def test_relayed_concurrent_responses_are_not_mixed_up(front):
    with ThreadPoolExecutor(16) as pool:
        answers = pool.map(lambda n: front.get(f"/{n}", params={"n": n}).json(), range(400))
    assert [(said["path"], said["query"]) for said in answers] == [
        (f"/{n}", f"n={n}") for n in range(400)
    ]


def test_relay_waits_for_restart_of_web_process(front, granian):
    before = int(front.get("/pid").text)
    os.kill(before, signal.SIGKILL)
    granian.process.kill()
    granian.process.wait()
    Path(granian.path).unlink(missing_ok=True)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(front.get, "/pid")  # while nobody listens
        granian.start()
        answer = asked.result()
    assert answer.status_code == 200
    assert int(answer.text) != before


def test_relay_ends_download_when_client_disconnects(front, granian):
    with front.stream("GET", "/big") as answer:
        next(answer.iter_bytes(1000))
    assert front.get("/after").json()["path"] == "/after"
