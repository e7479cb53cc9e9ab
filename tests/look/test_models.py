"""Test the pages of registered models in a real Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.look.conftest import accept_dialogs
from tests.look.test_directory_page import looked
from tests.registry.conftest import UNSAFE, safetensors

pytestmark = [pytest.mark.browser, pytest.mark.integration]


def test_model_is_uploaded_described_and_requested(site, page, signed_in):
    accept_dialogs(page)
    page.goto(f"{site.url}/home/models")
    looked(page, "models-none")
    page.click("main a.primary")
    page.fill("[name=name]", "digits net")
    page.click("button.primary")
    page.wait_for_url("**/models/default/digits%20net/upload")
    files = {"weights.safetensors": safetensors(format="pt"), "head #1.pkl": UNSAFE}
    page.set_input_files(
        "[name=files]",
        [
            {"name": name, "mimeType": "application/octet-stream", "buffer": data}
            for name, data in files.items()
        ],
    )
    page.fill("[name=description]", "First **version**")
    page.click("button.primary")
    page.wait_for_url("**/versions/1")
    expect(page.locator(".note.warn")).to_contain_text("head #1.pkl")
    expect(page.locator(".markdown strong")).to_have_text("version")
    with page.expect_download() as download:
        page.click("text=weights.safetensors")
    assert download.value.path().read_bytes() == files["weights.safetensors"]

    page.fill(".alias-form [name=alias]", "champion")
    page.click(".alias-form button")
    expect(page.locator(".aliases")).to_contain_text("@champion")
    page.click(".aliases .chip button")
    expect(page.locator(".aliases")).not_to_contain_text("@champion")
    page.click(".messages .undo button")
    page.wait_for_selector("text=champion points to version 1")

    page.goto(f"{site.url}/home/models/default/digits net")
    page.click("[data-opens-dialog=model-card]")
    page.fill("#model-card textarea", "# Digits\n\n- centred\n\n<img src=x onerror=alert(1)>")
    page.click("#model-card button.primary")
    expect(page.locator(".markdown li")).to_have_text("centred")
    expect(page.locator(".markdown img")).to_have_count(0)
    looked(page, "model")

    page.goto(f"{site.url}/home/models/default/digits net/versions/champion")
    page.click("[value=acknowledge]")
    expect(page.locator(".checks")).to_contain_text("Acknowledged by")
    page.click("[value=request]")
    expect(page.locator("main")).to_contain_text("Somebody else must decide about your request.")
    looked(page, "model-version")

    with signed_in(phone=True, theme="dark") as context:
        other = context.new_page()
        for path in ("", "/new", "/default/digits net", "/default/digits net/versions/1"):
            other.goto(f"{site.url}/home/models{path}")
            assert other.evaluate("document.documentElement.scrollWidth <= innerWidth"), path

    page.goto(f"{site.url}/home/models/default/digits net")
    page.click("[data-opens-dialog=model-settings]")
    page.click("[value=delete]")
    page.wait_for_url("**/models")
    page.click(".messages .undo button")
    page.wait_for_url("**/models/default/digits%20net")
