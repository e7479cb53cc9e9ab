"""Test deleting a log from its page."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.look.conftest import PHONE, accept_dialogs

pytestmark = [pytest.mark.browser, pytest.mark.integration]


def test_log_deleted_from_its_page_is_shown_as_deleted(site, signed_in):
    number = site.submit("seq 2000")
    site.ended(number)
    page = signed_in().new_page()
    request = accept_dialogs(page)
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("[data-certificate]")).to_contain_text("deleted by")
    expect(page.locator("#tab-logs [data-empty]")).to_contain_text("it had 8,893 bytes.")
    assert request == [
        f"Delete all logs of #{number} permanently, of every task and attempt? They use 8.7 KiB."
    ]
    expect(page.locator(".log-line")).to_have_count(0)
    expect(page.locator("[data-count]")).to_have_text(
        "0 lines, 0 bytes"
    )  # a deleted log is not reported as a gap
    expect(page.locator("[data-certificate].bad")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete", exact=True)).to_have_count(0)
    expect(page.locator("[data-deleting]")).to_have_count(0)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.context.close()
