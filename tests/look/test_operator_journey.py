"""An operator finds wasted GPUs, drains and resumes a node, and connects a cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.look import wizard
from tests.look.conftest import PHONE, WIDE, watch
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture(scope="module")
def demo() -> Iterator[Portal]:
    """Return a portal with a small simulated fleet and its jobs."""
    folder = Folder()
    portal = Portal(folder, is_furnished=True)
    portal.start()
    portal.manage("demo", "--jobs", "40")
    yield portal
    portal.stop()
    folder.close()


@pytest.fixture(scope="module")
def state(browser: Browser, demo: Portal) -> dict:
    page = browser.new_page()
    page.goto(f"{demo.url}/accounts/login/")
    page.fill("[name=login]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "/login/" not in url)
    kept = page.context.storage_state()
    page.context.close()
    return dict(kept)


@pytest.fixture(params=[WIDE, PHONE], ids=["1440", "390"])
def page(browser: Browser, state: dict, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(storage_state=state, viewport=request.param)
    made = context.new_page()
    complaints: list[str] = []
    watch(made, complaints)
    yield made
    assert complaints == []
    wide = made.evaluate("document.documentElement.scrollWidth")
    assert wide <= request.param["width"], "the page scrolls sideways"
    context.close()


def test_operator_finds_who_wastes_gpus(page: Page, demo: Portal) -> None:
    page.goto(f"{demo.url}/platform/fleet?group=rack&heat=temperature")
    expect(page.locator("[data-gpu-grid] [data-sum]")).to_contain_text("allocated")
    expect(page.locator("[data-scale] [data-high]")).to_contain_text("°C")
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".gpu-grid-tip")).to_contain_text("GPU 1")
    expect(page.locator("[data-chosen] a").first).to_have_attribute(
        "href", re.compile(r"/platform/nodes/.+\?cluster=aurora-gpu")
    )
    page.goto(f"{demo.url}/platform/")
    expect(page.locator("[data-chart=gpu-trend] .chart-key b").first).to_contain_text("GPUs")
    row = page.locator(".org-use tbody tr").filter(has_text="Aurora Labs")
    expect(row).to_contain_text("%")
    row.get_by_role("link", name="Idle GPUs").click()
    page.wait_for_url("**/aurora/idle")
    expect(page.locator("h1")).to_contain_text("Idle")


def test_operator_drains_a_node_from_its_page_and_resumes_it(page: Page, demo: Portal) -> None:
    page.goto(f"{demo.url}/platform/nodes/dgx-02?cluster=aurora-gpu")
    expect(page.get_by_role("heading", name="GPUs", exact=True)).to_be_visible()
    page.get_by_role("button", name="Drain", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("No new jobs start on dgx-02.")
    dialog.get_by_label("Reason").fill("Fan 3 is loud")
    dialog.get_by_role("button", name="Drain node").click()
    expect(page.locator(".undo")).to_contain_text("dgx-02 is drained")
    expect(page.locator(".page-head .state")).to_have_text(re.compile("drained"))
    expect(page.locator(".events")).to_contain_text("drained dgx-02: Fan 3 is loud")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".undo")).to_contain_text("dgx-02 is back in service")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".content > .note.warn")).to_contain_text("Fan 3 is loud")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".page-head .state")).to_have_text(re.compile("ready"))


def test_operator_connects_a_cluster(page: Page, demo: Portal, tmp_path: Path) -> None:
    name = f"bench-{page.viewport_size['width']}"
    page.goto(f"{demo.url}/platform/clusters")
    page.get_by_role("link", name="Connect a cluster").click()
    page.get_by_role("link", name=re.compile("This machine", re.IGNORECASE)).click()
    wizard.fill(page, {"name": name, "paths": str(tmp_path)})
    wizard.test(page)
    page.get_by_role("button", name=re.compile("^Connect")).last.click()
    page.wait_for_url(f"**/platform/clusters/{name}*")
    expect(page.get_by_role("link", name=re.compile("^Nodes 1"))).to_be_visible(timeout=60_000)
