"""Test that a secret's value appears nowhere but in its job.

A job of a real portal uses a secret with a unique value, which is then searched for in all output,
pages, stored data and processes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from tests.client.test_cli_real import Shell
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder, wait_until

pytestmark = pytest.mark.integration
CANARY = "c4nary-3f9a1e7b-Zx81%&'\"$(x)"
REPLACED = "c4nary-of-before-77aa"
RUN = 'printf %s "$WANDB_API_KEY" | sha256sum; sleep 3; printf %s "$WANDB_API_KEY" | wc -c'


@dataclass
class Found:
    """The places that were searched, and those where the value was found."""

    searched: int = 0
    holds: list[str] = field(default_factory=list)

    def look(self, where: str, data: bytes) -> None:
        self.searched += 1
        spellings = (
            CANARY,
            json.dumps(CANARY)[1:-1],
            CANARY.replace("&", "&amp;").replace("'", "&#x27;").replace('"', "&quot;"),
            REPLACED,
        )
        if any(text.encode() in data for text in spellings):
            self.holds.append(where)


@pytest.fixture(scope="module")
def portal() -> Iterator[Portal]:
    folder = Folder()
    made = Portal(folder, name="canary", is_furnished=True)
    made.start()
    yield made
    made.stop()
    folder.close()


@pytest.fixture(scope="module")
def shell(portal: Portal, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    return Shell(portal, portal.token(), tmp_path_factory.mktemp("canary"))


@pytest.fixture(scope="module")
def found(portal: Portal, shell: Shell) -> Found:
    """Set, replace, use and misuse the secret; return everything that was printed."""
    got = Found()
    for value in (REPLACED, CANARY):
        done = shell("secret", "set", "default/wandb", stdin=value.encode() + b"\n")
        assert done.returncode == 0, done.stderr
        got.look("secret set", done.stdout + done.stderr)
    spec = {
        "run": RUN,
        "name": "canary",
        "secrets": {"WANDB_API_KEY": "team/wandb"},
        "resources": {"cpus": 0.1},
    }
    with httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home/",
        headers={"Authorization": f"Bearer {shell.token}"},
        timeout=30,
    ) as api:
        for path, body in (
            ("jobs?dry_run=true", {"spec": spec}),
            ("jobs", {"spec": spec}),
            ("jobs/validate", {"yaml": json.dumps(spec)}),
        ):
            answer = api.post(path, json={"team": "default", **body})
            assert answer.status_code < 300, answer.text
            got.look(f"POST {path}", answer.content)
        wait_until(lambda: api.get("jobs/1").json()["state"] == "running", "the job runs", 30)
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            got.look(f"argv of {process.parent.name}", _bytes(process))
        wait_until(lambda: api.get("jobs/1").json()["state"] == "succeeded", "the job ends", 30)
        for path in (f"{portal.url}/api/v1/orgs/home", *PATHS):
            answer = api.get(path)
            assert answer.status_code == 200, (path, answer.text)
            got.look(f"GET {path}", answer.content)
        api.put("secrets/default/wandb", json={"value": CANARY + "\0"})
    return got


PATHS = [
    "teams",
    "members",
    "tokens",
    "secrets",
    "service-accounts",
    "quotas",
    "nodes",
    "jobs",
    "jobs/1",
    "jobs/1/attempts",
    "jobs/1/events",
    "jobs/1/pending",
    "jobs/1/logs",
    "jobs/1/logs/download",
    "jobs/1/logs/search?q=a",
    "jobs/1/metrics",
]
PAGES = [
    "",
    "jobs",
    "jobs/1",
    "jobs/new?from=1",
    "secrets",
    "tokens",
    "service-accounts",
    "people",
    "teams/default",
    "nodes",
]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_secret_reaches_its_job_only(portal: Portal, shell: Shell, found: Found):
    log = shell("job", "logs", "1").stdout.decode()
    assert hashlib.sha256(CANARY.encode()).hexdigest() in log and str(len(CANARY)) in log.split()


def test_secret_is_in_no_response_and_no_process_list(found: Found):
    assert found.holds == [] and found.searched > 30


def test_secret_is_on_no_page(portal: Portal, found: Found):
    got = Found()
    with httpx.Client(base_url=portal.url, follow_redirects=True, timeout=30) as browser:
        form = browser.get("/accounts/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        assert token
        browser.post(
            "/accounts/login/",
            data={"login": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": token[1]},
            headers={"Origin": portal.url},
        )
        for path in (*(f"/home/{page}" for page in PAGES), "/platform/queue", "/platform/clusters"):
            answer = browser.get(path)
            assert answer.status_code == 200 and "/accounts/login" not in str(answer.url), path
            got.look(path, answer.content)
    assert got.holds == [] and got.searched == len(PAGES) + 2


def test_secret_is_stored_only_in_the_launch_of_its_job(portal: Portal, found: Found):
    got = Found()
    files = [
        path
        for path in [
            *portal.home.rglob("*"),
            *portal.folder.path.glob("*.log"),
            *portal.folder.path.glob("*/*.log"),
        ]
        if path.is_file()
    ]
    for path in files:
        got.look(str(path), _bytes(path))
    assert got.searched > 5
    assert {Path(name).name for name in got.holds} <= {"launch.json"}
    for name in got.holds:
        assert (
            Path(name).stat().st_mode & 0o077 == 0 or Path(name).parent.stat().st_mode & 0o077 == 0
        )


def test_secret_use_is_recorded_with_version_and_job(portal: Portal, shell: Shell, found: Found):
    with httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home/",
        headers={"Authorization": f"Bearer {shell.token}"},
    ) as api:
        events = [
            event
            for event in api.get("jobs/1/events").json()["items"]
            if event["kind"] == "secret.used"
        ]
        assert [(e["data"]["secret"], e["data"]["version"]) for e in events] == [
            ("default/wandb", 2)
        ]
        assert api.get("secrets").json()["items"][0]["last_used_at"]
