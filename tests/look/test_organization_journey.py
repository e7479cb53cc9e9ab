"""A team admin invites, sets quotas and changes roles; a member requests more and is answered."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import PHONE, WIDE, Site, watch

pytestmark = [pytest.mark.browser, pytest.mark.integration]
MEMBER, MEMBER_PASSWORD = "ben@atlas.example", "a long enough password 14"


@pytest.mark.parametrize("screen", [WIDE, PHONE], ids=["1440", "390"])
def test_admin_and_member_settle_people_roles_and_quotas(site: Site, page: Page, screen: Any):
    page.set_viewport_size(screen)
    email = f"{screen['width']}{MEMBER}"
    member = _invited(page, site, email)
    _change_role_and_undo(page, site, email)
    _set_limit_and_undo(page, site)
    _request_more(member, site)
    _approve(page, site)
    member.goto(f"{site.url}/home/quotas")
    member.get_by_text("Past requests").click()
    expect(member.locator(".ask-row").first).to_contain_text("Approved")
    for one in (page, member):
        assert one.evaluate("document.documentElement.scrollWidth") <= screen["width"]
    member.context.close()


def _invited(page: Page, site: Site, email: str) -> Page:
    """Invite somebody, who accepts in a browser of their own."""
    page.goto(f"{site.url}/home/people")
    page.get_by_role("button", name="Invite people").click()
    page.fill("#invite [name=email]", email)
    page.locator("#invite [name=team]").select_option("default")
    page.get_by_role("button", name="Invite", exact=True).click()
    expect(page.locator(".note.good")).to_contain_text("1 person was invited")
    link = page.locator(".note.good pre").inner_text().strip()
    browser = page.context.browser
    assert browser is not None
    other = browser.new_context(viewport=page.viewport_size).new_page()
    complaints: list[str] = []
    watch(other, complaints)
    other.goto(link)
    other.fill("[name=name]", "Ben Adler")
    other.fill("[name=password]", MEMBER_PASSWORD)
    other.fill("[name=password_again]", MEMBER_PASSWORD)
    other.locator("main button[type=submit]").click()
    other.wait_for_url(f"{site.url}/home/")
    return other


def _change_role_and_undo(page: Page, site: Site, email: str) -> None:
    page.goto(f"{site.url}/home/people/{email}")
    role = page.get_by_label("Role of Ben Adler").first
    role.select_option("admin")
    dialog = page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("Make Ben Adler an admin? Admins can manage")
    dialog.get_by_role("button", name="Cancel").click()
    expect(role).to_have_value("member")
    role.select_option("admin")
    dialog.get_by_role("button", name="Change role").click()
    expect(page.locator(".messages")).to_contain_text("Role updated")
    expect(role).to_have_value("admin")
    page.get_by_role("button", name="Undo").click()
    expect(role).to_have_value("member")
    page.goto(f"{site.url}/home/audit?kind=member.changed")
    expect(page.locator("tr.opener").filter(has_text=email)).to_have_count(2)


def _limit(page: Page) -> Any:
    return page.locator("a[data-who='team:default'][data-resource=cpu]")


def _set_limit_and_undo(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/quotas?all=1")
    before = _limit(page).inner_text()
    _limit(page).click()
    page.keyboard.press("Escape")
    expect(_limit(page)).to_be_focused()
    page.keyboard.press("Enter")
    page.locator(".limit-edit input[name=limit]").fill("6")
    page.keyboard.press("Enter")
    expect(page.locator(".messages")).to_contain_text("Limit updated: default, CPU cores")
    expect(_limit(page)).to_have_text("6")
    page.get_by_role("button", name="Undo").click()
    expect(_limit(page)).to_have_text(before)
    _limit(page).click()
    page.locator(".limit-edit input[name=limit]").fill("4")
    page.locator(".limit-edit button").click()
    expect(_limit(page)).to_have_text("4")
    page.get_by_role("link", name=re.compile("^Default$", re.IGNORECASE)).first.click()
    drawer = page.locator("dialog.drawer")
    expect(drawer).to_contain_text("Using it now")
    expect(drawer).to_contain_text("6 →")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


def _request_more(member: Page, site: Site) -> None:
    member.goto(f"{site.url}/home/quotas")
    expect(member.locator(".limit")).to_have_count(0)
    expect(member.get_by_role("button", name="Request more")).to_be_visible()
    member.goto(f"{site.url}/home/quotas?ask=team:default&resource=cpu")  # as a job's page links
    dialog = member.get_by_role("dialog", name="Request a higher limit")
    expect(dialog.locator("[name=who]")).to_have_value("team:default")
    expect(dialog.locator("[name=resource]")).to_have_value("cpu")
    dialog.locator("[name=amount]").fill("12")
    dialog.locator("[name=why]").fill("The evaluation runs until Friday")
    dialog.get_by_role("button", name="Send request").click()
    expect(member.locator(".messages")).to_contain_text("Request sent")


def _approve(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/quotas?all=1")
    asks = page.locator("#asks")
    expect(asks).to_contain_text("The evaluation runs until Friday")
    asks.get_by_role("button", name="Approve").click()
    expect(_limit(page)).to_have_text("12")
    page.get_by_role("button", name="Undo").click()
    expect(_limit(page)).to_have_text("4")
    asks.get_by_role("button", name="Approve").click()
    expect(_limit(page)).to_have_text("12")
