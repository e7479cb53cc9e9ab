"""Run the example unchanged on a real Slurm and on Kubernetes.

On an embedded portal through pages; on a server stack through the command and the API.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.e2e.test_first_job import sign_in
from tests.look.conftest import write_yaml
from tests.rig.environment import ROOT
from tests.rig.kube import is_real, options_of, portal_address
from tests.rig.portal import Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder
from tests.rig.slurm import Slurm

pytestmark = [pytest.mark.browser, pytest.mark.serial, pytest.mark.integration]


@pytest.fixture(scope="module", params=["embedded", "server"])
def stack(request: pytest.FixtureRequest) -> str:
    """Return the mode of the portal."""
    return str(request.param)


@pytest.fixture(scope="module")
def portal(slurm: Slurm, stack: str, request: pytest.FixtureRequest) -> Iterator[Portal]:
    """Return a portal connected to both clusters."""
    folder, addresses = Folder(), ("", "")
    if stack == "server":
        redis = request.getfixturevalue("redis_url").rsplit("/", 1)[0] + "/62"
        addresses = (create_database(request.getfixturevalue("postgres_url"), "anywhere"), redis)
    made = Portal(folder, *addresses, address=portal_address(), is_furnished=True)
    made.start()
    spool = slurm.work / f"portal-{stack}"
    spool.mkdir()
    spool.chmod(0o1777)
    with api_of(made) as api:
        for name, options in (
            (
                "slurm",
                {
                    "spool": str(spool),
                    "user": slurm.user,
                    "rest_url": slurm.rest_url,
                    "rest_key": slurm.jwt_key.read_text(),
                },
            ),
            (
                "kubernetes",
                {**options_of(), "shared": []},
            ),  # the claim is in the namespace of jobs without a team
        ):
            made_there = api.post(
                "/api/v1/clusters", json={"name": name, "backend": name, "options": options}
            )
            assert made_there.is_success, made_there.text
    yield made
    made.stop()
    folder.close()


def api_of(portal: Portal) -> httpx.Client:
    return httpx.Client(
        base_url=portal.url, headers={"Authorization": f"Bearer {portal.token()}"}, timeout=30
    )


def by_page(portal: Portal, page: Page, spec: str, where: str) -> str:
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/jobs/new")
    write_yaml(page, spec)
    page.get_by_label("Pool", exact=True).select_option(where)
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile(r"/home/jobs/\d+$"))
    number = page.url.rsplit("/", 1)[1]
    expect(page.locator(".job-head .state")).to_have_class(
        re.compile("succeeded|failed"), timeout=240_000
    )
    page.locator("[data-tab=logs]").click()
    expect(page.locator("[data-certificate]")).to_contain_text(
        "The log is complete", timeout=20_000
    )
    return number


def by_command(portal: Portal, spec: str, where: str) -> str:
    file = portal.folder.path / "job.yaml"
    file.write_text(spec)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MUSTER_")}
    ours = {
        "PYTHONPATH": str(ROOT / "client"),
        "MUSTER_URL": portal.url,
        "MUSTER_TOKEN": portal.token(),
    }
    muster = [sys.executable, "-m", "muster", "job"]

    def call(*words: str) -> str:
        return subprocess.run(
            [*muster, *words],
            env=plain | ours,
            capture_output=True,
            text=True,
            timeout=270,
            check=True,
        ).stdout

    number = str(
        json.loads(call("submit", str(file), "--set", f"policy.pool={where}", "--json"))["number"]
    )
    call("wait", number, "--timeout", "240")
    return number


def by_api(portal: Portal, spec: str, where: str, wait_for: Callable[..., Any]) -> str:
    parsed = yaml.safe_load(spec)
    parsed["policy"]["pool"] = where
    with api_of(portal) as api:
        number = api.post(
            "/api/v1/orgs/home/jobs", json={"team": "default", "spec": parsed}
        ).json()["number"]
        wait_for(
            lambda: (
                api.get(f"/api/v1/orgs/home/jobs/{number}").json()["state"]
                in {"succeeded", "failed"}
            ),
            240,
        )
    return str(number)


WAYS = {"embedded": {1: "page", 2: "page"}, "server": {1: "command", 2: "api"}}
CASES = [
    ("slurm", 1),
    ("slurm", 2),
    ("kubernetes", 1),
    *([("kubernetes", 2)] if is_real() else []),
]  # the double's pods have no names


@pytest.mark.parametrize(("where", "nodes"), CASES)
def test_example_runs_unchanged(
    portal: Portal, stack: str, page: Page, wait_for: Callable[..., Any], where: str, nodes: int
):
    spec = (ROOT / "examples" / "digits" / ("job.yaml" if nodes == 1 else "nodes.yaml")).read_text()
    ways = {
        "page": lambda: by_page(portal, page, spec, where),
        "command": lambda: by_command(portal, spec, where),
        "api": lambda: by_api(portal, spec, where, wait_for),
    }
    number = ways[WAYS[stack][nodes]]()
    with api_of(portal) as api:
        job = api.get(f"/api/v1/orgs/home/jobs/{number}").json()
        log = api.get(f"/api/v1/orgs/home/jobs/{number}/logs/download").text
        curves = api.get(f"/api/v1/orgs/home/jobs/{number}/metrics").json()
    assert (job["state"], job["cluster"]) == ("succeeded", where), f"{job}\n{log}"
    assert "test accuracy 0." in log
    assert "loss" in json.dumps(curves)
    assert nodes == 1 or "2 ranks" in log  # gradients were averaged by gloo
