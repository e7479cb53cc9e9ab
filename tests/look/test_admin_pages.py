"""Administration in a real Chromium: what is announced is read and put away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.look.test_directory_page import looked

pytestmark = pytest.mark.browser


def test_an_announcement_is_made_read_on_other_pages_and_put_away(site, page):
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{site.url}/home/announcements")
    looked(page, "announcements-none")
    for level, text in (("trouble", "The filesystem of the GPU cluster is slow; we are on it."), ("note", "a-word-without-a-break-" * 12)):
        page.fill("[name=text]", text)
        page.select_option("[name=level]", level)
        page.check("[name=wide]")
        page.click(".panel button.primary")
        page.wait_for_selector(f".announcements >> text={text[:20]}")
    looked(page, "announcements")
    page.goto(f"{site.url}/home/jobs")
    looked(page, "announced-jobs")
    page.click(".announcements .note.bad button")
    page.wait_for_url(f"{site.url}/home/jobs")
    expect(page.locator(".announcements .note")).to_have_count(1)
    page.goto(f"{site.url}/home/announcements")
    for left in (1, 0):
        page.click("td.act button >> nth=0")
        expect(page.locator("td.wide")).to_have_count(left)
    expect(page.locator(".announcements")).to_have_count(0)
