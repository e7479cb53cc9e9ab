"""A real portal for tests and benchmarks: `manage.py serve` as a child process.

It has its own home and port and, in server mode, its own PostgreSQL and Redis databases.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.rig.environment import ROOT
from tests.rig.processes import Folder, RigFailure, free_port, wait_until
from tests.rig.redis import Redis
from tests.rig.tables import furnish

PATIENCE = 300  # seconds: starting takes 6 s of CPU, which is a minute on a busy machine
EMAIL, PASSWORD = "ada@atlas.example", "a long password for tests"


@dataclass
class Portal:
    """A portal: a server stack with `database_url` and `redis_url`, else embedded."""

    folder: Folder
    database_url: str = ""
    redis_url: str = ""
    name: str = "portal"
    settings: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    apps_port: int = field(default_factory=free_port)
    address: str = "127.0.0.1"
    # Start with migrated tables, unless the test is about the first start.
    is_furnished: bool = False
    process: subprocess.Popen[bytes] | None = None
    redis: Redis | None = None  # of `redis_url`, for tests that take it away

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    @property
    def home(self) -> Path:
        return self.folder.path / f"{self.name}-home"

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of its commands, without settings of the caller's shell."""
        ours = {
            "MUSTER_HOME": str(self.home),
            "MUSTER_PORT": str(self.port),
            "MUSTER_APPS_PORT": str(self.apps_port),
            "MUSTER_BIND": self.address,
            "MUSTER_BASE_URL": self.url,
            "MUSTER_ADMIN_EMAIL": EMAIL,
            "MUSTER_ADMIN_PASSWORD": PASSWORD,
            "MUSTER_LOCAL_CLUSTER": "1",
            "DJANGO_SETTINGS_MODULE": "portal.settings",
        }
        if self.database_url:
            ours |= {"MUSTER_DATABASE_URL": self.database_url, "MUSTER_REDIS_URL": self.redis_url}
        return (
            {name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")}
            | ours
            | self.settings
        )

    def start(self, seconds: float = PATIENCE) -> None:
        """Start it and wait until it responds. Raises RigFailure with the end of its log."""
        if self.is_furnished:
            furnish(self.home, self.database_url, self.environment)
        self.begin()
        self.await_answer(seconds)

    def command(self) -> list[str]:
        return [
            sys.executable,
            str(ROOT / "manage.py"),
            "serve",
            *(["--server"] if self.database_url else []),
        ]

    def begin(self) -> None:
        """Start it without waiting."""
        self.process = self.folder.start(self.name, self.command(), env=self.environment)

    def await_answer(self, seconds: float = PATIENCE) -> None:
        """Wait until it responds. Raises RigFailure with the end of its log."""
        process = self.process
        assert process is not None

        def answers() -> bool:
            if process.poll() is not None:
                raise RigFailure(f"{self.name} ended with {process.returncode}")
            try:
                return client.get("/healthz").status_code == httpx.codes.OK
            except httpx.HTTPError:
                return False

        # One client: making one takes as long as a page (33 ms of CPU), and this asks all the time.
        try:
            with httpx.Client(base_url=self.url, timeout=2) as client:
                wait_until(answers, f"{self.name} answers", seconds, every=0.05)
        except RigFailure as failure:
            raise RigFailure(f"{failure}\n{self.folder.tail(self.name, 6000)}") from failure

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)

    def kill(self) -> None:
        """Kill it with SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def manage(self, *argv: str) -> str:
        """Run a management command and return its output. Raises RigFailure."""
        command = [sys.executable, str(ROOT / "manage.py"), *argv]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RigFailure(f"manage.py {argv[0]} failed: {done.stderr[-3000:]}")
        return done.stdout.strip()

    @contextmanager
    def browser(self) -> Iterator[httpx.Client]:
        """Return an HTTP client that is signed in as the administrator."""
        with httpx.Client(base_url=self.url, timeout=60) as client:
            page = client.get("/accounts/login/").text
            found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
            assert found, page
            form = {"login": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": found[1]}
            answer = client.post("/accounts/login/", data=form)
            assert answer.is_redirect, answer.text
            csrf = next(c.value for c in client.cookies.jar if "csrf" in c.name)
            client.headers.update({"X-CSRFToken": csrf, "Origin": self.url})
            yield client

    def token(self) -> str:
        """Return a new access token of the administrator, with all scopes."""
        with self.browser() as browser:
            body = {"name": "of the tests", "scopes": ["all"]}
            answer = browser.post("/api/v1/orgs/home/tokens", json=body).raise_for_status()
            return str(answer.json()["token"])

    def part(self, name: str) -> int:
        """Return the pid of a component of a server stack."""
        return int((self.home / "run" / f"{name}.pid").read_text())
