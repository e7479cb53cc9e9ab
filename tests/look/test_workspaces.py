"""Test the pages of workspaces in a real Chromium: create, drop files, browse, share, download."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.look.conftest import accept_dialogs
from tests.look.test_datasets import drop
from tests.look.test_directory_page import looked

pytestmark = [pytest.mark.browser, pytest.mark.integration]
FILES = {
    "README.md": b"# Code\n\nOf **the team**.\n",
    "src/train.py": b"print('hello')\n",
    "src/rows.csv": b"name,colour\nrose,red\n",
}


@pytest.fixture
def folder(tmp_path):
    top = tmp_path / "code"
    for path, data in FILES.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(data)
    return top


def test_folder_is_dropped_browsed_changed_shared_and_downloaded(site, page, signed_in, folder):
    accept_dialogs(page)
    page.goto(f"{site.url}/home/workspaces")
    looked(page, "workspaces-none")
    drop(page, folder)
    dialog = page.locator("#new-workspace")
    expect(dialog.locator("[name=name]")).to_have_value("code")
    expect(dialog.locator("[data-files] li")).to_have_count(3)
    dialog.locator("button.primary:visible").click()
    page.wait_for_url("**/home/workspaces/code")
    expect(page.locator("table.files a.title")).to_have_text(["src", "README.md"])
    looked(page, "workspace")

    page.click("table.files >> text=src")
    drop(page, folder)  # into the folder that is shown, with its name
    dialog = page.locator("#upload")
    expect(dialog.locator("[data-files]")).to_contain_text("src/code/README.md")
    looked(page, "workspace-upload")
    dialog.locator("button.primary:visible").click()
    expect(page.locator("table.files a.title")).to_have_text(["code", "rows.csv", "train.py"])
    change_files(page)
    preview_and_download(page)
    share(page, site)
    settings_and_trash(page, site)
    with signed_in(phone=True, theme="dark") as context:
        phone = context.new_page()
        for path in ("", "/tree/src", "/file/README.md", "/share", "/upload", "/settings"):
            phone.goto(f"{site.url}/home/workspaces/code{path}")
            assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def change_files(page) -> None:
    page.click("[data-opens-dialog=new-folder]")
    page.fill("#new-folder [name=name]", "notes")
    page.click("#new-folder [value=folder]")
    page.wait_for_selector("text=The folder notes was created.")
    page.check("tr:has-text('notes') input")
    page.click("#bulk .danger")
    page.wait_for_selector("text=notes was deleted.")
    page.click("table.files >> text=train.py")
    page.click("main header [data-opens-dialog=move]")
    page.fill("#move [name=target]", "src/run.py")
    page.click("#move [value=move]")
    page.wait_for_selector("text=Moved to src/run.py.")
    page.click(".messages .undo button")
    page.wait_for_selector("text=Moved to src/train.py.")


def preview_and_download(page) -> None:
    page.click("table.files >> text=rows.csv")
    expect(page.locator(".data td.mono")).to_have_text(["rose", "red"])
    looked(page, "workspace-file")
    with page.expect_download() as download:
        page.click("main header >> text=Download")
    assert download.value.path().read_bytes() == FILES["src/rows.csv"]


def share(page, site) -> None:
    """Invite a team in the drawer, and stop that there."""
    site.api.post("/teams", json={"slug": "vision", "name": "Vision"})
    page.goto(f"{site.url}/home/workspaces/code")
    page.click(".page-head [data-drawer]")
    drawer = page.locator("dialog.drawer")
    drawer.locator("[name=with]").first.select_option("team:vision")
    drawer.locator("[name=can_write]").select_option("1")
    drawer.locator("[value=invite]").click()
    expect(drawer.locator("section.panel")).to_contain_text("can read and write")
    looked(page, "workspace-share")
    drawer.locator("[value=withdraw]").click()
    expect(drawer.locator("section.panel")).to_contain_text("Only")
    page.keyboard.press("Escape")


def settings_and_trash(page, site) -> None:
    page.click("main nav.tabs >> text=Settings")
    page.fill("[name=quota_gib]", "0.5")
    page.click("[value=save]")
    page.wait_for_selector("text=The settings were saved.")
    expect(page.locator(".page-head .sub")).to_contain_text("of 512 MiB")
    looked(page, "workspace-settings")
    page.click("[value=delete]")
    page.wait_for_url("**/home/workspaces")
    page.goto(f"{site.url}/home/workspaces/-/trash")
    looked(page, "workspaces-trash")
    page.click("[value=restore]")
    page.wait_for_url("**/home/workspaces/code")
    page.goto(f"{site.url}/home/workspaces")
    looked(page, "workspaces")
