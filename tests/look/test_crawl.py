"""Every kind of page of a filled portal: no axe finding, error or overflow, and nothing jumps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.look.crawl import crawl, sign_in, table
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture(scope="module")
def demo() -> Iterator[tuple[Portal, str, str]]:
    """Return a portal with the demo, and the sign-in of its owner."""
    folder = Folder()
    portal = Portal(folder, is_furnished=True)
    portal.start()
    said = portal.manage("demo")
    found = re.search(r"sign in as (\S+) with (\S+)", said)
    assert found, said
    yield portal, found[1], found[2]
    portal.stop()
    folder.close()


def test_pages_of_a_filled_portal_are_calm_and_accessible(
    browser: Browser, demo: tuple[Portal, str, str]
) -> None:
    portal, email, password = demo
    people = [
        (sign_in(browser, portal.url, email, password), ["/aurora/"]),
        (sign_in(browser, portal.url, EMAIL, PASSWORD), ["/platform/"]),
    ]
    visits = list(crawl(browser, portal.url, people))
    print(table(visits))
    assert len({one.path for one in visits}) > 150
    assert [what for one in visits for what in one.complaints] == []
