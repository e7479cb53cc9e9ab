"""GPUs from a team's request to their return, and MIG from a wish to undo, on a simulated fleet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.look.conftest import PHONE, WIDE, accept_dialogs, watch
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder

pytestmark = [pytest.mark.browser, pytest.mark.integration]
MINUTES = 180_000  # ms: reservations and plans go on every ten seconds to a minute


@pytest.fixture(scope="module")
def demo() -> Iterator[tuple[Portal, str]]:
    """Return a portal with a small simulated fleet, and the password of its people."""
    folder = Folder()
    portal = Portal(folder, is_furnished=True)
    portal.start()
    said = portal.manage("demo", "--jobs", "40")
    yield portal, said.rsplit(" ", 1)[1]
    portal.stop()
    folder.close()


@pytest.fixture(params=[WIDE, PHONE], ids=["1440", "390"])
def enter(
    browser: Browser, demo: tuple[Portal, str], request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Page]]:
    """`enter(email)`: return the page of a person who has signed in."""
    portal, password = demo
    opened: list[BrowserContext] = []
    complaints: list[str] = []

    def page_of(email: str) -> Page:
        context = browser.new_context(viewport=request.param, base_url=portal.url)
        opened.append(context)
        page = context.new_page()
        page.goto("/accounts/login/")
        page.fill("[name=login]", email)
        page.fill("[name=password]", PASSWORD if email == EMAIL else password)
        page.click("button[type=submit]")
        page.wait_for_url(lambda url: "/login/" not in url)
        watch(page, complaints)
        accept_dialogs(page)
        return page

    yield page_of
    for context in opened:
        for page in context.pages:
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= request.param["width"], f"{page.url} scrolls sideways"
        context.close()
    assert complaints == []


def day(days: int) -> str:
    return (date.today() + timedelta(days=days)).isoformat()


def panel(page: Page, title: str):
    return page.locator(".panel").filter(has=page.get_by_role("heading", name=title, exact=True))


def request_gpus(page: Page) -> str:
    """Ask for GPUs as a member of a team; return the path of the request."""
    page.goto("/aurora/pools")
    page.get_by_role("link", name="GPU requests").click()
    page.get_by_role("button", name="Request GPUs").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Team").select_option("robotics")
    form.get_by_label("Number of GPUs").fill("8")
    form.get_by_label("GPU model").select_option("h100")
    form.get_by_label("Until").fill(day(10))
    form.get_by_label("Purpose").fill("Fair in Seoul")
    form.get_by_role("button", name="Send request").click()
    page.wait_for_url(re.compile(r"/aurora/pool-requests/[0-9a-f-]+$"))
    expect(page.locator(".page-head .state")).to_have_text("open")
    expect(panel(page, "Details")).to_contain_text("Fair in Seoul")
    return page.url[page.url.index("/aurora") :]


def approve_two(page: Page, path: str) -> None:
    """See the effect as an operator, and approve fewer."""
    page.goto("/platform/pool-requests")
    page.locator(f"a[href='{path.replace('/aurora/', '/platform/')}']").click()
    effect = panel(page, "h100")
    for words in ("Free now", "Would wait longer", "Holds back", "jobs of other teams wait"):
        expect(effect).to_contain_text(words)
    page.get_by_label("GPUs", exact=True).fill("2")
    page.get_by_role("button", name="Show effect").click()
    effect.get_by_role("button", name="Approve 2 in h100").click()
    expect(panel(page, "Reservation")).to_be_visible()
    expect(panel(page, "History")).to_contain_text("8 were requested")


def run_in_pool(page: Page) -> None:
    """Choose the pool in the form of a new job, and follow the job to its node."""
    page.goto("/aurora/jobs/new")
    page.get_by_label("Team").select_option("robotics")
    page.locator("[data-field='policy.pool']").select_option("h100")
    page.get_by_label("Name", exact=True).fill("grasp")
    page.get_by_label("Command", exact=True).fill("python grasp.py")
    page.get_by_label("GPUs", exact=True).fill("1")
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile(r"/aurora/jobs/\d+$"))
    expect(page.locator(".content .state").first).to_have_text("running", timeout=MINUTES)
    page.goto(page.url)
    expect(page.locator("a[href='/aurora/pools/h100']").first).to_be_visible()
    page.locator("a[href^='/aurora/nodes/dgx-']").first.click()
    expect(page.locator("h1")).to_contain_text("dgx-")


def test_gpus_from_request_to_return(enter: Callable[[str], Page]) -> None:
    amara = enter("amara.okafor@aurora.example")
    path = request_gpus(amara)
    approve_two(enter(EMAIL), path)
    amara.reload()
    expect(amara.locator(".page-head .state").first).to_have_text("active")
    expect(amara.locator("h1")).to_have_text("2 × H100")
    run_in_pool(enter("lukas.novak@aurora.example"))

    amara.get_by_role("button", name="Renew").click()
    renew = amara.get_by_role("dialog")
    renew.get_by_label("Until").fill(day(30))
    renew.get_by_role("button", name="Send request").click()
    amara.goto("/aurora/pool-requests")
    expect(amara.locator("tr").filter(has_text=day(30)).first).to_contain_text("open")
    amara.goto(path)
    amara.get_by_role("button", name="Return GPUs").click()
    expect(amara.locator(".page-head .state").first).to_have_text("ended")
    expect(panel(amara, "History")).to_contain_text("Returned")
    amara.goto("/aurora/pool-requests")
    expect(amara.get_by_role("heading", name="Past requests")).to_be_visible()


def test_mig_from_a_wish_to_undo(enter: Callable[[str], Page]) -> None:
    page = enter(EMAIL)
    page.goto("/platform/mig")
    page.get_by_role("button", name="New plan").click()
    form = page.get_by_role("dialog")
    form.locator("select[name=cluster]").select_option("aurora-gpu")
    form.locator("[name='n.1g.10gb']").fill("14")
    form.get_by_role("button", name="Show plan").click()
    page.wait_for_url(re.compile(r"/platform/mig/[0-9a-f-]+$"))
    plan = page.url
    expect(page.locator(".page-head .sub")).to_contain_text("2 GPUs change")
    expect(page.locator(".mig-gpu")).to_have_count(2)
    expect(page.locator(".mig-gpu").first).to_contain_text("Before")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".page-head .state")).to_have_text("done", timeout=MINUTES)
    page.locator(".mig-gpu").first.get_by_role("link").click()
    expect(panel(page, "Details")).to_contain_text("1g.10gb")
    page.goto("/platform/mig")
    expect(page.locator("tr").filter(has_text="aurora-gpu").first).to_contain_text("14 × 1g.10gb")

    page.goto(plan)
    page.get_by_role("button", name="Undo…").click()
    page.wait_for_url(lambda url: "/platform/mig/" in url and url != plan)
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".page-head .state")).to_have_text("done", timeout=MINUTES)
    page.goto(plan)
    expect(page.locator(".page-head .state")).to_have_text("undone")
