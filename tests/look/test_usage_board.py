"""An operator arranges the panels of Usage by mouse and keyboard, and shares the view."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.integration]
# Yesterday: hours of today are recorded while the test runs.
SEED = """
from datetime import timedelta
from clusters.models import Cluster
from billing.models import FleetGpuTime
from portal.core import clock
hour = clock.now().replace(minute=0, second=0, microsecond=0) - timedelta(days=1)
for is_day, at in ((False, hour), (True, hour.replace(hour=0))):
    FleetGpuTime.objects.create(
        hour=at, is_day=is_day, cluster_id=Cluster.objects.first().id, gpu_class="gpu.h100",
        capacity=28_800_000, used=9_000_000, free=19_800_000, energy=9_000_000, metered=28_800_000,
    )
"""


def order(page: Page) -> list[str]:
    return page.eval_on_selector_all("[data-panel]", "all => all.map((one) => one.dataset.panel)")


def test_panels_are_arranged_saved_and_shared(site: Site, page: Page):
    site.portal.manage("shell", "-c", SEED)
    address = f"{site.url}/platform/usage"
    page.goto(address)
    default = order(page)
    assert default[0] == "gpu-times" and {"power", "health", "queue", "failures"} < set(default)
    page.get_by_role("button", name="Arrange").click()
    page.drag_and_drop("[data-panel=parts] h2", "[data-panel=gpu-times] h2")
    expect(page.locator("[data-panel]").first).to_have_attribute("data-panel", "parts")
    moves = page.locator("[data-panel=parts] [data-board-move='1']")
    moves.focus()
    page.keyboard.press("ArrowDown")
    assert order(page)[:2] == ["gpu-times", "parts"]
    expect(moves).to_be_focused()
    with page.expect_response(lambda got: got.request.method == "GET" and "panels=" in got.url):
        page.locator("[data-panel=pools]").get_by_role("button", name="Hide").click()
    expect(page.get_by_role("button", name="Show Pools")).to_be_visible()
    mine = order(page)
    page.goto(address)  # kept for the person
    assert order(page) == mine and "pools" not in mine
    page.goto(f"{address}?panels=queue,-power&range=30d")  # a link from somebody else
    assert order(page)[0] == "queue" and "power" not in order(page)
    page.get_by_role("link", name="7 d", exact=True).click()
    expect(page).to_have_url(f"{address}?range=7d&panels=queue,-power")
    page.goto(address)
    assert order(page) == mine
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("[data-panel=pools]")).to_be_visible()
    assert order(page) == default and "panels" not in page.url


def test_panels_are_saved_as_pictures_and_tables(site: Site, page: Page):
    page.goto(f"{site.url}/platform/usage")
    for name in ("power", "parts"):
        with page.expect_download() as saved:
            page.locator(f"[data-panel={name}]").get_by_role("button", name="PNG").click()
        assert saved.value.suggested_filename == f"{name}.png"
        assert saved.value.path().read_bytes()[1:4] == b"PNG"
    with page.expect_download() as saved:
        page.locator("[data-panel=power]").get_by_role("link", name="CSV").click()
    assert saved.value.path().read_text().startswith("time,watts")
