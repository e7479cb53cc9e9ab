"""Walk through the page of a job: why it failed, why it waits, the tasks of an array."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.look.conftest import Site, watch

pytestmark = [pytest.mark.browser, pytest.mark.integration]

FAILS = r"""
seq -f 'step %.0f' 900
printf 'Traceback (most recent call last):\n  File "train.py", line 9\nKeyError: %s\n' "'data'"
seq -f 'cleaning up %.0f' 300
exit 3
"""
IN_VIEW = """() => {
    const view = document.querySelector('.log-view').getBoundingClientRect();
    const line = document.querySelector('.log-line.is-reason')?.getBoundingClientRect();
    return Boolean(line && line.top >= view.top && line.bottom <= view.bottom);
}"""


@pytest.fixture(params=[False, True], ids=["desktop", "phone"])
def screen(request: pytest.FixtureRequest, signed_in: Callable[..., BrowserContext]) -> Page:
    """Return a page at 1440 or 390 px; the test fails on any browser error."""
    with signed_in(phone=request.param) as context:
        page = context.new_page()
        complaints: list[str] = []
        watch(page, complaints)
        yield page
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert complaints == [] and width <= 0


def test_failed_job_opens_its_log_at_the_error(screen: Page, site: Site) -> None:
    number = site.submit(FAILS)
    site.ended(number)
    screen.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    reason = screen.locator(".log-line.is-reason")
    expect(reason.locator(".t")).to_have_text("Traceback (most recent call last):")
    screen.wait_for_function(IN_VIEW)
    screen.evaluate("() => { document.querySelector('.log-view').scrollTop = 0; }")
    expect(reason).to_have_count(0)
    screen.click("[data-do=error]")
    screen.wait_for_function(IN_VIEW)


def test_failed_job_leads_from_overview_to_the_error(screen: Page, site: Site) -> None:
    number = site.submit(FAILS)
    site.ended(number)
    screen.goto(f"{site.url}/home/jobs/{number}")
    expect(screen.locator("[data-tail]")).to_contain_text("cleaning up 300")
    expect(screen.locator(".phases li").last).to_contain_text("Failed")
    screen.click("[data-at-error]")
    screen.wait_for_function(IN_VIEW)


def test_pending_job_says_why_and_offers_an_action(screen: Page, site: Site) -> None:
    number = site.submit("true", cpus=0.1)
    site.ended(number)
    spec = {"name": "waits", "run": "true", "resources": {"cpus": 0.1}, "after": []}
    first = site.submit("sleep 300")
    spec["after"] = [f"{first}"]
    made = site.api.post("/jobs", json={"team": "default", "spec": spec}).json()["number"]
    screen.goto(f"{site.url}/home/jobs/{made}")
    note = screen.locator("[data-pending]")
    expect(note).to_contain_text(f"Waiting for #{first} to finish.")
    expect(note.get_by_role("link", name=f"Open #{first}")).to_be_visible()
    site.api.post(f"/jobs/{made}/hold", json={})
    expect(note).to_contain_text("On hold.")  # changes in place
    note.get_by_role("button", name="Release").click()
    expect(note).to_contain_text(f"Waiting for #{first} to finish.")
    for one in (made, first):
        site.api.post(f"/jobs/{one}/cancel", json={})


def test_array_is_walked_by_keyboard(screen: Page, site: Site) -> None:
    run = 'echo "I am $SLURM_ARRAY_TASK_ID"; [ "$SLURM_ARRAY_TASK_ID" != 2 ]'
    spec = {"name": "grid", "run": run, "resources": {"cpus": 0.1}, "array": 4}
    number = site.api.post("/jobs", json={"team": "default", "spec": spec}).json()["number"]
    site.ended(number)
    screen.goto(f"{site.url}/home/jobs/{number}")
    expect(screen.locator(".array-sum")).to_contain_text("4 of 4 finished")
    expect(screen.locator(".task-bar")).to_contain_text("Task 3 of 4")  # the one that failed
    expect(screen.locator(".task-cell[aria-current]")).to_have_attribute(
        "aria-label", "Task 2: failed"
    )
    screen.locator(".task-cell[aria-current]").focus()
    screen.keyboard.press("Home")
    screen.keyboard.press("ArrowRight")
    screen.keyboard.press("Enter")
    expect(screen.locator(".task-bar")).to_contain_text("Task 2 of 4")
    expect(screen.locator(".phases li").last).to_contain_text("Succeeded")
    expect(screen.locator("[data-tail]")).to_contain_text("I am 1")
    screen.locator(".task-bar a[rel=next]").click()
    expect(screen.locator(".task-bar")).to_contain_text("Task 3 of 4")
