"""Requests that are no HTTP, or too large, are refused in JSON by what stands before Django."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest

from tests.rig.portal import Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder
from tests.rig.redis import start_redis

pytestmark = [pytest.mark.integration, pytest.mark.both_databases]
PATH = "/api/v1/orgs/home/jobs"
# The head of a request after its first line's method and path; status of embedded and server mode.
REQUESTS = {
    "unknown host": ("GET", PATH, "HTTP/1.1", "Host: evil.example"),
    "broken host": ("GET", PATH, "HTTP/1.1", "Host: a b/c"),
    "no host": ("GET", PATH, "HTTP/1.1", ""),
    "large header": ("GET", PATH, "HTTP/1.1", f"Host: HOST\r\nX-A: {'a' * 70_000}"),
    "bad escape": ("GET", f"{PATH}/%zz", "HTTP/1.1", "Host: HOST"),
    "NUL": ("GET", f"{PATH}/%00", "HTTP/1.1", "Host: HOST"),
    "lower case": ("get", PATH, "HTTP/1.1", "Host: HOST"),
    "unknown method": ("FROB", PATH, "HTTP/1.1", "Host: HOST"),
    "TRACE": ("TRACE", PATH, "HTTP/1.1", "Host: HOST"),
    "long address": ("GET", f"{PATH}?q={'a' * 70_000}", "HTTP/1.1", "Host: HOST"),
    "bad length": ("POST", PATH, "HTTP/1.1", "Host: HOST\r\nContent-Length: abc"),
    "two lengths": (
        "POST",
        PATH,
        "HTTP/1.1",
        "Host: HOST\r\nContent-Length: 1\r\nContent-Length: 2",
    ),
    "unknown coding": ("POST", PATH, "HTTP/1.1", "Host: HOST\r\nTransfer-Encoding: frob"),
    "bad chunk": ("POST", PATH, "HTTP/1.1", "Host: HOST\r\nTransfer-Encoding: chunked"),
    "version": ("GET", PATH, "HTTP/3.0", "Host: HOST"),
    "space": ("GET", f"{PATH}/a b", "HTTP/1.1", "Host: HOST"),
}


@pytest.fixture(scope="module")
def portal(request, mode) -> Iterator[Portal]:
    folder, url, redis = Folder(), "", ""
    if mode == "server":
        url = create_database(request.getfixturevalue("postgres_url"), "malformed")
        redis = start_redis(folder).url
    portal = Portal(folder, url, redis)
    try:
        portal.start()
        yield portal
    finally:
        portal.stop()
        folder.close()


def _answer(port: int, head: str) -> tuple[int, str, bytes]:
    found = b""
    with socket.create_connection(("127.0.0.1", port), 20) as sock, suppress(ConnectionError):
        sock.sendall(head.encode("latin1") + b"zz\r\n")
        while data := sock.recv(65536):
            found += data
    head, _, body = found.decode("latin1").partition("\r\n\r\n")
    lines = [line.partition(":") for line in head.lower().split("\r\n")]
    kind = next((value.strip() for name, _, value in lines if name == "content-type"), "")
    return int(head[9:12] or 0), kind, body.encode("latin1")


def test_body_that_nobody_reads_does_not_harm_the_next_request(portal):
    found = set()
    with httpx.Client(base_url=portal.url, timeout=60) as client:
        for _ in range(100):
            refused = client.post("/api/v1/nowhere", content=b"x" * 60_000)
            found |= {refused.status_code, client.post(PATH, json={}).status_code}
    assert found == {404, 401}


def test_malformed_requests_are_refused_in_json(portal, mode):
    wrong = {}
    for name, (method, path, version, headers) in REQUESTS.items():
        lines = [f"{method} {path} {version}", headers.replace("HOST", f"127.0.0.1:{portal.port}")]
        head = "\r\n".join([*filter(None, lines), "Connection: close", "", ""])
        status, kind, body = _answer(portal.port, head)
        # uvicorn, which is alone in embedded mode, refuses what is no HTTP in one line of text
        is_text = mode == "embedded" and body.strip(b"0123456789abcdef\r\n").startswith(
            b"Invalid HTTP"
        )
        is_json = kind == "application/problem+json"
        told = json.loads(body[body.index(b"{") : body.rindex(b"}") + 1]) if is_json else {}
        if not 400 <= status < 506 or not (is_text or told.get("status") == status):
            wrong[name] = (status, kind, body[:80])
    assert not wrong
