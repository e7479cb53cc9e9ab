"""A full disk under a running portal: requests fail cleanly with a message, and it recovers."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.rig.environment import ROOT
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder
from tests.rig.redis import start_redis
from tests.storm.small_disk import Limited, Mounted, small_disk

pytestmark = pytest.mark.integration
ORG = "/api/v1/orgs/home"
UNTIL = "until [ -e {mark} ]; do {each} sleep 0.05; done; {last}"


@dataclass
class Visitor:
    """A program and a person, with all responses received while the disk was full."""

    portal: Portal
    disk: Mounted | Limited
    marks: Path
    api: httpx.Client
    person: httpx.Client
    answers: list[httpx.Response] = field(default_factory=list)

    def submit(self, run: str, key: str = "") -> httpx.Response:
        body = {
            "team": "default",
            "spec": {"run": run, "resources": {"cpus": 0.1, "memory": "64Mi"}},
        }
        return self.api.post(
            f"{ORG}/jobs", json=body, headers={"Idempotency-Key": key or str(uuid.uuid4())}
        )

    def start(self, mark: str, each: str = "", last: str = "true") -> int:
        """Submit a job that runs until told to end; return its number."""
        run = UNTIL.format(mark=self.marks / mark, each=each, last=last)
        return int(self.submit(run).raise_for_status().json()["number"])

    def end(self, mark: str) -> None:
        (self.marks / mark).touch()

    def job(self, number: int) -> dict:
        return self.api.get(f"{ORG}/jobs/{number}").raise_for_status().json()

    def log_size(self, number: int) -> int:
        return int(self.api.get(f"{ORG}/jobs/{number}/logs").headers["X-Log-Size"])

    def folder(self, number: int) -> Path:
        return (
            self.portal.home
            / "jobs"
            / f"muster-{self.job(number)['attempts'][0]['id'].replace('-', '')}"
        )

    def source(self, number: int) -> bytes:
        """Return the job's output."""
        return (self.folder(number) / "output.log").read_bytes()

    def certificate(self, number: int) -> dict | None:
        return (
            self.api.get(f"{ORG}/jobs/{number}/logs/certificate")
            .raise_for_status()
            .json()["certificate"]
        )


def sign_in(portal: Portal) -> tuple[httpx.Client, httpx.Response]:
    client = httpx.Client(base_url=portal.url, follow_redirects=True, timeout=60)
    found = re.search(
        r'name="csrfmiddlewaretoken" value="([^"]+)"', client.get("/accounts/login/").text
    )
    assert found
    form = {"login": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": found[1]}
    return client, client.post("/accounts/login/", data=form)


@pytest.fixture(params=["mounted", "limited"])
def visitor(request, mode, shared_folder) -> Iterator[Visitor]:
    folder = Folder()
    addresses = (
        (start_postgres(folder, durable=False).url, start_redis(folder).url)
        if mode == "server"
        else ("", "")
    )
    portal = Portal(folder, *addresses, name="small")
    disk = small_disk(portal) if request.param == "mounted" else Limited(portal)
    try:
        portal.start()
        headers = {"Authorization": f"Bearer {portal.token()}"}
        with (
            httpx.Client(base_url=portal.url, headers=headers, timeout=60) as api,
            closing(sign_in(portal)[0]) as person,
        ):
            yield Visitor(portal, disk, shared_folder, api, person)
    finally:
        for mark in ("writer", "quiet", "never"):  # leave no job running
            (shared_folder / mark).touch()
        portal.stop()
        disk.close()
        folder.close()


def send_requests(visitor: Visitor, number: int, submits: int) -> None:
    """Send typical requests of people and programs."""
    paths = ("/", "/home", "/home/jobs", f"/home/jobs/{number}", "/home/nodes", "/home/jobs/new")
    visitor.answers += [visitor.person.get(path) for path in paths]
    paths = (
        "/jobs",
        f"/jobs/{number}",
        f"/jobs/{number}/logs",
        f"/jobs/{number}/metrics",
        f"/jobs/{number}/logs/download",
    )
    visitor.answers += [visitor.api.get(ORG + path) for path in paths]
    point = {"points": [{"name": "loss", "value": 1.0}]}
    visitor.answers += [
        visitor.api.post(f"{ORG}/jobs/{number}/metrics", json=point),
        sign_in(visitor.portal)[1],
    ]
    visitor.answers += [visitor.submit("echo more", key=f"more-{n}") for n in range(submits)]


def faults(answers: list[httpx.Response]) -> list[str]:
    """Return responses that are neither successful nor a clear error about the full disk."""
    return [
        f"{a.request.method} {a.request.url}: {a.status_code} {a.text[:300]}"
        for a in answers
        if a.status_code >= 500
        and not (
            a.status_code == 503
            and re.search(
                "The disk .{3,60} is full|takes no longer files|cannot be written", a.text
            )
            and "Retry-After" in a.headers
        )
    ]


def test_full_disk_breaks_nothing_is_reported_and_recovers(visitor, wait_for):
    writer = visitor.start("writer", each="echo line $((n=n+1)) of very many;")
    quiet, stopped = visitor.start("quiet", last="exit 3"), visitor.start("never")
    wait_for(lambda: visitor.log_size(writer) > 100, 30)
    wait_for(lambda: all(visitor.job(n)["state"] == "running" for n in (quiet, stopped)), 30)
    folder = visitor.folder(quiet)

    visitor.disk.fill()
    send_requests(visitor, writer, submits=3)
    visitor.end("quiet")
    wait_for((folder / "end.json").exists, 20)
    visitor.answers.append(visitor.api.post(f"{ORG}/jobs/{stopped}/cancel", json={}))
    send_requests(visitor, writer, submits=3)
    # 429: sign-in is refused if attempts cannot be counted.
    assert faults(visitor.answers) == [] and {a.status_code for a in visitor.answers} <= {
        200,
        201,
        429,
        503,
    }
    visitor.disk.free()

    assert visitor.api.post(f"{ORG}/jobs/{stopped}/cancel", json={}).status_code < 500
    more = {
        visitor.submit("echo more", key=f"more-{n}").raise_for_status().json()["number"]
        for n in range(3)
    }
    wait_for(
        lambda: all(
            visitor.job(n)["state"] == "succeeded" and visitor.certificate(n) for n in more
        ),
        60,
    )
    assert len(more) == 3 and len(visitor.api.get(f"{ORG}/jobs").json()["items"]) == 6
    assert [visitor.source(n) for n in more] == [b"more\n"] * 3
    visitor.end("writer")
    wait_for(lambda: all(visitor.certificate(n) for n in (writer, quiet, stopped)), 30)
    source, certificate = visitor.source(writer), visitor.certificate(writer)
    was_full = isinstance(visitor.disk, Mounted)  # otherwise only for the portal
    assert (certificate["complete"], certificate["sha256"]) == (
        not was_full,
        hashlib.sha256(source).hexdigest(),
    )
    assert visitor.api.get(f"{ORG}/jobs/{writer}/logs/download").content == source
    ended = visitor.job(quiet)
    assert (
        ended["state"],
        ended["reason"]["code"],
        "Exit code 3" in ended["reason"]["evidence"],
    ) == ("failed", "disk_full" if was_full else "user_error", True)
    assert (
        "The disk was full while it ran" in visitor.job(writer)["reason"]["evidence"]
    ) is was_full
    assert visitor.job(stopped)["state"] == "canceled"
    assert [
        p.name for p in (visitor.portal.home / "jobs").iterdir() if p.name.startswith(".")
    ] == []
    visitor.answers = []
    send_requests(visitor, writer, submits=1)
    assert [a.status_code for a in visitor.answers if a.status_code >= 300] == []


def refusal(portal: Portal, *, is_limited: bool) -> str:
    """Return the output of a start that fails."""
    argv = [
        sys.executable,
        str(ROOT / "manage.py"),
        "serve",
        *(["--server"] if portal.database_url else []),
    ]
    limit = ["prlimit", "--fsize=1:unlimited"] if is_limited else []
    done = subprocess.run(
        [*limit, *argv],
        env=portal.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return f"{done.returncode}: {done.stderr}"


@pytest.mark.parametrize("kind", ["mounted", "limited"])
def test_portal_does_not_start_on_a_full_disk_and_explains_why(mode, kind):
    folder = Folder()
    addresses = (
        (start_postgres(folder, durable=False).url, start_redis(folder).url)
        if mode == "server"
        else ("", "")
    )
    portal = Portal(folder, *addresses, name="small")
    disk = small_disk(portal) if kind == "mounted" else Limited(portal)
    is_limited = isinstance(disk, Limited)
    try:
        if not is_limited:
            disk.fill()
        message = refusal(portal, is_limited=is_limited)
        assert re.match(
            r"2: \s*Muster does not start[\s\S]*The disk [\s\S]{3,90}: [\s\S]*Make room there",
            message,
        ), message
        assert "Traceback" not in message
        if not is_limited:
            disk.free()
        portal.start()
    finally:
        portal.stop()
        disk.close()
        folder.close()
