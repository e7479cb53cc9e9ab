"""Test `muster login` with a real portal, the real command and a real browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import accept_dialogs
from tests.rig.environment import ROOT
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture(scope="module")
def portal() -> Iterator[Portal]:
    folder = Folder()
    made = Portal(folder, is_furnished=True)
    made.start()
    yield made
    made.stop()
    folder.close()


def _login(portal: Portal, config: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "MUSTER_CONFIG": config}
    return subprocess.Popen(
        [sys.executable, "-m", "muster", "login", portal.url],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _link(command: subprocess.Popen[str]) -> str:
    assert command.stderr is not None
    for line in command.stderr:
        if found := re.search(r"https?://\S+", line):
            return found[0]
    raise AssertionError("it showed no link")


def _whoami(config: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "client"), "MUSTER_CONFIG": config}
    return subprocess.run(
        [sys.executable, "-m", "muster", "whoami"],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_device_login_lasts_until_its_token_is_revoked(portal: Portal, page: Page, tmp_path):
    config = str(tmp_path / "config.toml")
    command = _login(portal, config)
    page.goto(_link(command))
    page.fill("[name=login]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    expect(page.get_by_role("heading", name="Sign in to the CLI?")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="You're signed in to the CLI")).to_be_visible()
    out, _ = command.communicate(timeout=60)
    assert (
        command.returncode == 0
        and f"Signed in to {portal.url} as {EMAIL}, organization home" in out
    )
    who = _whoami(config)
    assert who.returncode == 0 and EMAIL in who.stdout
    accept_dialogs(page)
    page.goto(f"{portal.url}/home/tokens")
    page.locator("tr", has_text="muster login").get_by_role("button", name="Revoke").click()
    expect(
        page.locator("tr", has_text="muster login").get_by_role("button", name="Revoke")
    ).to_have_count(0)
    ended = _whoami(config)
    assert ended.returncode == 4 and "revoked" in ended.stderr


def test_device_login_declined_signs_nothing_in(portal: Portal, page: Page, tmp_path):
    command = _login(portal, str(tmp_path / "config.toml"))
    page.goto(_link(command))
    page.fill("[name=login]", EMAIL)
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Request denied")).to_be_visible()
    _, err = command.communicate(timeout=60)
    assert (
        command.returncode == 4
        and not (tmp_path / "config.toml").exists()
        and "denied in the browser" in err
    )
