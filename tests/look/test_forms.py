"""Test rejected forms: the input is kept and the field is marked."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.integration]
UNCHECKED = "document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })"


def test_team_form_with_an_error_keeps_input_and_marks_the_field(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/teams")
    page.evaluate(UNCHECKED)
    page.click("[data-opens-dialog=new-team]")
    page.fill("[name=slug]", "Bad Name")
    page.fill("dialog [name=name]", "A good name")
    page.click("text=Create team")
    fault = "Must be 2 to 40 of a-z, 0-9 and '-', begin with a letter and not end with '-'"
    expect(page.locator(".field:has([name=slug]) .error")).to_have_text(fault)
    expect(page.locator("[name=slug]")).to_have_value("Bad Name")
    expect(page.locator("[name=slug]")).to_be_focused()
    expect(page.locator("dialog [name=name]")).to_have_value("A good name")
    expect(page.locator(".messages")).to_have_count(0)
    page.reload()
    expect(page.locator("[name=slug]")).to_have_value("")


def test_browser_checks_are_said_at_each_field_and_go_with_the_mistake(
    page: Page, site: Site
) -> None:
    page.goto(f"{site.url}/home/teams")
    page.click("[data-opens-dialog=new-team]")
    page.click("text=Create team")
    slug, fault = page.locator("[name=slug]"), page.locator(".field:has([name=slug]) .error")
    expect(fault).to_have_text("Fill in this field.")
    expect(slug).to_be_focused()
    page.keyboard.type("Bad Name")
    expect(fault).to_have_count(0)
    page.click("text=Create team")
    expect(fault).to_contain_text("Begin with a letter")
    expect(slug).to_have_attribute("aria-invalid", "true")


def test_form_of_limits_names_the_invalid_amount(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/quotas/team/default")
    for row, text in ((1, "many"), (2, "64"), (3, "many")):
        page.locator("[name=limit]").nth(row).fill(text)
    page.click("text=Preview changes")
    field = page.locator("[name=limit]").nth(1)
    expect(field).to_be_focused()
    expect(field).to_have_value("many")
    expect(page.locator("[name=limit][aria-invalid=true]")).to_have_count(3)
    number = "'many' isn't a number. Enter one such as 32, or none."
    size = "64 would be 64 bytes. Enter a size such as 64Gi, or none."
    expect(page.locator("td .error")).to_have_text([number, size, number])


def test_secret_value_is_not_stored_in_the_browser(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/secrets")
    page.evaluate(UNCHECKED)
    page.evaluate(
        "document.addEventListener('submit', () => { window.name = "
        "sessionStorage.getItem('sent'); })"
    )
    page.keyboard.press("c")
    page.fill("dialog [name=name]", "bad name!")
    page.fill("dialog [name=value]", "never-to-be-kept")
    page.click("text=Save secret")
    expect(page.locator(".field:has([name=name]) .error")).to_be_visible()
    assert "bad name!" in page.evaluate("window.name") and "never-to-be-kept" not in page.evaluate(
        "window.name"
    )


def test_refused_form_in_a_dialog_opens_again_with_the_reason(page: Page, site: Site) -> None:
    taken = site.api.post("/service-accounts", json={"name": "nightly"})
    assert taken.status_code == httpx.codes.CREATED
    page.goto(f"{site.url}/home/service-accounts")
    page.click("[data-opens-dialog=new-account]")
    page.fill("dialog [name=name]", "nightly")
    page.fill("dialog [name=note]", "Builds of the night")
    page.click("dialog button.primary")
    expect(page.locator(".field:has([name=name]) .error")).to_contain_text("nightly")
    expect(page.locator("dialog [name=name]")).to_be_focused()
    expect(page.locator("dialog [name=note]")).to_have_value("Builds of the night")
    page.reload()
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_dialog_opens_by_key_or_address_and_returns_the_focus(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/teams?dialog=new-team")
    button, field = page.locator(".page-head [data-new]"), page.locator("[name=slug]")
    for way in ("the address", "c", " ", "Enter"):
        if way != "the address":
            page.keyboard.press(way)
        expect(field).to_be_focused()
        assert page.locator("dialog:modal").get_attribute("id") == "new-team", way
        page.keyboard.press("Escape")
        expect(button).to_be_focused()
    assert page.url == f"{site.url}/home/teams"


def test_team_is_created_without_scripts(site: Site, signed_in) -> None:
    state = signed_in().storage_state()
    with signed_in().browser.new_context(storage_state=state, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{site.url}/home/teams")
        page.click("text=New team")
        page.fill("[name=slug]", "plain")
        page.click("text=Create team")
        expect(page.locator(".messages")).to_contain_text("plain")
        page.goto(f"{site.url}/home/teams?dialog=new-team")
        page.fill("[name=slug]", "plain")
        page.click("text=Create team")
        expect(page.locator(".messages .note.bad")).to_contain_text("already a team 'plain'")


def test_refused_fields_of_a_dialog_are_all_marked_the_first_with_focus(
    page: Page, site: Site
) -> None:
    page.goto(f"{site.url}/home/notification-channels?dialog=add-channel")
    page.fill("[name=name]", "\u200b")  # which the browser accepts
    page.fill("[name=url]", "http://hooks.example/a")
    page.click("dialog button.primary")
    expect(page.locator("dialog .error")).to_have_count(2)
    expect(page.locator("[name=name]")).to_be_focused()
    expect(page.locator("[name=url]")).to_have_value("http://hooks.example/a")
    expect(page.locator(".messages")).to_have_count(0)


def test_address_that_only_accepts_forms_explains_itself(page: Page, site: Site) -> None:
    answer = page.request.get(f"{site.url}/home/quotas/requests")
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    text = answer.text()
    assert "There is nothing to read at this address" in text and 'href="/home/jobs"' in text


def test_copy_works_without_the_clipboard_of_secure_pages(page: Page, site: Site) -> None:
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.goto(f"{site.url}/home/secrets")
    button = page.locator("[data-action=copy]").first
    button.click()
    expect(button).to_have_text("Copied")
