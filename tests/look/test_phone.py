"""Test the job page on a phone."""

from __future__ import annotations

import pytest

from tests.look.conftest import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.integration]
WITHIN = (
    "(all) => all.every((one) => one.getBoundingClientRect().right <= innerWidth && "
    "one.getBoundingClientRect().width > 0)"
)
ROWS = (
    "(all) => [...new Set(all.map((one) => Math.round(one.getBoundingClientRect().top + "
    "one.getBoundingClientRect().height / 2)))].length"
)


@pytest.mark.parametrize("language", ["en", "ko", "ja"])
def test_phone_shows_the_last_state_and_all_log_tools(site, page, language):
    number = site.submit("echo over; exit 3")
    site.ended(number)
    page.set_viewport_size(PHONE)
    page.set_extra_http_headers({"Accept-Language": language})
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    assert page.locator(".timeline li b").evaluate_all(WITHIN), "how it ended is in sight"
    tools = page.locator(".log-bar :is(input:not([type=hidden]), button, a):visible")
    assert tools.count() >= 8
    assert tools.evaluate_all(WITHIN)
    assert tools.evaluate_all(ROWS) <= 3
