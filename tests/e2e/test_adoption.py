"""Kill everything but the job with SIGKILL and restart: nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import psutil
import pytest

from tests.rig.portal import Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder
from tests.rig.redis import start_redis

pytestmark = pytest.mark.integration
LINES = 60


def kill_all_but_the_job(portal: Portal) -> int:
    """Return the portal's processes and its supervisors, without the jobs' own processes."""
    killed = 0
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if any("supervisor.py" in word for word in words) and any(
            str(portal.home) in word for word in words
        ):
            process.kill()
            killed += 1
    portal.kill()
    return killed


@pytest.fixture(params=["embedded", "server"])
def portal(request: pytest.FixtureRequest) -> Iterator[Portal]:
    """Return a portal that is not started yet."""
    folder, addresses = Folder(), ("", "")
    if request.param == "server":
        addresses = (
            create_database(request.getfixturevalue("postgres_url"), "adoption"),
            start_redis(folder).url,
        )
    yield Portal(folder, *addresses, is_furnished=True)
    folder.close()


def test_job_survives_portal_and_supervisor_with_a_complete_log(portal, wait_for):
    portal.start()
    headers = {"Authorization": f"Bearer {portal.token()}"}
    with httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home/", headers=headers, timeout=60
    ) as api:
        wait_for(lambda: api.get("nodes").json()["items"])
        number = api.post(
            "jobs",
            json={
                "team": "default",
                "spec": {
                    "run": f"for i in $(seq {LINES}); do echo line $i; sleep 0.1; done; exit 3"
                },
            },
        ).json()["number"]
        wait_for(lambda: api.get(f"jobs/{number}").json()["state"] == "running")
        wait_for(lambda: len(api.get(f"jobs/{number}/logs").content) > 50)
        assert kill_all_but_the_job(portal) == 1
        portal.start()
        job = wait_for(
            lambda: (j := api.get(f"jobs/{number}").json())["state"] == "failed" and j, seconds=90
        )
        certificate = wait_for(
            lambda: api.get(f"jobs/{number}/logs/certificate").json()["certificate"]
        )
        log = api.get(f"jobs/{number}/logs/download").content
    portal.stop()
    assert (job["exit_code"], job["reason"]["code"], len(job["attempts"])) == (3, "user_error", 1)
    assert log == b"".join(f"line {i}\n".encode() for i in range(1, LINES + 1))
    assert certificate["complete"] and certificate["bytes"] == len(log)
