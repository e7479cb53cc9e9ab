"""A web app in a pod, from outside: the Open button, a token, a websocket and the command line.

By each way that leads to pods (the cluster's option `ports`); at their addresses on a real cluster
only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from websockets.sync.client import connect

from tests.rig.environment import ROOT
from tests.rig.kube import is_real, options_of, portal_address
from tests.rig.portal import Portal
from tests.rig.processes import Folder, free_port, wait_until
from tests.rig.web_app import RUN

pytestmark = pytest.mark.integration
WAYS = ("forward", "tunnel", *(("address",) if is_real() else ()))
# In a pod the program must listen at the pod's address to be reached there.
SPEC = {"run": RUN.replace('"127.0.0.1"', '""'), "ports": [{"name": "web"}]}


class ToPortal(httpx.HTTPTransport):
    """Resolves every name to the portal's address, as DNS does for *.apps.example.com."""

    def __init__(self, address: str):
        super().__init__()
        self.address = address

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url.copy_with(host=self.address)
        return super().handle_request(
            httpx.Request(request.method, url, headers=request.headers, stream=request.stream)
        )


@pytest.fixture(scope="module")
def portal() -> Iterator[Portal]:
    folder = Folder()
    apps = {"MUSTER_APPS_HOST": "*.apps.example.com"}
    made = Portal(folder, address=portal_address(), settings=apps, is_furnished=True)
    made.start()
    yield made
    made.stop()
    folder.close()


@pytest.mark.parametrize("way", WAYS)
def test_web_app_in_a_pod_is_reached_from_outside(portal: Portal, way: str):
    bearer = {"Authorization": f"Bearer {portal.token()}"}
    api = httpx.Client(base_url=f"{portal.url}/api/v1", headers=bearer, timeout=30)
    options = options_of()
    prefix = f"{options.get('namespace_prefix', 'muster')}-{way[0]}"
    options = {**options, "shared": [], "ports": way, "namespace_prefix": prefix}
    cluster = {"name": way, "backend": "kubernetes", "options": options}
    api.post("/clusters", json=cluster).raise_for_status()
    spec = {**SPEC, "policy": {"pool": way}}
    number = api.post("/orgs/home/jobs", json={"spec": spec}).raise_for_status().json()["number"]

    def job() -> dict:
        return dict(api.get(f"/orgs/home/jobs/{number}").json())

    wait_until(lambda: job()["state"] == "running", "the job runs", 120)
    url = job()["ports"][0]["program_url"]
    wait_until(lambda: httpx.get(url, headers=bearer).status_code == 200, "it serves", 60)
    with portal.browser() as signed_in:
        browser = httpx.Client(
            transport=ToPortal(portal.address), cookies=signed_in.cookies, timeout=30
        )
        opened = browser.get(
            f"{portal.url}/home/jobs/{number}/ports/web",
            follow_redirects=True,
            headers={"Accept": "text/html", "Sec-Fetch-Mode": "navigate"},
        )
        assert "hello from the job" in opened.text, opened.text
        assert str(opened.url) == job()["ports"][0]["url"]
    with connect(f"ws{url.removeprefix('http')}/ws", additional_headers=bearer) as socket:
        socket.send("hi")
        assert socket.recv(10) == "hi"
    local = free_port()
    words = ("muster", "port-forward", str(number), "web", "--local", str(local))
    env = os.environ | {
        "MUSTER_URL": portal.url,
        "MUSTER_TOKEN": portal.token(),
        "MUSTER_ORG": "home",
        "PYTHONPATH": str(ROOT / "client"),
    }
    with subprocess.Popen([sys.executable, "-m", *words], env=env) as forward:
        try:
            wait_until(lambda: "hello" in fetched(f"http://127.0.0.1:{local}/"), "forwarded", 60)
        finally:
            forward.terminate()
    api.post(f"/orgs/home/jobs/{number}/cancel", json={}).raise_for_status()
    wait_until(lambda: job()["state"] == "canceled", "it is canceled", 60)
    after = httpx.get(url, headers=bearer | {"Accept": "text/html"})
    assert after.status_code == 502 and "has ended" in after.text


def fetched(url: str) -> str:
    try:
        return httpx.get(url).text
    except httpx.HTTPError:
        return ""
