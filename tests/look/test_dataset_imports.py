"""Import files into a dataset in a real Chromium: choose a source, watch it, cancel, resume."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.look.test_directory_page import looked
from tests.rig.web import web_server

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture(scope="module")
def web():
    with web_server() as server:
        yield server


@pytest.fixture(scope="module")
def portal_settings(web):
    return {"MUSTER_IMPORT_HOSTS": web.host, "MUSTER_IMPORT_ROOTS": "local:/tmp/{team}"}


def test_import_is_started_watched_canceled_and_resumed(site, page, web):
    site.api.post("/datasets", json={"name": "noise", "team": "default"}).raise_for_status()
    secret = {"value": "x"}
    site.api.put("/secrets/default/S3_KEY", json=secret).raise_for_status()
    page.goto(f"{site.url}/home/datasets/noise")
    page.click(".page-head >> text=Import")
    expect(page.get_by_label("Bucket and prefix")).to_be_visible()
    looked(page, "import-s3")
    for name in ("Hugging Face Hub", "Directory on a cluster", "Web addresses"):
        page.click(f"nav.segmented >> text={name}")
        expect(page.locator("nav.segmented [aria-current]")).to_have_text(name)
    web.files = {f"/a/{n}.bin": bytes(200_000) + bytes([n]) for n in range(40)}
    web.seconds = 0.6
    page.get_by_label("Addresses, one a line").fill(
        "\n".join(f"{web.url}/a/{n}.bin" for n in range(40))
    )
    page.get_by_label("Folder").fill("raw")
    page.click("text=Import to main")
    row = page.locator(".imports li").first
    expect(row.locator(".state")).to_have_text("running")
    expect(row).to_contain_text("of 40 files")
    row.locator("text=Cancel").click()
    expect(page.locator(".imports li").first.locator(".state")).to_have_text("canceled")
    web.seconds = 0.0
    page.locator(".imports li >> text=Resume").click()
    expect(page.locator(".imports li").first.locator(".state")).to_have_text("succeeded")
    page.keyboard.press("c")
    page.get_by_label("Addresses, one a line").fill(f"{web.url}/none.bin")
    page.click("text=Import to main")
    expect(page.locator(".imports li").first.locator(".state")).to_have_text("failed")
    expect(page.locator(".imports li").first).to_contain_text("404")
    looked(page, "import-failed")
    page.keyboard.press("c")
    page.get_by_label("Addresses, one a line").fill("ftp://example.org/x")
    page.click("text=Import to main")
    expect(page.locator("dialog .error")).to_be_visible()
    page.keyboard.press("Escape")
    page.click(".imports >> text=version 1")
    expect(page.locator("table.files")).to_contain_text("raw")
