"""Work of a killed component is taken over at once, not when its lease expires."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import httpx
import pytest

from tests.rig.portal import Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder
from tests.rig.redis import start_redis

pytestmark = [pytest.mark.serial, pytest.mark.integration, pytest.mark.both_databases]
# Seconds: two on an idle machine. Of a lease of fifteen, at least ten would be left.
SOON = 8.0


@pytest.fixture
def portal(mode, request) -> Iterator[Portal]:
    folder = Folder()
    addresses = ("", "")
    if mode == "server":
        addresses = (
            create_database(request.getfixturevalue("postgres_url"), "successors"),
            start_redis(folder).url,
        )
    made = Portal(folder, *addresses, is_furnished=True)
    made.start()
    yield made
    made.stop()
    folder.close()


@pytest.fixture
def api(portal) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {portal.token()}"}
    with httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home", headers=headers, timeout=20
    ) as client:
        yield client


def submit(api: httpx.Client, run: str) -> int:
    spec = {"run": run, "resources": {"cpus": 0.1, "memory": "64Mi"}}
    return int(
        api.post("/jobs", json={"team": "default", "spec": spec})
        .raise_for_status()
        .json()["number"]
    )


def state(api: httpx.Client, number: int) -> str:
    return str(api.get(f"/jobs/{number}").raise_for_status().json()["state"])


def kill_the_watcher(portal: Portal, mode: str, wait_for) -> None:
    """Kill the watcher with SIGKILL, and wait for its successor.

    In embedded mode this restarts the portal.
    """
    if mode == "embedded":
        portal.kill()
        portal.start()
        return
    before = portal.part("watcher")
    os.kill(before, signal.SIGKILL)
    wait_for(lambda: portal.part("watcher") != before)


def test_watcher_after_kill_9_resumes_at_once(portal, api, mode, shared_folder, wait_for):
    number = submit(api, f"until [ -e {shared_folder}/go ]; do sleep 0.05; done")
    wait_for(lambda: state(api, number) == "running", 20)
    for _ in range(2):
        kill_the_watcher(portal, mode, wait_for)
    (shared_folder / "go").touch()
    wait_for(lambda: state(api, number) == "succeeded", SOON)
