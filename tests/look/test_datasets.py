"""Test the pages of datasets in a real Chromium, as somebody uses them who has a folder of data."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.look.conftest import accept_dialogs
from tests.look.test_directory_page import looked

pytestmark = [pytest.mark.browser, pytest.mark.integration]
FILES = {
    "README.md": b"# Flowers\n\nFrom **the garden**.\n",
    "train/labels.csv": b"name,colour\nrose,red\nlily,white\n",
    "train/rows.jsonl": b'{"n": 1}\n{"n": 2, "note": "second"}\n',
    "test/labels.csv": b"name,colour\ntulip,yellow\n",
    "test/config.json": b'{"size": 8}',
}


@pytest.fixture
def folder(tmp_path):
    top = tmp_path / "flowers"
    for path, data in FILES.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_bytes(data)
    return top


def drop(page, folder) -> None:
    """Drag a folder from the desktop onto the page."""
    data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 700, "y": 400, "data": data})


def test_folder_is_uploaded_browsed_changed_and_restored(site, page, signed_in, folder):
    accept_dialogs(page)
    page.goto(f"{site.url}/home/datasets")
    looked(page, "datasets-none")
    sent: list[str] = []
    page.on("request", lambda request: request.method == "PATCH" and sent.append(request.url))
    create_by_drop(page, folder)
    assert len(sent) == 5
    preview_and_download(page)
    tag(page, site, "v1.0")
    sent.clear()
    (folder / "train/labels.csv").write_bytes(b"name,colour\nrose,pink\nlily,white\n")
    upload_again(page, site, folder)
    assert len(sent) == 1
    compare_and_restore(page, site)
    trash_and_undo(page)
    with signed_in(phone=True, theme="dark") as context:
        phone = context.new_page()
        for path in ("", "/tree/train", "/file/README.md", "/versions", "/compare", "/settings"):
            phone.goto(f"{site.url}/home/datasets/flowers{path}")
            assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def create_by_drop(page, folder) -> None:
    """Drop a folder onto the list: it becomes a dataset."""
    drop(page, folder)
    dialog = page.locator("#new-repository")
    expect(dialog.locator("[name=name]")).to_have_value("flowers")
    expect(dialog.locator("[data-files] li")).to_have_count(5)
    expect(dialog.locator("[data-files]")).to_contain_text("train/rows.jsonl")
    dialog.locator("button.primary:visible").click()
    page.wait_for_url("**/home/datasets/flowers")
    expect(page.locator(".page-head .sub")).to_contain_text("5 files")
    expect(page.locator(".markdown strong")).to_have_text("the garden")
    looked(page, "dataset")


def preview_and_download(page) -> None:
    page.click("table.files >> text=train")
    page.click("table.files >> text=labels.csv")
    expect(page.locator(".data td.mono")).to_have_text(["rose", "red", "lily", "white"])
    looked(page, "dataset-file")
    with page.expect_download() as download:
        page.click("main header >> text=Download")
    assert download.value.path().read_bytes() == FILES["train/labels.csv"]


def tag(page, site, name: str) -> None:
    page.goto(f"{site.url}/home/datasets/flowers/versions")
    page.click("td.act summary")
    page.fill("td.act [name=name]", name)
    page.click("[value=tag]")
    expect(page.locator(".chip.tag")).to_contain_text(name)


def upload_again(page, site, folder) -> None:
    page.goto(f"{site.url}/home/datasets/flowers")
    page.click("[data-opens-upload]")
    page.locator("#upload [data-folder]").set_input_files(folder)
    page.fill("#upload [name=message]", "Roses are pink")
    page.click("#upload button.primary:visible")
    expect(page.locator(".page-head .sub")).to_contain_text("version 2")


def compare_and_restore(page, site) -> None:
    page.click("main nav.tabs >> text=Versions")
    looked(page, "dataset-versions")
    page.click(".counts >> nth=0")
    expect(page.locator(".spec-lines .removed code")).to_have_text("rose,red")
    expect(page.locator(".spec-lines .added code")).to_have_text("rose,pink")
    looked(page, "dataset-compare")

    # Delete a file, and go back to the tagged version
    page.goto(f"{site.url}/home/datasets/flowers/tree/test")
    page.check("tr:has-text('config.json') input")
    page.click("#bulk .danger")
    page.wait_for_selector("text=config.json was deleted.")
    page.goto(f"{site.url}/home/datasets/flowers/versions")
    row = page.locator("tr:has-text('v1.0')")
    row.locator("summary").click()
    row.locator("[value=restore]").click()
    page.wait_for_selector("text=The files are those of version 1 again.")
    page.click("main nav.tabs >> text=Files")
    expect(page.locator(".page-head .sub")).to_contain_text("5 files")


def trash_and_undo(page) -> None:
    """Ask what a rule would delete, move it to the trash, and take it back."""
    page.click("main nav.tabs >> text=Settings")
    page.fill("[name=keep_last]", "1")
    page.click("[value=plan]")
    expect(page.locator("#retention .note")).to_contain_text("Would delete 2 versions")
    looked(page, "dataset-settings")
    page.click("[value=delete]")
    page.wait_for_url("**/home/datasets#retention")
    expect(page.locator("main .empty")).to_be_visible()
    page.click(".messages .undo button")
    page.wait_for_url("**/home/datasets/flowers")


def test_upload_survives_a_lost_connection_and_another_commit(site, signed_in):
    body = {"team": "default", "name": "shared"}
    assert site.api.post("/datasets", json=body).status_code == 201
    lost: list[str] = []

    def lose(route):
        if route.request.method == "PATCH" and len(lost) < 2:
            lost.append(route.request.url)
            route.abort("connectionreset")
        else:
            route.continue_()

    # A page of its own, because the browser logs the errors that are provoked here
    with signed_in() as context:
        page = context.new_page()
        page.route("**/uploads/*", lose)
        page.goto(f"{site.url}/home/datasets/shared/upload")
        files = [{"name": "a.bin", "mimeType": "text/plain", "buffer": b"x" * (3 << 20)}]
        page.locator("form.upload input[type=file]:not([data-folder])").set_input_files(files)
        assert site.api.post("/datasets/shared/commits", json=_readme(site)).status_code == 201
        page.click("form.upload button.primary:visible")
        page.wait_for_selector("text=Somebody else has committed")
        assert len(lost) == 2
        page.click("[data-onto]")
        page.wait_for_url("**/home/datasets/shared")
        expect(page.locator("table.files a.title")).to_have_text(["README.md", "a.bin"])


def _readme(site) -> dict[str, object]:
    """Upload a file as somebody else does, and return the body of its commit."""
    stored = site.api.put("/datasets/shared/contents", content=b"# Shared").json()
    change = {"op": "add", "path": "README.md", "sha256": stored["sha256"]}
    return {"message": "Describe", "changes": [change]}
