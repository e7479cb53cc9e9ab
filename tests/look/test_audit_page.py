"""Test the audit page in a real browser."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture
def renamed(site: Site) -> None:
    """Rename a team."""
    site.api.post("/teams", json={"slug": "sight", "name": "Sight"})
    site.api.patch("/teams/sight", json={"name": "Vision and sound"})


def test_audit_row_opens_by_click_and_key(page: Page, site: Site, renamed: None) -> None:
    page.goto(f"{site.url}/home/audit?kind=team.renamed")
    row = page.locator("tr.opener").first
    expect(row).to_contain_text("renamed the team Sight to Vision and sound")
    behind = page.locator("tr.opened").first
    expect(behind).to_be_hidden()
    row.click()
    expect(behind.locator("del")).to_have_text("Sight")
    expect(behind.locator("ins")).to_have_text("Vision and sound")
    expect(row).to_have_attribute("aria-expanded", "true")
    row.press("Enter")
    expect(behind).to_be_hidden()


def test_audit_filter_is_in_the_url(page: Page, site: Site, renamed: None) -> None:
    page.goto(f"{site.url}/home/audit")
    page.locator(".filter-menu", has_text="Event").first.click()
    page.get_by_role("link", name="Teams", exact=True).click()
    page.wait_for_url("**kind=team*")
    page.locator("tr.opener").first.click()
    page.locator("tr.opened a[href^='?subject=']").first.click()
    page.wait_for_url("**subject=*")
    sentences = page.locator("tr.opener td:nth-child(2)")
    expect(sentences.first).to_contain_text("renamed the team")
    expect(sentences.last).to_contain_text("created the team")


def test_audit_chain_is_sealed_and_verified_on_the_page(
    page: Page, site: Site, renamed: None
) -> None:
    page.goto(f"{site.url}/home/audit")
    page.get_by_role("button", name="Verify").click()
    for _ in range(30):
        page.wait_for_timeout(1000)
        page.reload()
        if (
            "0 faults" in (message := page.locator(".page-head .sub").inner_text())
            and "verified again" not in message
        ):
            break
    expect(page.locator(".page-head .sub")).to_contain_text("0 faults")


def test_audit_export_contains_the_filtered_events(
    page: Page, site: Site, renamed: None, tmp_path: Path
) -> None:
    page.goto(f"{site.url}/home/audit?kind=team.renamed")
    with page.expect_download() as taken:
        page.get_by_role("link", name="CSV").click()
    taken.value.save_as(tmp_path / "audit.csv")
    rows = list(
        csv.DictReader(io.StringIO((tmp_path / "audit.csv").read_text("utf-8-sig"), newline=""))
    )
    assert rows and {row["kind"] for row in rows} == {"team.renamed"}
