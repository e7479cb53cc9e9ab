"""Provide Chromium for end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.look.conftest import FLAGS, watch
from tests.rig.processes import program


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the installed Chromium."""
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program("chromium"), args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a signed-out page that fails the test on any browser error."""
    made, complaints = browser.new_page(viewport={"width": 1440, "height": 900}), []
    watch(made, complaints)
    yield made
    made.context.close()
    assert complaints == []
