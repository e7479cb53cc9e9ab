"""Limits on slow and greedy connections, in both modes."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from portal.asgi import threaded_http
from portal.process import limits
from portal.process.asgi_types import ASGIApp
from portal.process.front import Relay
from portal.process.limits import Connection, Limits, Pace
from portal.process.prepare import listen
from tests.portal.process.slow_app import PIECE, PIECES, app
from tests.rig.environment import ROOT
from tests.rig.processes import Folder, wait_until
from tests.rig.slow_clients import slow_clients


@contextmanager
def serving(http: ASGIApp) -> Iterator[uvicorn.Server]:
    sock = listen("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(
            http, http=Connection, lifespan="off", log_level="error", timeout_graceful_shutdown=1
        )
    )
    server.port = sock.getsockname()[1]  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the server is up")
    try:
        yield server
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module", params=["embedded", "server"])
def server(request) -> Iterator[uvicorn.Server]:
    if request.param == "embedded":
        with serving(threaded_http(app)) as made:
            yield made
        return
    folder = Folder()
    path = folder.path / "web.sock"
    argv = [
        sys.executable,
        "-m",
        "granian",
        "--interface",
        "wsgi",
        "--uds",
        str(path),
        "--no-ws",
        "--no-log",
        "--blocking-threads",
        "8",
    ]
    try:
        folder.start(
            "granian",
            [*argv, "tests.portal.process.slow_app:web"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        wait_until(path.exists, "granian listens")
        with serving(Limits(Relay(path))) as made:
            yield made
    finally:
        folder.close()


@pytest.mark.parametrize("kind", ["head", "body", "reader"])
def test_forty_slow_clients_leave_the_server_answering(server, kind):
    with (
        slow_clients(server.port, kind, 40, path="/log"),
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=10) as client,
    ):
        for _ in range(3):
            assert client.post("/", content=iter([b"x" * 70_000, b"y"])).text == "70001"
        assert client.get("/log").content == PIECE * PIECES


def test_body_over_the_limit_is_413_before_it_is_sent(server):
    with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
        sock.sendall(
            b"POST /api/v1/orgs/atlas/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n"
        )
        said = b""
        while b'"code": "too_large"' not in said:
            more = sock.recv(65536)
            assert more, said
            said += more
    assert said.startswith(b"HTTP/1.1 413 ") and b"application/problem+json" in said


def test_chunked_body_over_the_limit_is_413(server):
    pieces = (b"x" * 100_000 for _ in range(27))
    assert (
        httpx.post(f"http://127.0.0.1:{server.port}/accounts/login/", content=pieces).status_code
        == 413
    )


def test_endless_trailers_end_the_connection(server):
    trailers = b"".join(b"X-%d: %s\r\n" % (number, b"v" * 1000) for number in range(20_000))
    with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
        sock.sendall(
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n"
        )
        with pytest.raises(ConnectionError):
            sock.sendall(trailers)


def test_request_that_comes_too_slowly_is_ended(monkeypatch):
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.3)
    with serving(Limits(Relay(ROOT / "nowhere"), sending=Pace(0.3))) as server:
        for sent, answer in (
            (b"GET / HT", b""),
            (b"POST /api/v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", b"HTTP/1.1 408 "),
        ):
            with socket.create_connection(("127.0.0.1", server.port), 10) as sock:  # type: ignore[attr-defined]
                sock.sendall(sent)
                assert sock.recv(13) == answer


def test_accepted_connection_sends_without_delay(server):
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}") as client:
        client.get("/")
        sockets = [
            connection.transport.get_extra_info("socket")
            for connection in server.server_state.connections
        ]
        assert sockets and all(
            sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for sock in sockets
        )


def test_address_over_its_share_is_503_and_others_are_served(server, monkeypatch):
    monkeypatch.setattr(Connection, "share", 10)
    with slow_clients(server.port, "head", 30) as sockets:
        with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
            assert sock.recv(64).startswith(b"HTTP/1.1 503 ")
        with socket.create_connection(("127.0.0.1", server.port), 10, ("127.0.0.2", 0)) as other:
            other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert other.recv(64).startswith(b"HTTP/1.1 200 ")
        sockets[-1].settimeout(10)
        assert sockets[-1].recv(64).startswith(b"HTTP/1.1 503 ")


@pytest.mark.parametrize("received", [0, 1, 300_000])
def test_client_that_leaves_between_portions_leaves_nothing_open(server, received):
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=10) as client:
        wait_until(
            lambda: client.get("/open").text == "0", "the answers of other tests are closed", 5
        )
        with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
            sock.sendall(b"GET /slow-log HTTP/1.1\r\nHost: x\r\n\r\n")
            wait_until(lambda: client.get("/open").text == "1", "the answer is being made", 5)
            while received > 0:
                received -= len(sock.recv(65536))
        wait_until(lambda: client.get("/open").text == "0", "the answer is closed", 5)


def test_upgrade_with_a_body_is_400_and_not_an_empty_body(server):
    headers = {"Upgrade": "foo", "Connection": "Upgrade"}
    assert (
        httpx.post(f"http://127.0.0.1:{server.port}/", content=b"abc", headers=headers).status_code
        == 400
    )
