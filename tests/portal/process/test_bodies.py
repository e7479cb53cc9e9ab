"""Request bodies at a real portal: the head is judged first, and what comes is kept."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import httpx
import pytest

from tests.rig.portal import EMAIL, Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder, wait_until
from tests.rig.redis import start_redis
from tests.rig.slow_clients import slow_clients

pytestmark = [pytest.mark.integration, pytest.mark.both_databases]
GIB, MIB = 1 << 30, 1 << 20
DATASET, WORKSPACE = "/api/v1/orgs/home/datasets/d", "/api/v1/orgs/home/workspaces/w"
MLFLOW = "/mlflow/home/api/2.0/mlflow-artifacts"
# What a stranger may try: method, path, bytes, and the status
ATTEMPTS = (
    ("PUT", f"{DATASET}/contents", GIB, 401),
    ("PATCH", f"{DATASET}/uploads/00000000-0000-0000-0000-000000000000", GIB, 401),
    ("PUT", f"{WORKSPACE}/files/a", GIB, 401),
    ("PUT", "/api/v1/orgs/home/runs/1/artifacts/a", GIB, 401),
    ("PUT", "/api/v1/orgs/home/models/t/m/versions/1/files/a", GIB, 401),
    ("PUT", "/dav/home/w/a", GIB, 401),
    ("PUT", "/hf/upload/forged", GIB, 403),
    ("POST", "/hf/api/datasets/home/d/commit/main", 200 * MIB, 401),
    ("POST", "/xet/home/00000000-0000-0000-0000-000000000000/v1/shards", 100 * MIB, 401),
    ("PUT", f"{MLFLOW}/artifacts/1/r/artifacts/a", GIB, 401),
    ("PUT", f"{MLFLOW}/mpu/upload/1/r/artifacts/a", GIB, 401),
    ("POST", "/mlflow/home/v1/traces", 30 * MIB, 401),
    ("POST", "/api/v1/agent/samples", 4 * MIB, 401),
    ("POST", "/api/v1/orgs/home/people/import", 4 * MIB, 401),
    ("POST", "/scim/v2/corp/Users", 4 * MIB, 401),
    ("POST", "/accounts/login/", 2 * MIB, 403),  # no CSRF cookie
    ("POST", "/nowhere/at/all", 2 * MIB, 404),
    ("PUT", "/healthz", 2 * MIB, 403),  # likewise
)


@dataclass
class Site:
    portal: Portal
    token: str
    api: httpx.Client

    def send(
        self, method: str, path: str, size: int, *headers: str, with_token: bool = False
    ) -> socket.socket:
        """Send the head of a request, and return the connection."""
        given = [f"Authorization: Bearer {self.token}"] if with_token else []
        head = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.portal.port}", *given]
        sock = socket.create_connection(("127.0.0.1", self.portal.port), 20)
        text = "\r\n".join([*head, f"Content-Length: {size}", *headers])
        sock.sendall(f"{text}\r\n\r\n".encode())
        return sock

    def disk(self) -> int:
        """Return the bytes of all files in MUSTER_HOME, except those of the database."""
        command = ["find", str(self.portal.home), "-name", "muster.sqlite3*", "-prune", "-o"]
        command += ["-type", "f", "-size", "+128k", "-printf", "%s\n"]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return sum(int(line) for line in found.split())


@pytest.fixture(scope="module")
def site(request, mode) -> Iterator[Site]:
    folder = Folder()
    url = ""
    if mode == "server":
        url = create_database(request.getfixturevalue("postgres_url"), "bodies")
    redis = start_redis(folder).url if url else ""
    portal = Portal(folder, url, redis, is_furnished=True)
    try:
        portal.start()
        token = portal.manage("create_token", EMAIL, "--org", "home", "--scopes", "all")
        with httpx.Client(base_url=portal.url, timeout=60) as api:
            api.headers["Authorization"] = f"Bearer {token}"
            api.post("/api/v1/orgs/home/datasets", json={"name": "d"}).raise_for_status()
            api.post("/api/v1/orgs/home/workspaces", json={"name": "w"}).raise_for_status()
            yield Site(portal, token, api)
    finally:
        portal.stop()
        folder.close()


def _status(sock: socket.socket) -> int:
    return int(sock.recv(65536)[9:12])


def _is_refused_while_sending(sock: socket.socket, size: int) -> int:
    """Send until an answer comes or all is sent; return its status."""
    sent, piece = 0, b"x" * (64 << 10)
    sock.setblocking(False)
    while sent < size:
        with suppress(BlockingIOError):
            sent += sock.send(piece)
        with suppress(BlockingIOError):
            return _status(sock)
    sock.settimeout(20)
    return _status(sock)


def test_body_of_a_stranger_is_refused_and_not_stored(site):
    before, found = site.disk(), {}
    for method, path, size, expected in ATTEMPTS:
        with site.send(method, path, size) as sock:
            sending = _is_refused_while_sending(sock, size)
        with site.send(method, path, size, "Expect: 100-continue") as sock:
            waiting = _status(sock)
        if (sending, waiting) != (expected, expected):
            found[method, path] = (sending, waiting)
    assert not found
    assert site.disk() == before


def test_expect_of_a_member_is_answered_by_the_judgment_of_the_head(site):
    for method, path, size, status in (
        ("PUT", f"{DATASET}/contents", GIB, 100),
        ("PUT", "/dav/home/w/a", GIB, 100),
        ("PUT", f"{DATASET}x/contents", GIB, 404),
        ("DELETE", f"{DATASET}/contents", GIB, 405),
        ("PUT", f"{DATASET}/contents", 65 * GIB, 413),
        ("POST", "/api/v1/orgs/home/jobs", 3 * MIB, 413),
    ):
        with site.send(method, path, size, "Expect: 100-continue", with_token=True) as sock:
            assert _status(sock) == status, path


def test_piece_that_is_cut_keeps_what_arrived(site):
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": str(8 * MIB)}
    metadata = {"Upload-Metadata": "filename YS5iaW4="}
    for uploads in (f"{DATASET}/uploads", f"{WORKSPACE}/uploads"):
        started = site.api.post(uploads, headers=tus | metadata).raise_for_status()
        where = started.headers["Location"].removeprefix(site.portal.url)
        headers = ("Upload-Offset: 0", "Content-Type: application/offset+octet-stream")
        with site.send("PATCH", where, 8 * MIB, *headers, with_token=True) as sock:
            sock.sendall(b"x" * (5 * MIB))

        def offset(where: str = where) -> int:
            return int(site.api.head(where).headers["Upload-Offset"])

        # nginx forgets its last buffer when the client leaves.
        wait_until(lambda: 4.5 * MIB <= offset() <= 5 * MIB, "the upload has what came", 20)


@pytest.mark.parametrize("framing", ["Content-Length: 2000000", "Transfer-Encoding: chunked"])
def test_file_that_is_cut_is_not_stored(site, framing):
    body = b"x" * MIB if "Length" in framing else b"100000\r\n" + b"x" * MIB + b"\r\n"
    for path in (f"{WORKSPACE}/files/cut", "/dav/home/w/cut"):
        head = f"PUT {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {site.token}"
        with socket.create_connection(("127.0.0.1", site.portal.port), 20) as sock:
            sock.sendall(f"{head}\r\n{framing}\r\n\r\n".encode() + body)
        assert site.api.get(path).status_code == 404


def _upload_in_progress(site: Site) -> socket.socket:
    """Return the connection of an upload that is not refused."""
    while True:
        sock = site.send("PUT", f"{WORKSPACE}/files/slow", GIB, with_token=True)
        sock.settimeout(0.3)
        try:
            sock.recv(100)
        except TimeoutError:
            return sock
        sock.close()  # uploads of other tests are just ending


def test_uploads_of_one_person_are_bounded_and_leave_the_portal_answering(site):
    def put() -> httpx.Response:
        return site.api.put(f"{WORKSPACE}/files/next", content=b"x" * MIB)

    with ExitStack() as stack:
        for _ in range(12):
            stack.enter_context(_upload_in_progress(site))
        refused = put()
        assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
        assert refused.headers["Retry-After"]
        assert site.api.get(DATASET).elapsed.total_seconds() < 2
    wait_until(lambda: put().status_code == 201, "others may follow")


def test_slow_readers_of_a_file_take_little_memory(site, mode):
    path = f"{WORKSPACE}/files/large"
    site.api.put(path, content=b"x" * (64 * MIB)).raise_for_status()
    pid = site.portal.process.pid if mode == "embedded" else site.portal.part("nginx")

    def resident() -> int:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Rss:"))

    before = resident()
    with slow_clients(site.portal.port, "reader", 100, path=path, token=site.token):
        for _ in range(3):
            assert site.api.get(DATASET).status_code == 200
        assert resident() - before < 80 << 10  # KiB
