"""Every page has no serious finding of axe-core, in both themes and at both widths."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.look.conftest import Site
from tests.look.crawl import findings

pytestmark = pytest.mark.integration
SIGNED_OUT = ("/accounts/login/", "/accounts/password/reset/", "/api/docs/")
FURTHER = ("/home/jobs/new", "/accounts/2fa/", "/accounts/sessions/", "/accounts/password/change/")
LINKS = """() => [...document.querySelectorAll(".rail a[href], .tabs a[href]")]
  .map((a) => a.pathname + a.search).filter((path) => /^\\/(home|platform)\\//.test(path))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("phone", [False, True], ids=["1440", "390"])
def test_pages_have_no_serious_axe_finding(
    signed_in: Callable[..., BrowserContext], site: Site, phone: bool, theme: str
) -> None:
    number = site.submit("echo hello; exit 1", name="looked-at")
    site.ended(number)
    complaints = []
    with signed_in(phone=phone, theme=theme) as context:
        page = context.new_page()
        paths = ["/home/", "/platform/", f"/home/jobs/{number}", *FURTHER]
        for path in paths:  # grows by what the rails and tabs link to
            page.goto(site.url + path, wait_until="load")
            complaints += [f"{path}: {finding}" for finding in findings(page)]
            paths += [link for link in dict.fromkeys(page.evaluate(LINKS)) if link not in paths]
        context.clear_cookies()
        for path in SIGNED_OUT:
            page.goto(site.url + path, wait_until="networkidle")
            complaints += [f"{path}: {finding}" for finding in findings(page)]
        print(f"{len(paths) + len(SIGNED_OUT)} pages")
    assert complaints == [], "\n".join(complaints)


def test_page_is_walked_by_keyboard_in_reading_order(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('#content').contains(document.activeElement)")
