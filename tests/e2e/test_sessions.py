"""Sessions as a person uses them: three clicks to a terminal, and to a cell of a real JupyterLab."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.e2e.test_first_job import sign_in
from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.processes import Folder, free_port, is_listening, wait_until

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


def run_cell(lab: Page, code: str, output: str) -> None:
    """Run the first cell of a new notebook in JupyterLab."""
    lab.locator('.jp-LauncherCard[data-category="Notebook"]').first.click(timeout=60_000)
    is_idle = lab.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
    expect(is_idle).to_be_visible(timeout=60_000)
    cell = lab.locator(".jp-Notebook .cm-content").first
    cell.click()
    lab.keyboard.type(code)
    expect(cell).to_have_text(code)
    shown = lab.locator(".jp-OutputArea-output").first
    for _ in range(6):  # JupyterLab drops a cell that is run before the new kernel has answered
        cell.click()
        lab.keyboard.press("Shift+Enter")
        with suppress(TooLate):
            shown.wait_for(timeout=10_000)
            break
    expect(shown).to_have_text(output)


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


def test_shell_outlives_a_restart_of_the_portal(portal: Portal, page: Page):
    sign_in(page, portal)
    app = opened(page, portal, "terminal")
    app.locator(".xterm-screen").click()
    app.keyboard.type("kept=41; echo on $MUSTER_JOB_NUMBER\n")
    session = page.url
    page.goto("about:blank")
    portal.stop()
    portal.begin()
    portal.await_answer()
    expect(app.locator("#note")).to_be_hidden(timeout=60_000)  # it connects again by itself
    app.locator(".xterm-screen").click()
    app.keyboard.type("echo $((kept + 1))\n")
    expect(app.locator(".xterm-rows")).to_contain_text("42")
    page.goto(session)
    stop(page)


def test_cell_runs_in_a_real_jupyterlab_without_a_token(portal: Portal, page: Page):
    sign_in(page, portal)
    app = opened(page, portal, "jupyter")
    run_cell(app, "print(6 * 7)", "42\n")
    assert "token" not in app.url
    _open_at_a_forwarded_port(portal, page.url.rpartition("/")[2])
    stop(page)


def _open_at_a_forwarded_port(portal: Portal, number: str) -> None:
    """There JupyterLab asks for the token that the command prints."""
    where = {"MUSTER_URL": portal.url, "MUSTER_TOKEN": portal.token()}
    env = os.environ | where | {"PYTHONPATH": str(ROOT / "client")}
    muster, local = (sys.executable, "-m", "muster"), free_port()
    token = subprocess.check_output((*muster, "session", "token", number), env=env, text=True)
    words = ("port-forward", number, "app", "--local", str(local))
    with subprocess.Popen((*muster, *words), env=env) as forward:
        try:
            wait_until(lambda: is_listening(local), "it listens")
            url = f"http://127.0.0.1:{local}/api/kernels"
            assert httpx.get(url).status_code == 403
            assert httpx.get(url, params={"token": token.strip()}).status_code == 200
        finally:
            forward.terminate()


def test_app_that_hangs_shows_its_log_and_is_restarted(portal: Portal, page: Page):
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/sessions/new?template=app&cpus=0.1&memory=64Mi")
    page.locator("[name=command]").fill("echo job $MUSTER_JOB_NUMBER hangs; sleep 600")
    page.get_by_role("button", name="Start session").click()
    log = page.locator(".tail-lines")
    expect(log).to_contain_text("hangs", timeout=60_000)
    first = log.inner_text()
    with page.expect_popup() as popup:  # the button waits until it is ready
        page.evaluate(
            "(path) => { open(path); }", page.url.replace("sessions", "jobs") + "/ports/app"
        )
    app = popup.value
    expect(app.locator("h1")).to_have_text("The app is starting")
    expect(app.locator("pre")).to_contain_text("hangs")
    app.get_by_role("link", name="Restart or stop it").click()
    app.get_by_role("button", name="Restart", exact=True).click()
    app.get_by_role("button", name="Restart session").click()
    log = app.locator(".tail-lines")
    expect(log).to_contain_text("hangs", timeout=60_000)
    assert log.inner_text() != first, "another job"
    stop(app)


def test_app_that_crashes_says_why(portal: Portal, page: Page):
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/sessions/new?template=app&cpus=0.1&memory=64Mi")
    page.locator("[name=command]").fill("echo it crashes; exit 3")
    page.get_by_role("button", name="Start session").click()
    expect(page.locator(".job-head .state")).to_have_text("failed", timeout=60_000)
    expect(page.locator("[data-reason]")).to_contain_text("The command failed")
    expect(page.locator(".tail-lines")).to_contain_text("it crashes")


WORKER = r"""
from http.server import BaseHTTPRequestHandler, HTTPServer
import os

PAGE = "<h1>an app</h1><script>navigator.serviceWorker.register('/worker.js')</script>"
CACHED = 'new Response("<h1>from the cache</h1>", {headers: {"Content-Type": "text/html"}})'
SCRIPT = (
    "self.addEventListener('activate', e => e.waitUntil(clients.claim()));"
    f"self.addEventListener('fetch', e => e.respondWith({CACHED}))"
)

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        is_script = self.path == "/worker.js"
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_script else "text/html")
        self.end_headers()
        self.wfile.write((SCRIPT if is_script else PAGE).encode())

HTTPServer(("127.0.0.1", int(os.environ["MUSTER_PORT_APP"])), Handler).serve_forever()
"""


def test_service_worker_ends_with_its_session(portal: Portal, page: Page):
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/sessions/new?template=app&cpus=0.1&memory=64Mi")
    page.locator("[name=command]").fill(f"python3 - <<'END'\n{WORKER}END")
    page.get_by_role("button", name="Start session").click()
    expect(page.locator(".job-head .state")).to_have_text("ready", timeout=60_000)
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open", exact=True).click()
    app = popup.value
    expect(app.locator("h1")).to_have_text("an app")
    app.evaluate("navigator.serviceWorker.ready.then(() => 0)")
    app.reload()
    expect(app.locator("h1")).to_have_text("from the cache")
    stop(page)
    app.reload()
    expect(app.locator("h1")).to_have_text("The session has ended.")


def test_missing_program_is_told_with_a_fix(portal: Portal, page: Page):
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/sessions/new?template=vscode")
    page.get_by_role("button", name="Start session").click()
    reason = page.locator("[data-reason]")
    expect(reason).to_contain_text("code-server is not installed", timeout=30_000)
    page.get_by_role("link", name="Start another like this").click()
    expect(page.locator("input[value=vscode]")).to_be_checked()


def test_terminal_button_opens_a_shell_beside_the_app(portal: Portal, page: Page):
    sign_in(page, portal)
    page.goto(f"{portal.url}/home/sessions/new?template=app")
    page.locator("[name=command]").fill(
        'python3 -m http.server --bind 127.0.0.1 "$MUSTER_PORT_APP"'
    )
    page.get_by_role("button", name="Start session").click()
    expect(page.locator(".job-head .state")).to_have_text("ready", timeout=60_000)
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Terminal").click()
    shell = popup.value
    shell.locator(".xterm-screen").click()
    shell.keyboard.type("echo $((6 * 7)) $MUSTER_PORT_APP\n")
    expect(shell.locator(".xterm-rows")).to_contain_text("42")
    stop(page)
    expect(shell.locator("#note")).to_contain_text("The session has ended. View session")
