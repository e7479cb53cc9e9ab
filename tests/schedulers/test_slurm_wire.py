"""Test persistent connections to slurmrestd: a server closing them never affects a job."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from schedulers.contract import Unavailable
from schedulers.slurm.http import CONNECTIONS, HttpClient
from tests.rig.http_server import LoopbackServer


class Server(LoopbackServer):
    """Echoes bodies and counts connections.

    `/hang-up` closes the connection after its response without announcing it.
    """

    def __init__(self) -> None:
        self.connections, self.most, self.now, self.lock = 0, 0, 0, threading.Lock()
        super().__init__(Echo)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)  # from now on the client can see that it is closed
        with self.lock:
            self.now -= 1


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.connections += 1
            self.server.now += 1
            self.server.most = max(self.server.most, self.server.now)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.path.endswith("/hang-up")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def test_sequential_requests_share_one_connection(server):
    wire = HttpClient(server.url)
    assert [wire.send("POST", "/a", b"%d" % n, {}) for n in range(5)] == [
        (200, b"%d" % n) for n in range(5)
    ]
    assert server.connections == 1


def test_connection_closed_by_server_is_not_reused(server, wait_for):
    wire = HttpClient(server.url)
    for word in (b"one", b"two"):
        assert wire.send("POST", "/hang-up", word, {}) == (200, word)
        wait_for(lambda: server.now == 0)
    assert server.connections == 2


def test_connections_are_limited(server):
    wire, result = HttpClient(server.url), []
    threads = [
        threading.Thread(
            target=lambda: result.append(wire.send("POST", "/a", b"x" * 100_000, {})[0])
        )
        for _ in range(4 * CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert result == [200] * len(threads) and server.most <= CONNECTIONS


def test_path_prefix_is_kept(server):
    assert HttpClient(f"{server.url}/slurmrestd").send("POST", "/hang-up", b"x", {}) == (200, b"x")


def test_unresponsive_server_is_reported():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        wire = HttpClient(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        with pytest.raises(Unavailable, match="did not answer in time"):
            wire.send("POST", "/a", b"x", {})


def test_unreachable_server_is_reported():
    with pytest.raises(Unavailable, match="cannot be reached: Connection refused"):
        HttpClient("http://127.0.0.1:1").send("POST", "/a", b"x", {})
