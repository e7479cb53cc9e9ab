"""Test cluster pages in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.integration]


def test_cluster_connection_is_tested_on_the_page(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/platform/clusters/local?tab=history")
    page.evaluate("document.body.dataset.same = 'yes'")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("[data-answer]")).to_have_class(re.compile("good"))
    expect(page.locator("[data-answer]")).not_to_be_empty()
    assert page.evaluate("document.body.dataset.same") == "yes", "the page was left"
    expect(page.get_by_role("button", name="Test connection")).to_be_enabled()


def test_cluster_row_opens_and_its_tabs_work(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/platform/clusters")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/platform/clusters/local")
    expect(page.locator("h1")).to_have_text("local")
    page.get_by_role("link", name=re.compile("^Nodes 1")).click()
    expect(page.locator("table tbody tr")).to_have_count(1)
    expect(page.locator("[data-drain]")).to_have_count(0)


def test_cluster_with_a_failed_test_is_saved_only_if_confirmed(
    signed_in: Callable[..., BrowserContext], site: Site
) -> None:
    page = signed_in().new_page()  # the browser logs the expected refusal
    page.goto(f"{site.url}/platform/clusters?kind=slurm")
    page.get_by_label("Name").fill("far")
    page.locator("summary").filter(has_text="More").click()
    page.get_by_label("SSH port").fill("many")
    page.get_by_label("Spool", exact=True).fill("/tmp/nosuch")
    page.get_by_label("REST token").fill("typed once")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.locator("[data-field=ssh_port] .error")).to_have_text("must be a number")
    expect(page.get_by_label("SSH port")).to_be_focused()
    page.get_by_label("SSH port").fill("")
    page.get_by_label("slurmrestd").fill("http://127.0.0.1:9")
    page.get_by_role("button", name="Connect", exact=True).click()
    expect(page.locator("form [data-answer]")).to_have_class(re.compile("bad"), timeout=20_000)
    expect(page.get_by_label("REST token")).to_have_value("typed once")
    page.get_by_role("button", name="Connect anyway").click()
    page.wait_for_url("**/platform/clusters/far*")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("REST token")).to_have_attribute("placeholder", re.compile("stored"))
    page.goto(f"{site.url}/platform/clusters/far")
    page.locator("summary").filter(has_text="Delete permanently").click()
    page.get_by_label("Type far to confirm").fill("far")
    page.get_by_role("button", name="Delete permanently").click()
    page.wait_for_url("**/platform/clusters")
    expect(page.locator(".messages")).to_contain_text("far and its pools were deleted")
