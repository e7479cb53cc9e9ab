"""Connect a directory, set its rules and sync it in a real Chromium."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

from tests.look import wizard
from tests.look.conftest import PHONE, WIDE, accept_dialogs
from tests.rig.portal import PASSWORD
from tests.rig.processes import Folder
from tests.rig.slapd import Slapd, password_of, start_slapd

pytestmark = [pytest.mark.browser, pytest.mark.integration]
OPTIONS = ("url", "bind_dn", "bind_password", "ca", "people_base", "group_base")


@pytest.fixture(scope="module")
def slapd() -> Iterator[Slapd]:
    folder = Folder()
    try:
        yield start_slapd(folder)
    finally:
        folder.close()


def looked(page, name: str) -> None:
    """Check for overflow; take screenshots in both themes if MUSTER_TEST_LOOK is set."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for size in (WIDE, PHONE):
            page.set_viewport_size(size)
            page.wait_for_timeout(300)  # the sidebar is open
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], (
                name,
                size,
            )
            if folder := os.environ.get("MUSTER_TEST_LOOK"):
                page.screenshot(path=f"{folder}/{name}-{size['width']}-{theme}.png", full_page=True)
    page.set_viewport_size(WIDE)


def coming_in(site, browser, name: str):
    """Return a page of a user who signs in through the directory."""
    page = browser.new_context().new_page()
    page.goto(f"{site.url}/accounts/login/")
    page.fill("[name=login]", name)
    page.fill("[name=password]", password_of(name))
    page.click("button[type=submit]")
    return page


def ways_to_sign_in(site, page) -> None:
    """Change the rules after re-authentication."""
    page.goto(f"{site.url}/accounts/linked/")
    looked(page, "linked-asks")
    page.click("text=Confirm it's you")
    page.fill("[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.click("summary >> text=Link Corp")
    looked(page, "linked")
    page.set_extra_http_headers({"Accept-Language": "ko"})
    page.reload()
    looked(page, "linked-ko")
    page.set_extra_http_headers({"Accept-Language": "en"})


def connect_after_mistakes(page, slapd) -> None:
    """Connect a directory; each mistake is told at the field that causes it."""
    page.click("text=Connect a directory")
    page.click("text=LDAP directory")
    given = {name: str(slapd.options()[name]) for name in OPTIONS}
    wizard.fill(page, {"slug": "corp", "title": "Corp", **given, "bind_password": "mistyped"})
    wizard.fill(page, {"people_base": "people", "people_filter": "(uid=*"})
    page.click("[data-wizard-next]")
    wrong = page.locator("[data-step=people] [aria-invalid=true]")
    wrong.nth(1).wait_for()
    assert wrong.evaluate_all("all => all.map(field => field.name)") == [
        "people_base",
        "people_filter",
    ]
    page.wait_for_selector("[name=people_base]:focus")
    looked(page, "refused")
    wizard.fill(page, {"people_base": given["people_base"], "people_filter": ""})
    wizard.test(page)
    page.wait_for_selector("[data-at=is_private] >> text=on a private network")
    page.click("[data-correct=is_private]")
    page.check("[name=is_private]")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-at=bind_password] >> text=rejected the bind DN")
    page.click("[data-correct=bind_password]")
    page.fill("[name=bind_password]", given["bind_password"])
    page.keyboard.press("Enter")
    page.wait_for_selector(".note.good >> text=3 people and 6 groups")
    page.fill("[name=person]", "ada")
    page.keyboard.press("Enter")
    page.wait_for_selector(".checklist .ok >> text=Ada Lovelace (ada@corp.example)")
    looked(page, "form")
    page.click("[data-wizard-next]")
    assert page.locator("#groups option").count() == 6
    page.check("[name=wide]")
    page.click("[data-save]")


def test_directory_is_connected_and_people_are_imported(site, page, browser, slapd):
    accept_dialogs(page)
    page.goto(f"{site.url}/home/directories")
    looked(page, "empty")
    connect_after_mistakes(page, slapd)
    page.wait_for_url(re.compile("/home/directories/corp(#.*)?$"))
    looked(page, "new")
    page.locator("[name=group]").first.press_sequentially("staff")
    page.wait_for_selector("#groups option", state="attached")
    assert (
        page.locator("#groups option").first.get_attribute("value")
        == "cn=staff,ou=groups,dc=corp,dc=example"
    )
    page.locator("[name=group]").first.fill("cn=staff,ou=groups,dc=corp,dc=example")
    page.set_viewport_size({"width": 320, "height": 700})
    assert (
        page.locator("[data-whole]:visible").first.inner_text()
        == "cn=staff,ou=groups,dc=corp,dc=example"
    ), "cut in its field, whole beneath"
    page.set_viewport_size(WIDE)
    page.locator("[name=group]").nth(1).fill("cn=research,ou=groups,dc=corp,dc=example")
    page.locator("[name=place]").nth(1).select_option("home/default")
    page.click("text=Save rules")
    page.click("text=Dry run")
    page.wait_for_selector("text=Dry run result")
    looked(page, "diff")
    page.click("text=Sync now")
    page.wait_for_selector("text=Last sync")
    looked(page, "run")
    page.goto(f"{site.url}/home/directories")
    looked(page, "list")
    ways_to_sign_in(site, page)
    theirs = coming_in(site, browser, "ada")
    theirs.wait_for_url(f"{site.url}/home/")
    slapd.stop()
    theirs.reload()
    assert theirs.url == f"{site.url}/home/"
    others = coming_in(site, browser, "bob")
    others.wait_for_selector("text=Corp does not respond")
    looked(others, "sign-in-down")
    page.goto(f"{site.url}/home/directories/corp")
    looked(page, "down")
