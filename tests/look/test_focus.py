"""Focus on every list: kept after Back, sorting, filtering and paging; keys on every list."""

from __future__ import annotations

from contextlib import suppress

import pytest
from playwright.sync_api import Error, Page, expect

from tests.look.conftest import Site
from tests.rig.portal import EMAIL

pytestmark = [pytest.mark.browser, pytest.mark.integration]
FOCUSED = "document.activeElement"
ROW = f"{FOCUSED}?.closest('table.list tbody tr')?.rowIndex ?? -1"
# What has the focus is in the window and has an outline or a ring
VISIBLE = f"""(() => {{
  const one = {FOCUSED}, box = one.getBoundingClientRect(), style = getComputedStyle(one);
  return box.bottom > 0 && box.top < innerHeight && (style.outlineStyle !== "none" || style.boxShadow !== "none");
}})()"""


def pages(page: Page, site: Site) -> list[str]:
    """Return the pages of both navigations."""
    found = []
    for start in ("/home/", "/platform/"):
        page.goto(site.url + start)
        found += page.locator(".rail a.item").evaluate_all("all => all.map((a) => a.pathname)")
    return found


def faults_of(page: Page, path: str) -> list[str]:
    """Walk a list by keyboard: skip link, rows, open, Back, sort."""
    faults = []
    page.keyboard.press("Tab")
    if page.evaluate(f"{FOCUSED}.className") != "skip":
        faults.append("the skip link is not first")
    page.keyboard.press("Enter")
    if page.evaluate(f"{FOCUSED}.id") != "content":
        faults.append("the skip link does not move the focus")
    page.keyboard.press("j")
    if page.evaluate(ROW) < 0:
        return faults  # no rows, or they lead nowhere
    if not page.evaluate(VISIBLE):
        faults.append("the focus on a row can't be seen")
    row, here = page.evaluate(ROW), page.url
    page.keyboard.press("Enter")
    with suppress(Error):  # a row that opens nothing
        page.wait_for_url(lambda url: url != here, timeout=5_000)
    if page.url != here:
        page.go_back()
        page.wait_for_load_state()
        if page.evaluate(ROW) != row:
            faults.append("Back does not return to the row")
    sort = page.locator("table.list th a").first
    if sort.count():
        sort.focus()
        with page.expect_navigation():
            page.keyboard.press("Enter")
        if "sort:" not in page.evaluate(f"{FOCUSED}.dataset.focus ?? ''"):
            faults.append("sorting loses the focus")
    return [f"{path}: {one}" for one in faults]


def test_every_list_is_walked_by_keyboard(page: Page, site: Site) -> None:
    for n in range(3):
        number = site.submit("exit 3" if n else "true", name=f"focus-{n}")
    site.ended(number)
    faults = []
    for path in pages(page, site):
        page.goto(site.url + path)
        faults += faults_of(page, path)
    assert faults == []


def test_filter_by_menus_keeps_the_focus_and_finds_failures(page: Page, site: Site) -> None:
    site.ended(site.submit("exit 3", name="menu-failed"))
    page.goto(f"{site.url}/home/jobs")
    page.get_by_role("navigation", name="Quick filters").get_by_text("Failed").click()
    page.wait_for_url("**state=failed")
    assert page.evaluate(f"{FOCUSED}.dataset.focus").startswith("filter:state")
    owner = page.locator("[data-values=owner]")
    owner.locator("summary").click()
    owner.get_by_role("link").first.click()
    page.wait_for_url("**owner=**")
    assert page.evaluate(f"{FOCUSED}.localName") != "body"
    page.locator("[data-values=on] summary").click()
    page.get_by_role("link", name="Today").click()
    page.wait_for_url("**on=today**")
    expect(page.locator(".filters [data-search]")).to_have_value(
        f"state:failed user:{EMAIL} on:today"
    )
    expect(page.locator("tbody tr").first).to_contain_text("menu-failed")
    page.locator(".filters [data-search]").fill("state:faild")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="state:failed").click()
    page.wait_for_url("**state=failed")


def test_dialog_keeps_the_focus_inside_and_gives_it_back(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs")
    page.locator("[data-action=find]").focus()
    page.keyboard.press("Control+k")
    page.locator("#palette input").fill("dark mode")
    expect(page.get_by_role("option", name="Dark theme")).to_be_visible()
    for _ in range(3):
        page.keyboard.press("Tab")
        assert page.evaluate(
            f"!{FOCUSED} || {FOCUSED} === document.body || !!{FOCUSED}.closest('dialog')"
        )
    page.keyboard.press("Escape")
    assert page.evaluate(f"{FOCUSED}.dataset.action") == "find"
