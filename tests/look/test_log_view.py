"""Test the log view in a real browser, with logs of real jobs."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.integration]

HOSTILE = r"""
printf '<img src=x onerror="window.owned=1">\n<script>window.owned=1</script>\n'
printf '\033[31mred\033[0m then plain\n'
printf '\033]8;;javascript:window.owned=1\033\\link\033]8;;\033\\\n'
printf '\033[31;"><img src=x onerror=window.owned=1>mtail\n'
for i in 1 2 3; do printf '\rprogress %d' $i; done; printf '\n'
printf '\377\376\000bytes\n'
echo '한국어 日本語'
echo 'ERROR: it broke'
exit 3
"""
EVERY_LINE = """() => [...document.querySelectorAll('.log-line')]
    .map((l) => [l.querySelector('a').textContent, l.querySelector('.t').textContent])"""
TWO_FRAMES = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => "
    "done(true))))"
)
AT_THE_END = """() => { const v = document.querySelector('.log-view');
    return v.scrollHeight - v.scrollTop - v.clientHeight < 20; }"""


def open_log(page: Page, site: Site, number: int, line: str = "") -> None:
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs{line}")
    certificate = page.locator(
        "[data-certificate][title*=sha256]"
    )  # sent on the websocket after the last byte
    expect(certificate).to_contain_text("complete", timeout=60_000)
    expect(page.locator(".log-line").first).to_be_attached()


def shown(page: Page) -> dict[int, str]:
    """Return the rows in the page by line number."""
    return {int(number): text for number, text in page.evaluate(EVERY_LINE)}


def test_log_with_markup_is_shown_as_text(page: Page, site: Site) -> None:
    number = site.submit(HOSTILE)
    site.ended(number)
    open_log(page, site, number)
    rows = shown(page)
    assert rows[1] == '<img src=x onerror="window.owned=1">'
    assert rows[2] == "<script>window.owned=1</script>"
    assert rows[3] == "red then plain"
    assert rows[4] == "link"
    assert rows[6] == "progress 3"
    assert rows[7].endswith("bytes")
    assert rows[8] == "한국어 日本語"
    assert page.evaluate("window.owned") is None
    assert page.locator(".log-view img, .log-view script").count() == 0
    assert page.locator(".log-view a[href^=javascript]").count() == 0


def test_log_shows_every_line_once_in_order(page: Page, site: Site) -> None:
    number = site.submit("seq -f 'line %.0f' 3000")
    site.ended(number)
    open_log(page, site, number)
    written = site.log(number).decode().splitlines()
    seen: dict[int, str] = {}
    for top in range(0, 3000 * 18, 500):
        page.evaluate("(top) => { document.querySelector('.log-view').scrollTop = top; }", top)
        page.wait_for_function(TWO_FRAMES)
        seen |= shown(page)
    assert [seen[n] for n in sorted(seen)] == written
    assert sorted(seen) == list(range(1, 3001))


def test_log_groups_fold_and_search_opens_them(page: Page, site: Site) -> None:
    number = site.submit(
        "echo ::group::Install; seq -f 'package %.0f' 50; echo ::endgroup::; echo ok"
    )
    site.ended(number)
    open_log(page, site, number)
    group = page.locator(".log-group")
    expect(group).to_have_attribute("aria-expanded", "false")
    assert list(shown(page)) == [1, 53]
    group.click()
    expect(page.locator(".log-line")).to_have_count(53)
    expect(group).to_be_focused()
    group.press("Enter")
    expect(page.locator(".log-line")).to_have_count(2)
    page.fill("[data-search]", "package 33")
    expect(page.locator(".log-line mark.is-now")).to_have_text("package 33")


def test_log_search_counts_and_steps_through_matches(page: Page, site: Site) -> None:
    number = site.submit("seq -f 'line %.0f' 5000")
    site.ended(number)
    open_log(page, site, number)
    expected = [n for n in range(1, 5001) if "77" in str(n)]
    page.fill(".log-bar [data-search]", "77")
    expect(page.locator("[data-hits]")).to_have_text(f"1 of {len(expected):,}")
    for place in range(1, 4):
        expect(page.locator("mark.is-now")).to_have_text("77")
        current = page.locator(".log-line:has(mark.is-now) > a").text_content()
        assert current == str(expected[place - 1])
        page.press(".log-bar [data-search]", "Enter")
    page.press(".log-bar [data-search]", "Shift+Enter")
    expect(page.locator("[data-hits]")).to_have_text(f"3 of {len(expected):,}")


def test_log_line_link_opens_at_the_line(page: Page, site: Site) -> None:
    number = site.submit("seq -f 'line %.0f' 4000")
    site.ended(number)
    open_log(page, site, number, "#L2500")
    expect(page.locator(".log-line.is-target > .t")).to_have_text("line 2500")
    expect(page.locator(".log-line.is-target")).to_be_in_viewport()


def test_log_line_link_of_a_running_job_opens_at_the_line(page: Page, site: Site) -> None:
    number = site.submit("seq -f 'line %.0f' 4000; sleep 120")
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs#L2500")
    expect(page.locator(".log-line.is-target > .t")).to_have_text("line 2500", timeout=30_000)
    expect(page.locator(".log-line.is-target")).to_be_in_viewport()
    site.api.post(f"/jobs/{number}/cancel", json={})


def test_log_follow_pauses_on_scroll_and_resumes(page: Page, site: Site) -> None:
    number = site.submit("for i in $(seq 600); do echo line $i; sleep 0.05; done")
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    follow, view = page.locator("[data-do=follow]"), page.locator(".log-view")
    expect(page.locator("[data-count]")).to_have_text(
        re.compile(r"^(?:[89]\d|[1-9]\d\d) lines"), timeout=30_000
    )
    expect(follow).to_have_attribute("aria-pressed", "true")
    view.hover()
    page.mouse.wheel(0, -400)
    expect(follow).to_have_attribute("aria-pressed", "false")
    place = page.evaluate("document.querySelector('.log-view').scrollTop")
    before = page.locator("[data-count]").text_content()
    expect(page.locator("[data-count]")).not_to_have_text(before or "", timeout=10_000)
    assert page.evaluate("document.querySelector('.log-view').scrollTop") == place
    follow.click()
    expect(follow).to_have_attribute("aria-pressed", "true")
    page.wait_for_function(AT_THE_END)
    site.api.post(f"/jobs/{number}/cancel", json={})


def test_log_wrap_and_timestamps_are_remembered(page: Page, site: Site) -> None:
    number = site.submit("printf 'x%.0s' $(seq 2000); echo; echo short")
    site.ended(number)
    open_log(page, site, number)
    page.click("[data-do=wrap]")
    page.click("[data-do=times]")
    first = page.locator(".log-line").first
    assert (first.bounding_box() or {"height": 0})["height"] > 36
    expect(first.locator("time")).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
    page.reload()
    expect(page.locator("[data-do=wrap]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".log-line time").first).to_be_visible()


def test_log_of_two_million_lines_scrolls_to_its_end(page: Page, site: Site) -> None:
    number = site.submit("seq 2500000", cpus=1)
    site.ended(number, 120)
    open_log(page, site, number)
    expect(page.locator("[data-count]")).to_contain_text("2,500,000 lines", timeout=60_000)
    page.evaluate(
        "() => { const v = document.querySelector('.log-view'); v.scrollTop = v.scrollHeight; }"
    )
    expect(page.locator(".log-line > a", has_text=re.compile("^2500000$"))).to_be_in_viewport()
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs#L2200000")
    expect(page.locator(".log-line.is-target > .t")).to_have_text("2200000", timeout=60_000)
    expect(page.locator(".log-line.is-target")).to_be_in_viewport()
