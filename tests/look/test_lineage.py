"""Test lineage, the Parquet preview and the pages of storage in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.look.conftest import accept_dialogs
from tests.look.test_directory_page import looked

pytestmark = [pytest.mark.browser, pytest.mark.integration]
PARQUET = Path(__file__).parent / "parquet"


def upload(site, name: str, files: dict[str, bytes], kind: str = "datasets") -> None:
    """Commit files to a repository, which is created if needed."""
    site.api.post(f"/{kind}", json={"team": "default", "name": name})
    changes = []
    for path, data in files.items():
        stored = site.api.put(f"/{kind}/{name}/contents", content=data).raise_for_status().json()
        changes.append({"op": "add", "path": path, "sha256": stored["sha256"]})
    body = {"message": f"Add {len(files)} files", "changes": changes}
    site.api.post(f"/{kind}/{name}/commits", json=body).raise_for_status()


def submit(site, **spec) -> dict:
    spec = {"run": "ls $MUSTER_INPUT_DATA", "resources": {"cpus": 0.1, "memory": "256Mi"}, **spec}
    answer = site.api.post("/jobs", json={"team": "default", "spec": spec})
    return answer.raise_for_status().json()


def test_lineage_is_drawn_and_followed_by_keyboard(site, page, signed_in):
    upload(site, "flowers", {"a.txt": b"1"})
    jobs = [submit(site, name=f"train-{n}", inputs={"data": "flowers@1"}) for n in range(3)]
    run = site.ended(jobs[0]["number"])["id"].replace("-", "")
    site.api.put(f"/runs/{run}/artifacts/model/weights.bin", content=b"w").raise_for_status()
    site.api.post("/models", json={"team": "default", "name": "digits"}).raise_for_status()
    body = {"source": f"runs:/{run}/model"}
    site.api.post("/models/default/digits/versions", json=body).raise_for_status()
    upload(site, "resnet", {"model.bin": b"w"}, "checkpoints")
    body = {"source": "checkpoints:/resnet@1"}
    site.api.post("/models/default/digits/versions", json=body).raise_for_status()

    page.goto(f"{site.url}/home/datasets/flowers")
    page.click("main nav.tabs >> text=Lineage")
    nodes = page.locator("[data-graph] [data-node]")
    expect(nodes).to_have_count(5)
    expect(page.locator(".lineage table a.title")).to_have_count(4)
    looked(page, "lineage-dataset")
    nodes.locator("text=flowers v1").locator("..").focus()
    page.keyboard.press("ArrowRight")
    assert "train-" in page.evaluate("document.activeElement.textContent")
    expect(page.locator(".link.is-lit").first).to_be_attached()
    page.keyboard.press("Enter")
    page.wait_for_url("**/home/jobs/*")
    page.goto(f"{site.url}/home/jobs/{jobs[0]['number']}")
    page.click("[data-tab=lineage]")
    page.wait_for_url("**tab=lineage")
    expect(page.locator("[data-graph] [data-node]")).to_have_count(3)
    expect(page.locator("[data-graph] .is-current .title")).to_contain_text("train-0")
    looked(page, "lineage-job")
    page.click("[data-tab=overview]")
    expect(page.locator("#tab-lineage")).to_be_hidden()
    page.goto(f"{site.url}/home/models/default/digits/versions/2?tab=lineage")
    expect(page.locator("[data-graph] .title")).to_have_text(["resnet v1", "digits v2"])
    looked(page, "lineage-model")
    page.goto(f"{site.url}/home/runs/{run}?tab=lineage")
    expect(page.locator("[data-graph] [data-node]")).to_have_count(3)
    upload(site, "alone", {"a": b"1"})
    page.goto(f"{site.url}/home/datasets/alone/lineage")
    expect(page.locator(".empty")).to_contain_text("Nothing else is recorded")
    looked(page, "lineage-alone")


def test_parquet_is_shown_as_a_table_read_by_ranges(site, page):
    names = ("snappy", "gzip", "zstd", "brotli", "lz4", "bomb")
    files = {f"{name}.parquet": (PARQUET / f"{name}.parquet").read_bytes() for name in names}
    files["cut.parquet"] = files["snappy.parquet"][:5000]
    files["empty.parquet"] = b""
    upload(site, "tables", files)
    asked: list[str] = []
    page.on("request", lambda one: "raw/" in one.url and asked.append(one.headers.get("range", "")))
    here = f"{site.url}/home/datasets/tables/file"
    for name in names[:5]:
        page.goto(f"{here}/{name}.parquet")
        expect(page.locator(".parquet tbody tr")).to_have_count(100)
        expect(page.locator(".parquet tbody tr >> nth=8 >> td")).to_have_text(
            [
                "9",
                "8",
                "row 8 <b>&",
                "2",
                "2026-01-01T08:00:00.000Z",
                '["t0","t1"]',
                '{"x":8,"y":{"z":"deep"}}',
                f"{'08 ' * 16}… (20 B)",
                "0.08",
            ]
        )
    assert asked and all(one.startswith("bytes=") for one in asked)
    page.goto(f"{here}/snappy.parquet")
    expect(page.locator(".parquet")).to_contain_text("150 rows · 8 columns · 3 row groups · snappy")
    expect(page.locator(".parquet")).to_contain_text("the first 100 rows")
    looked(page, "parquet")
    page.goto(f"{here}/bomb.parquet")
    expect(page.locator(".parquet")).to_contain_text("These columns can't be shown: z.")
    page.goto(f"{here}/cut.parquet")
    expect(page.locator(".parquet")).to_contain_text("not a valid Parquet file")
    looked(page, "parquet-damaged")
    page.goto(f"{here}/empty.parquet")
    expect(page.locator("main")).to_contain_text("The file is empty.")


def test_storage_names_the_next_step_for_what_is_unused(site, page):
    accept_dialogs(page)
    for data in (b"1" * 50_000, b"2" * 10_000, b"3"):
        upload(site, "grown", {"a.bin": data})
    site.api.put("/datasets/grown/contents", content=b"nobody named me").raise_for_status()
    upload(site, "old", {"a": b"1" * 20_000})
    site.api.delete("/datasets/old").raise_for_status()
    page.goto(f"{site.url}/home/storage")
    page.click("main nav.tabs >> text=All data")
    expect(page.locator("main")).to_contain_text("Job logs")
    expect(page.locator("tr:has-text('grown')")).to_contain_text("3 versions")
    looked(page, "storage-use")
    page.click("main nav.tabs >> text=Unused")
    expect(page.locator("tr:has-text('old')")).to_contain_text("In the trash until")
    expect(page.locator("tr:has-text('Files that no version names')")).to_have_count(1)
    looked(page, "storage-unused")
    page.click("tr:has-text('2 versions without') >> text=See what retention would free")
    expect(page.locator("#retention .note")).to_contain_text("Would delete 2 versions and free")
    looked(page, "dataset-space")
    page.click("#retention >> text=Delete now")
    page.wait_for_selector("text=The versions were deleted.")
    expect(page.locator("#space")).to_contain_text("0 of 1")
