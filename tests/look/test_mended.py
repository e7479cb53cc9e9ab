"""Journeys that were broken once and that no other test walks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.look.conftest import Site, write_yaml
from tests.rig.environment import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.integration]
CUT = """() => [...document.querySelectorAll("label > span, .field > span, th, dt, .stat > *, .meter > *")]
    .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.clientWidth
        && getComputedStyle(one).textOverflow === "ellipsis").map((one) => one.innerText)"""
LINES = """(state) => { const range = document.createRange(); range.selectNodeContents(state);
    return new Set([...range.getClientRects()].map((one) => Math.round(one.bottom / 8))).size; }"""


def test_job_that_fits_no_node_is_refused_before_it_is_submitted(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs/new")
    write_yaml(page, "run: train\nresources: {accelerators: h100:16}\n")
    expect(page.locator("[data-verdict]")).to_contain_text("Can't be submitted")
    expect(page.locator("[data-new-job] button.primary")).to_be_disabled()


def test_dry_run_opens_beside_the_form(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs/new?example=hello")
    page.click("[data-dry-run]")
    drawer = page.locator("#dry-run")
    expect(drawer).to_contain_text("access:")
    box = drawer.bounding_box()
    assert box and box["height"] >= 800 and box["width"] >= 400


def test_quota_without_a_limit_has_no_bar(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/quotas")
    cells = page.locator(".quotas tbody tr").first.locator("td", has_text="No limit")
    expect(cells.first).to_be_visible()
    assert cells.locator(".bar, .meter, progress, [role=meter]").count() == 0


def test_state_stays_on_one_line_of_a_phone(
    signed_in: Callable[..., BrowserContext], site: Site
) -> None:
    number = site.submit("sleep 60", name="a-name-that-fills-the-width-of-a-phone-" * 2)
    with signed_in(phone=True) as context:
        page = context.new_page()
        for path in (f"jobs?q={number}", f"jobs/{number}"):
            page.goto(f"{site.url}/home/{path}")
            state = page.locator("main .state > span:not(.visually-hidden)").first
            expect(state).to_be_visible()
            assert state.evaluate(LINES) == 1, path
    site.api.post(f"/jobs/{number}/cancel", json={})


def test_labels_are_shown_whole(signed_in: Callable[..., BrowserContext], site: Site) -> None:
    for is_phone in (False, True):
        with signed_in(phone=is_phone) as context:
            page = context.new_page()
            for path in ("", "jobs", "jobs/new", "nodes", "quotas", "people", "access"):
                page.goto(f"{site.url}/home/{path}")
                assert page.evaluate(CUT) == [], (path, is_phone)


def test_copy_buttons_are_visible_without_a_pointer(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/secrets")
    button = page.locator("[data-action=copy]").first
    expect(button).to_be_visible()
    assert button.evaluate("(b) => getComputedStyle(b).opacity") == "1"


def test_every_key_is_in_the_map(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs")
    page.keyboard.press("?")
    shown = page.locator("#keys kbd").all_inner_texts()
    source = (ROOT / "static/js/keys.js").read_text()
    handled = re.search(r"const acts = \{(.*?)\n  \};", source, re.DOTALL)
    assert handled
    keys = re.findall(r"^    \"?([^\s\":]+)\"?: ", handled[1], re.MULTILINE)
    assert {"j", "x", "?"} <= set(keys) <= set(shown)
    targets = page.eval_on_selector_all(
        ".rail a[data-key]", "links => links.map((link) => link.dataset.key)"
    )
    assert targets and len(set(targets)) == len(targets) and set(targets) <= set(shown)


def test_cpu_is_called_allocated_or_usage_never_used(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/nodes")
    expect(page.get_by_role("columnheader", name="CPU allocated")).to_be_visible()
    expect(page.get_by_role("columnheader", name="CPU usage")).to_be_visible()
    assert "CPU used" not in page.locator("body").inner_text()


def test_notifications_are_read_and_filtered_in_the_drawer(page: Page, site: Site) -> None:
    number = site.submit("exit 3", name="fails-loudly")
    site.ended(number)
    page.goto(f"{site.url}/home/nodes")
    expect(page.locator(".unread-count")).to_be_visible(timeout=60_000)
    page.keyboard.press("i")
    drawer = page.locator("dialog.drawer")
    expect(drawer.locator(".is-unread", has_text="fails-loudly")).to_have_count(1)
    drawer.get_by_role("button", name="Mark as read").first.click()
    expect(page.locator(".unread-count")).to_be_hidden()
    drawer.locator(".tabs a", has_text="Unread").click()
    expect(drawer).to_contain_text("Nothing here")
    drawer.get_by_label("Kind").select_option("job_failed")
    expect(drawer.locator("[aria-current]")).to_contain_text("Unread")
    expect(drawer.locator(":focus")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(page.locator("[data-notifications]")).to_be_focused()
    assert page.url == f"{site.url}/home/nodes"


def test_dialog_begins_in_its_first_field(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/teams")
    opener = page.get_by_role("button", name="New team").first
    opener.click()
    expect(page.locator("dialog[open] input:not([type=hidden])").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
