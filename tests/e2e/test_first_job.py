"""Test a new user's first steps: new home, sign-in, one click, and a job to watch.

The gate watches it in the portal of `test_readme.py`, which is a fresh one, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.postgres import create_database
from tests.rig.processes import Folder
from tests.rig.redis import start_redis

pytestmark = [pytest.mark.browser, pytest.mark.integration]
DRAWN = "(canvas) => canvas.toDataURL().length + ':' + canvas.toDataURL().slice(-4000)"


@pytest.fixture(scope="module", params=["embedded", "server"])
def fresh(request: pytest.FixtureRequest) -> Iterator[Portal]:
    """Start a portal with a new home; in server mode, the whole stack on an empty database."""
    folder, addresses = Folder(), ("", "")
    if request.param == "server":
        addresses = (
            create_database(request.getfixturevalue("postgres_url"), "first_job"),
            start_redis(folder).url,
        )
    portal = Portal(folder, *addresses)
    assert not portal.home.exists()
    portal.start()
    yield portal
    portal.stop()
    folder.close()


def sign_in(page: Page, portal: Portal) -> None:
    page.goto(f"{portal.url}/")
    page.fill("[name=login]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(f"{portal.url}/home/")


def moves(wait_for: Callable, look: Callable[[], object], times: int = 3) -> bool:
    """Wait until the value has changed that many times, without a reload."""
    for _ in range(times):
        before = look()
        wait_for(lambda before=before: look() != before, 60, 0.1)
    return True


def watch_the_example(
    portal: Portal, page: Page, wait_for: Callable, finish: Callable[[], None] = lambda: None
) -> None:
    """Sign in, press “Run the example”, and see everything move without a reload until the end.

    `finish` is called once everything has moved, and may let the job end.
    """
    sign_in(page, portal)
    page.get_by_role("button", name="Run the example").click()
    page.wait_for_url(re.compile(r"/home/jobs/1\b"))
    page.evaluate("window.same = true")
    curve = page.locator("[data-curves] .chart canvas").first
    curve.wait_for(timeout=60_000)
    assert moves(wait_for, lambda: curve.evaluate(DRAWN))
    page.locator("[data-tab=logs]").click()
    count = page.locator("[data-log] [data-count]")
    expect(count).to_contain_text("lines", timeout=60_000)
    assert moves(wait_for, count.inner_text)
    page.locator("[data-tab=metrics]").click()
    loss = (
        page.locator(
            "#tab-metrics .chart", has=page.locator(".chart-title", has_text=re.compile("^loss$"))
        )
        .locator("canvas")
        .first
    )
    loss.wait_for(timeout=60_000)
    assert moves(wait_for, lambda: loss.evaluate(DRAWN))
    finish()
    expect(page.locator(".job-head .state")).to_have_class(re.compile("succeeded"), timeout=90_000)
    page.locator("[data-tab=logs]").click()
    complete = re.compile(r"^\s*The log is complete: [\d,]+ bytes\.\s*$")
    expect(page.locator("[data-certificate]")).to_have_text(complete, timeout=60_000)
    assert page.evaluate("window.same") is True, (
        "the page was loaded again; it should move by itself"
    )


def test_new_user_runs_the_example_to_success(fresh: Portal, page: Page, wait_for: Callable):
    watch_the_example(fresh, page, wait_for)


def test_job_page_after_a_reload_is_unchanged(fresh: Portal, page: Page):
    sign_in(page, fresh)
    page.goto(f"{fresh.url}/home/jobs/1?tab=logs")
    expect(page.locator(".job-head .state")).to_have_class(re.compile("succeeded"))
    expect(page.locator("[data-certificate]")).to_contain_text("The log is complete: ")
    expect(page.locator(".log-view .pad")).to_contain_text("accuracy", ignore_case=True)
    page.goto(f"{fresh.url}/home/jobs/1?tab=metrics")
    expect(page.locator(".chart")).not_to_have_count(0)
    page.goto(f"{fresh.url}/home/jobs")
    expect(page.locator("tr[data-href='/home/jobs/1'] .state")).to_have_class(
        re.compile("succeeded")
    )


def test_browser_without_a_session_is_asked_to_sign_in(fresh: Portal, page: Page):
    sign_in(page, fresh)
    page.context.clear_cookies()
    page.goto(f"{fresh.url}/home/jobs/1")
    expect(page.locator("[name=password]")).to_be_visible()
    assert "/accounts/login" in page.url
