"""A job that serves a page and a websocket, opened by a browser, programs and the command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import Page, expect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.e2e.test_first_job import sign_in
from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder, free_port, wait_until
from tests.rig.redis import start_redis
from tests.rig.web_app import RUN

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture(scope="module", params=["embedded", "server"])
def portal(request: pytest.FixtureRequest) -> Iterator[Portal]:
    folder, addresses = Folder(), ("", "")
    if request.param == "server":
        server = request.getfixturevalue("postgres_url")
        addresses = (create_database(server, "web_apps"), start_redis(folder).url)
    apps = {"MUSTER_APPS_HOST": "*.apps.localhost"}
    made = Portal(folder, *addresses, settings=apps, is_furnished=True)
    made.start()
    yield made
    made.stop()
    folder.close()


def serving(portal: Portal, token: str) -> dict:
    """Start the job and return it once it serves."""
    api = httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home", headers={"Authorization": f"Bearer {token}"}
    )
    spec = {"name": "web app", "run": RUN, "ports": [{"name": "web"}]}
    number = api.post("/jobs", json={"spec": spec}).raise_for_status().json()["number"]

    def job() -> dict:
        return dict(api.get(f"/jobs/{number}").json())

    wait_until(lambda: job()["state"] == "running", "the job runs", 60)
    url = job()["ports"][0]["program_url"]
    wait_until(
        lambda: httpx.get(f"{url}/", headers=dict(api.headers)).status_code == 200, "it serves", 60
    )
    return job()


def test_web_app_opens_in_browser_programs_and_command(
    portal: Portal, page: Page, wait_for: Callable
):
    token = portal.token()
    job = serving(portal, token)
    bearer = {"Authorization": f"Bearer {token}"}
    port, number = job["ports"][0], job["number"]
    # A browser: from the page of the job to the app, over the portal, with its websocket.
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/jobs/{number}")
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open", exact=True).click()
    app = opened.value
    expect(app.get_by_role("heading")).to_have_text("hello from the job")
    expect(app.locator("#echo")).to_have_text("echo ping")
    assert app.url == port["url"]
    app.goto(f"{port['url']}cookies")
    assert app.inner_text("body") == "|", "the app sees no cookie of the portal or the gateway"
    app.reload()
    assert app.inner_text("body") == "mine=1|"
    cookies = {one["name"]: one["domain"] for one in page.context.cookies()}
    assert cookies["mine"] == httpx.URL(port["url"]).host, "no sibling gets it"
    assert "muster_session" not in cookies
    # Programs.
    assert httpx.get(f"{port['program_url']}/cookies", headers=bearer).text == "|"
    assert httpx.get(f"{port['program_url']}/").status_code == 401
    socket_url = f"{port['program_url'].replace('http', 'ws', 1)}/ws"
    with pytest.raises(InvalidStatus, match="401"):
        connect(socket_url)
    with connect(socket_url, additional_headers=bearer, compression=None) as socket:
        socket.send("hi")
        assert socket.recv(10) == "hi"
        api = f"{portal.url}/api/v1/orgs/home/jobs/{number}"
        assert wait_for(
            lambda: httpx.get(api, headers=bearer).json()["ports"][0]["open_streams"] >= 1, 30
        )
        local = free_port()
        command = [sys.executable, "-m", "muster", "port-forward", str(number), "web"]
        env = os.environ | {
            "MUSTER_URL": portal.url,
            "MUSTER_TOKEN": token,
            "MUSTER_ORG": "home",
            "PYTHONPATH": str(ROOT / "client"),
        }
        with subprocess.Popen([*command, "--local", str(local)], env=env) as forward:
            try:
                page_of_app = wait_for(lambda: fetched(f"http://127.0.0.1:{local}/"), 30)
                assert "hello from the job" in page_of_app
            finally:
                forward.terminate()
        # The job ends, and with it what is open.
        httpx.post(f"{api}/cancel", headers=bearer, json={}).raise_for_status()
        with pytest.raises(ConnectionClosed):
            socket.recv(30)
    app.goto(port["url"])
    expect(app.locator("h1")).to_contain_text(f"Job #{number} has ended")
    expect(app.locator("body")).to_contain_text("serving")
    expect(app.get_by_role("link", name=f"#{number} web app")).to_be_visible()


def fetched(url: str) -> str:
    try:
        return httpx.get(url).text
    except httpx.HTTPError:
        return ""


def test_killed_gateway_comes_back_and_tickets_stay_valid(
    portal: Portal, page: Page, wait_for: Callable
):
    if not portal.database_url:
        return  # a thread of the portal's only process
    job = serving(portal, portal.token())
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/jobs/{job['number']}/ports/web")
    expect(page.locator("#echo")).to_have_text("echo ping")
    before = portal.part("gateway")
    os.kill(before, signal.SIGKILL)
    expect(page.locator("#echo")).to_have_text("closed")
    wait_for(lambda: portal.part("gateway") != before, 30)
    url = page.url
    wait_for(lambda: page.goto(url).ok, 30)
    assert page.url == url, "without the portal"
    expect(page.locator("#echo")).to_have_text("echo ping")
