"""Test cluster pages in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.look import wizard
from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.integration]


def test_cluster_connection_is_tested_on_the_page(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/platform/clusters/local?tab=history")
    page.evaluate("document.body.dataset.same = 'yes'")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator(".messages .note.good")).to_contain_text("local: This machine")
    expect(page.locator(".tabs [aria-current]")).to_have_text("History")
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


def test_slurm_with_wrong_values_has_each_problem_at_its_field(
    signed_in: Callable[..., BrowserContext], site: Site
) -> None:
    page = signed_in().new_page()
    page.goto(f"{site.url}/platform/clusters")
    page.get_by_role("link", name="Connect a cluster").first.click()
    page.get_by_role("link", name=re.compile("^Slurm")).click()
    expect(page.get_by_label("SSH key")).to_be_hidden()
    page.click("[data-wizard-next]")
    expect(page.locator("#option-name")).to_be_focused()
    wizard.fill(page, {"name": "far", "rest_url": "http://127.0.0.1:9", "rest_token": "once"})
    wizard.fill(page, {"spool": "/nosuch", "user": "games", "input_cache_limit": "many"})
    page.keyboard.press("Enter")
    expect(page.locator("[data-tested=refused] [data-correct]")).to_have_count(1)
    expect(page.locator("[data-correct=input_cache_limit]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-field=input_cache_limit] .error")).to_have_text("must be a number")
    expect(page.get_by_label("Limit of the cache")).to_be_focused()
    page.get_by_label("Limit of the cache").fill("")
    page.keyboard.press("Enter")  # back to the test
    expect(page.locator("[data-tested=failed] li.failed")).to_have_count(2)
    expect(page.locator("[data-correct=rest_url]")).to_be_focused()
    expect(page.locator(".wizard-steps .is-wrong")).to_have_count(2)
    page.go_back()
    page.go_back()
    expect(page.locator("[data-field=spool] .error")).to_contain_text("/nosuch cannot be read")
    page.get_by_role("button", name="Back").click()
    expect(page.locator("[data-field=rest_url] .error")).to_contain_text("cannot be reached")
    expect(page.get_by_label("REST token")).to_have_value("once")
    wizard.test(page)
    page.get_by_role("button", name="Connect anyway").click()
    page.wait_for_url("**/platform/clusters/far*")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("REST token")).to_have_attribute("placeholder", re.compile("stored"))
    page.goto(f"{site.url}/platform/clusters/far")
    page.locator("summary").filter(has_text="Disable or delete").click()
    page.locator("summary").filter(has_text="Delete permanently").click()
    page.get_by_label("Type far to confirm").fill("far")
    page.get_by_role("button", name="Delete permanently").click()
    page.wait_for_url("**/platform/clusters")
    expect(page.locator(".messages")).to_contain_text("far and its pools were deleted")
