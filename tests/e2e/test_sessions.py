"""Sessions as a person uses them: three clicks to a terminal, and to a cell of a real JupyterLab."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_first_job import sign_in
from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.processes import Folder

pytestmark = [pytest.mark.browser, pytest.mark.integration]
GUEST = "guest@example.com"
JUPYTER = ROOT / ".venv-jupyter" / "bin"


@pytest.fixture(scope="module")
def portal() -> Iterator[Portal]:
    """Return a portal whose machine has JupyterLab and TensorBoard, but no code-server."""
    folder = Folder()
    path = f"{JUPYTER}:{os.environ['PATH']}"
    made = Portal(folder, settings={"PATH": path}, is_furnished=True)
    made.start()
    yield made
    made.stop()
    folder.close()


def opened(page: Page, portal: Portal, template: str) -> Page:
    """Start a session by its card and return its app."""
    page.goto(f"{portal.url}/home/sessions")
    page.get_by_role("link", name="New session").first.click()
    page.locator(f"input[value={template}]").check()
    expect(page.locator("[data-verdict] strong")).to_contain_text("Starts now")
    page.get_by_role("button", name="Start session").click()
    expect(page.locator(".job-head .state")).to_have_text("ready", timeout=60_000)
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open", exact=True).click()
    return popup.value


def invited(page: Page, portal: Portal) -> Page:
    """Invite a member of the team and return a page of their own browser, signed in."""
    page.goto(f"{portal.url}/home/people?dialog=invite#invite")
    page.fill("#invite [name=email]", GUEST)
    page.locator("#invite [name=team]").select_option("default")
    page.get_by_role("button", name="Invite", exact=True).click()
    link = page.locator(".note.good pre").inner_text().strip()
    browser = page.context.browser
    assert browser is not None
    guest = browser.new_context().new_page()
    guest.goto(link)
    guest.fill("[name=name]", "Gus Guest")
    for field in ("password", "password_again"):
        guest.fill(f"[name={field}]", "a long enough password 14")
    guest.locator("main button[type=submit]").click()
    guest.wait_for_url(f"{portal.url}/home/")
    return guest


def stop(page: Page) -> None:
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Stop session").click()
    expect(page.locator(".job-head .state")).to_have_text("stopped", timeout=30_000)


def test_terminal_runs_commands_and_survives_a_reload(portal: Portal, page: Page):
    sign_in(page, portal)
    app = opened(page, portal, "terminal")
    app.locator(".xterm-screen").click()
    app.keyboard.type("echo $((6 * 7)) $MUSTER_JOB_NUMBER\n")
    rows = app.locator(".xterm-rows")
    expect(rows).to_contain_text("42")
    app.reload()
    expect(rows).to_contain_text("42")
    app.keyboard.type("exit\n")
    expect(app.locator("#note")).to_contain_text("The shell has ended")
    app.keyboard.press("Enter")
    expect(app.locator("#note")).to_be_hidden()
    stop(page)
    expect(app.locator("#note")).to_contain_text("The session has ended. View session")
    app.reload()
    expect(app.locator("h1")).to_have_text("The session has ended.")


def test_home_and_address_stay_and_the_time_limit_is_raised(portal: Portal, page: Page):
    sign_in(page, portal)
    app = opened(page, portal, "terminal")
    app.locator(".xterm-screen").click()
    app.keyboard.type("cd; pwd | sed 's/.*/in &/'; echo kept > note; exit\n")
    expect(app.locator("#note")).to_contain_text("The shell has ended")
    address = app.url
    page.get_by_role("button", name="Extend").click()
    expect(page.locator(".messages")).to_contain_text("more hours")
    expect(page.locator("dl.facts").first).to_contain_text("10h")
    stop(page)
    page.get_by_role("button", name="Start again").click()
    expect(page.locator(".job-head .state")).to_have_text("ready", timeout=60_000)
    app.goto(address)
    app.locator(".xterm-screen").click()
    app.keyboard.type("cat note $HOME/note | tr '\\n' -; history | grep -c kept\n")
    expect(app.locator(".xterm-rows")).to_contain_text("kept-kept-")
    assert app.url == address
    stop(page)


def test_guest_looks_and_types_nothing_until_the_share_ends(portal: Portal, page: Page):
    sign_in(page, portal)
    guest = invited(page, portal)
    app = opened(page, portal, "terminal")
    app.locator(".xterm-screen").click()
    app.keyboard.type("echo $((6 * 7)) seen\n")
    address = page.url
    page.get_by_role("button", name="Share").first.click()
    page.fill("#share [name=who]", GUEST)
    page.locator("#share").get_by_role("button", name="Share").click()
    expect(page.locator(".session-people")).to_contain_text("Can look")
    guest.goto(address)
    with guest.expect_popup() as popup:
        guest.get_by_role("link", name="Look").click()
    theirs = popup.value
    expect(theirs.locator(".xterm-rows")).to_contain_text("42 seen", timeout=30_000)
    expect(theirs.locator("#note")).to_contain_text("You can only look")
    theirs.locator(".xterm-screen").click()
    theirs.keyboard.type("echo $((1 + 8)) typed\n")
    app.keyboard.type("echo $((7 * 7)) later\n")
    expect(theirs.locator(".xterm-rows")).to_contain_text("49 later")
    assert "typed" not in app.locator(".xterm-rows").inner_text()
    time.sleep(10)  # the gateway reports who is in every 10 s
    page.reload()
    expect(page.locator(".session-people")).to_contain_text("in it now", timeout=30_000)
    began = time.monotonic()
    page.get_by_role("button", name="Remove").click()
    expect(page.locator(".messages")).to_contain_text("no longer shared")
    expect(theirs.locator("#note")).to_contain_text("interrupted", timeout=2_000)
    print(f"closed {time.monotonic() - began:.1f} s after the click, its page included")
    theirs.reload()
    expect(theirs.locator("body")).to_contain_text("needs jobs:exec")
    stop(page)


def test_cell_runs_in_a_real_jupyterlab_without_a_token(portal: Portal, page: Page):
    sign_in(page, portal)
    app = opened(page, portal, "jupyter")
    app.locator('.jp-LauncherCard[data-category="Notebook"]').first.click(timeout=60_000)
    cell = app.locator(".jp-Notebook .cm-content").first
    cell.click(timeout=30_000)
    expect(app.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_visible(
        timeout=30_000
    )
    app.keyboard.type("print(6 * 7)")
    app.keyboard.press("Shift+Enter")
    expect(app.locator(".jp-OutputArea-output").first).to_have_text("42\n", timeout=30_000)
    assert "token" not in app.url
    stop(page)


def test_missing_program_is_told_with_a_fix(portal: Portal, page: Page):
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/sessions/new?template=vscode")
    page.get_by_role("button", name="Start session").click()
    reason = page.locator("[data-reason]")
    expect(reason).to_contain_text("code-server is not installed", timeout=30_000)
    page.get_by_role("link", name="Start another like this").click()
    expect(page.locator("input[value=vscode]")).to_be_checked()
