"""The build of `make run`: hashed, minified, compressed, small, and the pages work with it."""

from __future__ import annotations

import re
import subprocess

import httpx
import pytest
from playwright.sync_api import Page

from tests.look.conftest import Site
from tests.rig.environment import ROOT

pytestmark = pytest.mark.integration
BUDGET = 150_000  # bytes of the jobs page with everything that it loads


@pytest.fixture(scope="module", autouse=True)
def _build() -> None:
    target = "build/static/staticfiles.json"
    subprocess.run(["make", target], cwd=ROOT, check=True, capture_output=True)


def test_built_files_never_change_and_are_compressed(site: Site) -> None:
    page = httpx.get(f"{site.url}/accounts/login/").text
    paths = re.findall(r'(?:src|href)="(/static/[^"#]+)', page)
    assert any(path.endswith(".js") for path in paths)
    assert any(path.endswith(".css") for path in paths)
    for path in paths:
        answer = httpx.get(site.url + path, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["cache-control"] == "max-age=315360000, public, immutable", path
        is_compressed = answer.headers.get("content-encoding") == "gzip"
        assert is_compressed or len(answer.content) < 1000, path


def test_jobs_page_loads_within_its_budget(site: Site, page: Page) -> None:
    sizes: dict[str, int] = {}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    urls: dict[str, str] = {}
    session.on(
        "Network.responseReceived",
        lambda event: urls.update({event["requestId"]: event["response"]["url"]}),
    )
    session.on(
        "Network.loadingFinished",
        lambda event: sizes.update({event["requestId"]: int(event["encodedDataLength"])}),
    )
    page.goto(f"{site.url}/home/jobs", wait_until="networkidle")
    total = sum(sizes.values())
    print(f"jobs page: {total / 1000:.1f} kB in {len(sizes)} requests")
    assert total <= BUDGET, sorted((size, urls.get(key, "")) for key, size in sizes.items())
