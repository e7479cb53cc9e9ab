"""Test confirmation dialogs, also by keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import PHONE, Site

pytestmark = [pytest.mark.browser, pytest.mark.integration]


def opened(page: Page, site: Site) -> None:
    """Open the confirmation dialog for withdrawing an announcement."""
    page.goto(f"{site.url}/home/announcements")
    page.click("[data-opens-dialog=announce]")
    page.fill("[name=text]", "Maintenance on Saturday")
    page.click("dialog button.primary")
    page.get_by_role("button", name="Withdraw").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("alertdialog", name="Withdraw this announcement?")).to_be_visible()


def test_dialog_works_by_keyboard_and_restores_the_focus(site, page):
    opened(page, site)
    dialog, button = (
        page.get_by_role("alertdialog"),
        page.locator("td.act").get_by_role("button", name="Withdraw"),
    )
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    for leave in ("Enter", "Escape"):
        page.keyboard.press(leave)
        expect(dialog).to_have_count(0)
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    assert page.evaluate("document.activeElement.closest('dialog') !== null"), (
        "what lies behind is out of reach"
    )
    page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name="Withdraw")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("td.act")).to_have_count(0)


def test_dialog_is_translated_and_fits_a_phone(site, page):
    page.set_extra_http_headers({"Accept-Language": "ko"})
    page.set_viewport_size(PHONE)
    page.goto(f"{site.url}/home/announcements")
    page.click("[data-opens-dialog=announce]")
    page.fill("[name=text]", "토요일 점검")
    page.click("dialog button.primary")
    page.locator("td.act button").click()
    expect(page.get_by_role("alertdialog").get_by_role("button", name="취소")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("alertdialog").get_by_role("button").last.click()
    expect(page.locator("td.act")).to_have_count(0)


@pytest.mark.parametrize(
    ("language", "yes", "no"),
    [
        ("en", "Cancel job", "Keep job"),
        ("ko", "작업 취소", "작업 유지"),
        ("ja", "ジョブをキャンセル", "ジョブを続行"),
    ],
)
def test_dialog_to_cancel_a_job_names_both_answers(site, page, language, yes, no):
    number = site.submit("sleep 60")
    page.set_extra_http_headers({"Accept-Language": language})
    page.goto(f"{site.url}/home/jobs/{number}")
    page.locator("form[action$='/cancel'] button").click()
    assert page.get_by_role("alertdialog").get_by_role("button").all_inner_texts() == [no, yes]
    page.get_by_role("alertdialog").get_by_role("button").last.click()
    site.ended(number)
    assert site.job(number)["state"] == "canceled"


def test_dialog_confirmation_is_valid_once_even_after_a_failure(site, page):
    opened(page, site)
    page.evaluate(
        """document.querySelector("td.act form").insertAdjacentHTML("beforeend", '<input required name=late>')"""
    )
    page.get_by_role("alertdialog").get_by_role(
        "button", name="Withdraw"
    ).click()  # a new required field prevents the submission
    page.evaluate("document.querySelector('td.act [name=late]').remove()")
    page.locator("td.act").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("alertdialog", name="Withdraw this announcement?")).to_be_visible()


def test_member_is_removed_after_a_dialog(site, page):
    site.api.post(
        "/members", json={"email": "ben@atlas.example", "name": "Ben", "role": "member"}
    ).raise_for_status()
    page.goto(f"{site.url}/home/people")
    page.get_by_role("row", name="ben@atlas.example").get_by_role("link", name="Ben").click()
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("row", name="ben@atlas.example")).to_have_count(0)
