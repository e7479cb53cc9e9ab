"""Test administration pages in a real Chromium."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.look.conftest import accept_dialogs
from tests.look.test_directory_page import looked

pytestmark = [pytest.mark.browser, pytest.mark.integration]


def test_announcement_is_shown_on_all_pages_until_dismissed(site, page):
    accept_dialogs(page)
    page.goto(f"{site.url}/home/announcements")
    looked(page, "announcements-none")
    for level, text in (
        ("trouble", "The filesystem of the GPU cluster is slow; we are on it."),
        ("note", "a-word-without-a-break-" * 12),
    ):
        page.click("[data-opens-dialog=announce]")
        page.fill("[name=text]", text)
        page.select_option("[name=level]", level)
        page.check("[name=wide]")
        page.click("dialog button.primary")
        page.wait_for_selector(f".announcements >> text={text[:20]}")
    looked(page, "announcements")
    page.goto(f"{site.url}/home/jobs")
    looked(page, "announced-jobs")
    page.click(".announcements .note.bad button")
    page.wait_for_url(f"{site.url}/home/jobs")
    expect(page.locator(".announcements .note")).to_have_count(1)
    page.goto(f"{site.url}/home/announcements")
    for left in (1, 0):
        page.click("td.act button >> nth=0")
        expect(page.locator("td.wide")).to_have_count(left)
    expect(page.locator(".announcements")).to_have_count(0)


def test_people_file_is_previewed_then_imported(site, page):
    file = {"name": "people.csv", "mimeType": "text/csv"}
    page.goto(f"{site.url}/home/people/import")
    looked(page, "import-empty")
    page.set_input_files(
        "[name=file]", file | {"buffer": b"email;team\nno address;\nina@else.example;chess\n"}
    )
    page.click("button.primary")
    page.wait_for_selector("text=2 lines have problems")
    looked(page, "import-faults")
    lines = "".join(f"p{n}@else.example;Person {n};default\n" for n in range(12))
    page.set_input_files(
        "[name=file]", file | {"buffer": f"\ufeffemail;name;team\n{lines}".encode()}
    )
    page.click("button.primary")
    page.wait_for_selector("text=12 invited")
    looked(page, "import-would")
    page.click("text=Import 12 people")
    page.wait_for_selector("text=Import finished.")
    looked(page, "import-done")
    expect(page.locator(".copy pre")).to_contain_text("p11@else.example,http")


def test_first_steps_are_checked_off_automatically(site, page):
    page.goto(f"{site.url}/home/")
    looked(page, "guide-home")
    page.click("#guide >> text=Continue")
    looked(page, "guide")
    page.fill("#name [name=name]", "Example AG")
    page.click("#name button")
    expect(page.locator("[data-step=named].is-done")).to_have_count(1)
    page.click("text=Hide from Home")
    page.goto(f"{site.url}/home/")
    expect(page.locator("#guide")).to_have_count(0)


def test_organizations_and_teams_are_created_in_the_browser(site, page, browser):
    """The last test of this module, because impersonation changes the shared session."""
    page.goto(f"{site.url}/platform/organizations")
    looked(page, "platform")
    for slug in ("atlas", "borealis"):
        page.goto(f"{site.url}/platform/organizations")
        page.keyboard.press("c")
        page.fill("dialog [name=name]", slug.capitalize())
        page.fill("[name=slug]", slug)
        page.fill("[name=email]", f"owner@{slug}.example")
        page.click("dialog button.primary")
        link = page.locator(".note.good .copy pre").inner_text()
        looked(page, f"platform-{slug}")
        with browser.new_context() as context:
            owner = context.new_page()
            owner.goto(link)
            for field in ("password1", "password2"):
                owner.fill(f"[name={field}]", "an owner's long password")
            owner.click("main button[type=submit], form button.primary")
            owner.goto(f"{site.url}/accounts/login/?next=/{slug}/teams")
            if owner.locator("[name=login]").count():
                owner.fill("[name=login]", f"owner@{slug}.example")
                owner.fill("[name=password]", "an owner's long password")
                owner.click("button[type=submit]")
            owner.wait_for_url(f"{site.url}/{slug}/teams")
            owner.click("[data-opens-dialog=new-team]")
            owner.fill("[name=slug]", "vision")
            owner.click("text=Create team")
            owner.wait_for_selector("text=Team vision created")
    page.goto(f"{site.url}/platform/organizations")
    expect(page.locator("tbody tr")).to_have_count(3)
    page.goto(f"{site.url}/platform/people?q=owner")
    looked(page, "platform-people")
    page.click("tbody a.title >> nth=0")
    looked(page, "platform-person")
    page.fill("form[action$=act] [name=why]", "sees no teams")
    page.click("form[action$=act] button")
    page.wait_for_selector(".acting >> text=owner@atlas.example")
    page.goto(f"{site.url}/atlas/teams")
    looked(page, "acting")
    page.click(".acting button")
    page.wait_for_selector("text=You stopped impersonating")
    expect(page.locator(".acting")).to_have_count(0)
    page.goto(f"{site.url}/platform/people?q=owner@borealis")
    page.click("tbody a.title >> nth=0")
    page.fill("form:has(button[value=suspend]) [name=why]", "on leave")
    page.click("button[value=suspend]")
    page.wait_for_selector(".note.warn >> text=on leave")
    looked(page, "platform-suspended")
