"""Clusters in a real browser: the answer of a test comes without leaving the page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.serial]


def test_a_connection_is_tested_in_place(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/clusters/local?tab=history")
    page.evaluate("document.body.dataset.same = 'yes'")
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("[data-answer]")).to_have_class(re.compile("good"))
    expect(page.locator("[data-answer]")).not_to_be_empty()
    assert page.evaluate("document.body.dataset.same") == "yes", "the page was left"
    expect(page.get_by_role("button", name="Test connection")).to_be_enabled()


def test_a_row_of_the_list_is_opened_and_its_parts_are_walked(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/clusters")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/home/clusters/local")
    expect(page.locator("h1")).to_have_text("local")
    page.get_by_role("link", name=re.compile("^Nodes 1")).click()
    expect(page.locator("table tbody tr")).to_have_count(1)
    expect(page.locator("[data-drain]")).to_have_count(0)
