"""Provide a real portal, a real Chromium, and jobs with logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder, program, wait_until

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
expect.set_options(timeout=30_000)  # a busy machine needs more than the default of five seconds
FINAL = {"succeeded", "failed", "canceled"}


@dataclass
class Site:
    """The portal: `submit` returns a job's number, `ended` waits for its end."""

    portal: Portal
    api: httpx.Client

    @property
    def url(self) -> str:
        return self.portal.url

    def submit(self, run: str, name: str = "a job", cpus: float = 0.1) -> int:
        spec = {"name": name, "run": run, "resources": {"cpus": cpus, "memory": "256Mi"}}
        answer = self.api.post("/jobs", json={"team": "default", "spec": spec})
        assert answer.status_code == httpx.codes.CREATED, answer.text
        return int(answer.json()["number"])

    def job(self, number: int) -> dict[str, Any]:
        return dict(self.api.get(f"/jobs/{number}").json())

    def ended(self, number: int, seconds: float = 120) -> dict[str, Any]:
        wait_until(
            lambda: self.job(number)["state"] in FINAL, f"job {number} ends", seconds, every=0.1
        )
        certificate = f"/jobs/{number}/logs/certificate"
        wait_until(
            lambda: self.api.get(certificate).json()["certificate"], "its log is closed", 60, 0.1
        )
        return self.job(number)

    def log(self, number: int) -> bytes:
        return self.api.get(f"/jobs/{number}/logs/download").content


@pytest.fixture(scope="module")
def portal_settings() -> dict[str, str]:
    """Return additional environment variables of the module's portal."""
    return {}


@pytest.fixture(scope="module")
def site(portal_settings: dict[str, str]) -> Iterator[Site]:
    """Return the module's own embedded portal."""
    folder = Folder()
    portal = Portal(folder, settings=portal_settings, is_furnished=True)
    portal.start()
    headers = {"Authorization": f"Bearer {portal.token()}"}
    with httpx.Client(
        base_url=f"{portal.url}/api/v1/orgs/home", headers=headers, timeout=60
    ) as api:
        yield Site(portal, api)
    portal.stop()
    folder.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the installed Chromium."""
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program("chromium"), args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def signed_in(browser: Browser, site: Site) -> Callable[..., BrowserContext]:
    """`signed_in(width=…, theme="dark")`: return a browser context with Ada's session."""
    page = browser.new_page()
    page.goto(f"{site.url}/accounts/login/")
    page.fill("[name=login]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_url(f"{site.url}/home/")
    state = page.context.storage_state()
    page.context.close()

    def make(*, phone: bool = False, theme: str = "light") -> BrowserContext:
        screen = PHONE if phone else WIDE
        return browser.new_context(
            storage_state=state, viewport=screen, color_scheme=theme, has_touch=phone
        )

    return make


@pytest.fixture
def page(signed_in: Callable[..., BrowserContext]) -> Iterator[Page]:
    """Return a page of Ada's that fails the test on any browser error."""
    with signed_in() as context:
        made = context.new_page()
        complaints: list[str] = []
        watch(made, complaints)
        yield made
        assert complaints == []


def write_yaml(page: Page, text: str) -> None:
    """Replace the text of the YAML editor as a person does, by the keyboard."""
    page.get_by_label("YAML").focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Backspace")
    page.keyboard.insert_text(text)


def watch(page: Page, complaints: list[str]) -> None:
    """Collect browser errors: exceptions, refused scripts, missing files."""
    page.on("pageerror", lambda error: complaints.append(f"exception: {error}"))
    page.on(
        "console",
        lambda said: said.type == "error" and complaints.append(f"{said.text} {said.location}"),
    )
    page.on(
        "response", lambda got: got.status >= 500 and complaints.append(f"{got.status} {got.url}")
    )


YES = """
new MutationObserver(() => document.querySelectorAll("dialog.ask[open]:not([data-told])").forEach((dialog) => {
  dialog.dataset.told = ""; told(dialog.querySelector("p").textContent); dialog.querySelector("[value=yes]").click();
})).observe(document, { childList: true, subtree: true });
"""


def accept_dialogs(page: Page) -> list[str]:
    """Confirm every dialog of the page; return their questions."""
    requests: list[str] = []

    def told(question: str) -> None:
        requests.append(question)

    page.expose_function("told", told)
    page.add_init_script(YES)
    page.evaluate(YES)
    return requests
