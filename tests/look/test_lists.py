"""Journeys on the list of jobs: text language, columns, file, and bulk actions on a phone."""

from __future__ import annotations

import csv
import io
import re

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import PHONE, Site, accept_dialogs

pytestmark = [pytest.mark.browser, pytest.mark.integration]


def test_text_language_columns_and_file_say_the_same(page: Page, site: Site) -> None:
    site.ended(site.submit("exit 3", name="journey-llm-train"))
    site.ended(site.submit("true", name="journey-llm-eval"))
    page.goto(f"{site.url}/home/jobs")
    box = page.locator(".filters [data-search]")
    box.click()
    page.keyboard.type("state:fai")
    option = page.get_by_role("option", name=re.compile("failed"))
    expect(option).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("JOURNEY -eval")
    page.keyboard.press("Enter")
    page.wait_for_url("**/home/jobs?q=JOURNEY+-eval&state=failed")
    expect(box).to_have_value("state:failed JOURNEY -eval")
    expect(page.locator("tbody tr")).to_have_count(1)
    page.get_by_role("navigation", name="Quick filters").get_by_text("Succeeded").click()
    page.wait_for_url("**state=failed,succeeded")
    expect(box).to_have_value("state:failed,succeeded JOURNEY -eval")

    page.locator(".columns summary").click()
    page.get_by_label("Priority").check()
    page.get_by_label("Reason").uncheck()
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("columnheader", name="Priority")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Reason")).to_be_hidden()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
    assert [row["name"] for row in rows] == ["journey-llm-train"]
    assert rows[0]["priority"] == "normal" and "why" not in rows[0]
    page.goto(f"{site.url}/home/jobs")
    expect(page.get_by_role("columnheader", name="Priority")).to_be_visible()


def test_phone_selects_rows_and_cancels_them(page: Page, site: Site) -> None:
    for n in (1, 2):
        site.submit("sleep 600", name=f"phone-bulk-{n}")
    page.set_viewport_size(PHONE)
    accept_dialogs(page)
    page.goto(f"{site.url}/home/jobs?q=phone-bulk")
    page.get_by_role("button", name="Select", exact=True).click()
    for n in (1, 2):
        page.get_by_text(f"phone-bulk-{n}").click()
    expect(page.locator(".bulk b")).to_have_text("2 selected")
    expect(page.get_by_role("link", name="Compare")).to_have_attribute(
        "href", re.compile(r"/home/jobs/compare\?jobs=\d+,\d+$")
    )
    state = page.locator("tr .state > span").first
    assert state.evaluate("one => one.getClientRects().length") == 1
    page.locator(".bulk").get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_text(re.compile("2 jobs: "))).to_be_visible()


def test_palette_finds_substrings_says_no_results_and_remembers(page: Page, site: Site) -> None:
    number = site.submit("true", name="deep-palette-inside")
    page.goto(f"{site.url}/home/nodes")
    page.keyboard.press("Control+k")
    box = page.locator("#palette input")
    box.fill("no such thing anywhere")
    expect(page.locator("#palette [role=status]")).to_have_text(re.compile("No results"))
    box.fill("palette-ins")
    option = page.locator("#palette [role=option]").first
    expect(option).to_contain_text("deep-palette-inside")
    expect(page.get_by_role("group", name="Jobs")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/home/jobs/{number}")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("group", name="Recent").get_by_role("option")).to_contain_text(
        "deep-palette-inside"
    )
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
