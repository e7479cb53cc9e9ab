"""Slow and greedy clients, at the embedded server and at nginx with the configuration we write."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from portal.asgi import threaded_http
from portal.process.asgi_types import ASGIApp
from portal.process.nginx import find_nginx, write_configuration
from portal.process.sockets import listen, listen_unix
from tests.portal.process.slow_app import PIECE, PIECES, app
from tests.rig.environment import ROOT
from tests.rig.processes import Folder, free_port, is_listening, wait_until
from tests.rig.slow_clients import slow_clients


@contextmanager
def serving(http: ASGIApp, sock: socket.socket | None = None) -> Iterator[int]:
    """Serve the application as embedded mode does, and yield the port."""
    sock = sock or listen("127.0.0.1", 0)
    server = uvicorn.Server(
        uvicorn.Config(
            http, http="h11", lifespan="off", log_level="error", timeout_graceful_shutdown=1
        )
    )
    thread = threading.Thread(target=server.run, args=([sock],), daemon=True)
    thread.start()
    wait_until(lambda: server.started, "the server is up")
    try:
        yield sock.getsockname()[1] if sock.family == socket.AF_INET else 0
    finally:
        server.should_exit = True
        thread.join(10)


@contextmanager
def behind_nginx() -> Iterator[int]:
    """Serve the application with granian behind nginx, and yield the port."""
    folder, port = Folder(), free_port()
    granian = ["-m", "granian", "--interface", "wsgi", "--uds", str(folder.path / "web.sock")]
    options = ["--no-ws", "--no-log", "--blocking-threads", "8"]
    run = folder.path / "run"  # of the MUSTER_HOME folder.path
    configuration = write_configuration(run, folder.path, "127.0.0.1", port)
    (folder.path / "blobs/files/ab").mkdir(parents=True)
    (folder.path / "blobs/files/ab/stored").write_bytes(b"0123456789")
    try:
        folder.start(
            "granian",
            [sys.executable, *granian, *options, "tests.portal.process.slow_app:app"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        folder.start("nginx", [find_nginx(), "-e", "stderr", "-c", str(configuration)])
        wait_until(lambda: is_listening(port), "nginx listens")
        wait_until(lambda: httpx.get(f"http://127.0.0.1:{port}/").is_success, "granian answers")
        uploads = listen_unix(folder.path / "uploads.sock")
        with serving(threaded_http(app, judges_heads=True), uploads):
            yield port
    finally:
        folder.close()


@pytest.fixture(scope="module", params=["embedded", "server"])
def port(request) -> Iterator[int]:
    with serving(threaded_http(app)) if request.param == "embedded" else behind_nginx() as made:
        yield made


@pytest.mark.parametrize("kind", ["head", "body", "reader"])
def test_forty_slow_clients_leave_the_server_answering(port, kind):
    with (
        slow_clients(port, kind, 40, path="/log"),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client,
    ):
        for _ in range(3):
            assert client.post("/", content=iter([b"x" * 70_000, b"y"])).text == "70001"
        assert client.get("/log").content == PIECE * PIECES


def test_body_over_the_limit_is_413_before_it_is_sent(port):
    with socket.create_connection(("127.0.0.1", port), 10) as sock:
        sock.sendall(
            b"POST /api/v1/orgs/atlas/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n"
        )
        message = b""
        while b'"code": "too_large"' not in message:
            more = sock.recv(65536)
            assert more, message
            message += more
    assert message.startswith(b"HTTP/1.1 413 ")
    assert b"application/problem+json" in message


def test_chunked_body_over_the_limit_is_413(port):
    pieces = (b"x" * 100_000 for _ in range(90))
    answer = httpx.post(f"http://127.0.0.1:{port}/accounts/login/", content=pieces)
    assert answer.status_code == 413


def test_nginx_sends_stored_files_only_when_the_portal_says_so():
    with (
        behind_nginx() as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client,
    ):
        found = client.get("/stored?ab/stored")
        assert found.content == b"0123456789"
        assert found.headers["Content-Type"] == "application/octet-stream"
        assert found.headers["Content-Disposition"] == "attachment"
        assert found.headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in found.headers["Content-Security-Policy"]
        part = client.get("/stored?ab/stored", headers={"Range": "bytes=2-4"})
        assert (part.status_code, part.content) == (206, b"234")
        assert client.get("/_files/ab/stored").status_code == 404
        assert client.get("/stored?../../run/nginx.conf").status_code != 200


def test_upload_may_take_long_while_it_keeps_coming():
    def slowly():
        for _ in range(5):
            time.sleep(0.15)
            yield b"x" * 100

    path = "/api/v1/orgs/atlas/runs/1/artifacts/a"
    with serving(threaded_http(app, seconds=0.4)) as port:
        url = f"http://127.0.0.1:{port}"
        assert httpx.put(f"{url}{path}", content=slowly()).text == "500"
        assert httpx.put(f"{url}/api/v1/x", content=slowly()).status_code == 408


def test_body_that_comes_too_slowly_is_408():
    with (
        serving(threaded_http(app, seconds=0.3)) as port,
        socket.create_connection(("127.0.0.1", port), 10) as sock,
    ):
        sock.sendall(b"POST /api/v1/x HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx")
        assert sock.recv(13) == b"HTTP/1.1 408 "


@pytest.mark.parametrize("received", [0, 1, 300_000])
def test_client_that_leaves_during_a_stream_leaves_nothing_open(port, received):
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=10) as client:
        wait_until(
            lambda: client.get("/open").text == "0", "the answers of other tests are closed", 5
        )
        with socket.create_connection(("127.0.0.1", port), 10) as sock:
            sock.sendall(b"GET /slow-log HTTP/1.1\r\nHost: x\r\n\r\n")
            wait_until(lambda: client.get("/open").text == "1", "the answer is being made", 5)
            while received > 0:
                received -= len(sock.recv(65536))
        wait_until(lambda: client.get("/open").text == "0", "the answer is closed", 5)


@pytest.mark.parametrize("size", [0, 1, 70_000, 2_000_000])
def test_body_is_complete_with_length_and_chunked(port, size):
    data = b"x" * size
    for content in (data, iter([data[: size // 2], data[size // 2 :]])):
        answer = httpx.post(f"http://127.0.0.1:{port}/", content=content)
        assert answer.text == str(size)


def test_upgrade_with_a_body_keeps_the_body(port):
    headers = {"Upgrade": "foo", "Connection": "Upgrade"}
    answer = httpx.post(f"http://127.0.0.1:{port}/", content=b"abc", headers=headers)
    assert answer.text == "3"


@pytest.mark.parametrize(
    ("is_behind_proxy", "expected"), [("", "127.0.0.1 http"), ("1", "10.0.0.2 https")]
)
def test_nginx_passes_the_client_that_it_knows(monkeypatch, is_behind_proxy, expected):
    monkeypatch.setenv("MUSTER_BEHIND_PROXY", is_behind_proxy)
    headers = {"X-Forwarded-For": "10.0.0.1, 10.0.0.2", "X-Forwarded-Proto": "https"}
    headers["X_Forwarded_For"] = "10.0.0.3"
    with behind_nginx() as port:
        assert httpx.get(f"http://127.0.0.1:{port}/client", headers=headers).text == expected


def test_missing_web_process_is_502_with_retry_after():
    folder, port = Folder(), free_port()
    run = folder.path / "run"  # of the MUSTER_HOME folder.path
    configuration = write_configuration(run, folder.path, "127.0.0.1", port)
    (folder.path / "blobs/files/ab").mkdir(parents=True)
    (folder.path / "blobs/files/ab/stored").write_bytes(b"0123456789")
    try:
        folder.start("nginx", [find_nginx(), "-e", "stderr", "-c", str(configuration)])
        wait_until(lambda: is_listening(port), "nginx listens")
        answer = httpx.get(f"http://127.0.0.1:{port}/")
    finally:
        folder.close()
    assert (answer.status_code, answer.headers["retry-after"]) == (502, "1")
