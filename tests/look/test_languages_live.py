"""Test the translation of texts from browser modules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.look.conftest import Site, watch

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture
def korean(signed_in: Callable[..., BrowserContext], site: Site) -> Iterator[Page]:
    """Return a page in Korean that fails the test on any browser error."""
    complaints: list[str] = []
    with signed_in() as context:
        context.set_extra_http_headers({"Accept-Language": "ko"})
        page = context.new_page()
        watch(page, complaints)
        yield page
    assert complaints == []


def test_job_page_of_a_running_job_is_in_korean(korean: Page, site: Site) -> None:
    number = site.submit("for i in 1 2 3; do echo line $i; sleep 1; done", name="in-korean")
    korean.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    expect(korean.locator(".job-head .state")).to_have_text("성공", timeout=30_000)
    expect(korean.locator(".job-sub")).to_contain_text(re.compile(r"\d+초 전"))
    expect(korean.locator("[data-count]")).to_have_text(re.compile(r"^3줄, 21바이트$"))
    korean.goto(f"{site.url}/home/jobs")
    expect(korean.locator("tr[data-href] td").last.locator("time")).to_have_text(
        re.compile(r"^(방금|\d+초 전)$")
    )
    korean.locator("input[name=job]").first.click()
    expect(korean.locator(".bulk b")).to_have_text("1개 선택")


def test_job_row_is_updated_live_in_korean(korean: Page, site: Site) -> None:
    korean.goto(f"{site.url}/home/jobs")
    number = site.submit("sleep 3; false", name="fails-in-korean")
    row = korean.locator(f'tr[data-href$="/jobs/{number}"]')
    expect(row.locator(".state")).to_have_text("실행 중", timeout=20_000)
    expect(row.locator(".state")).to_have_text("실패", timeout=30_000)
    expect(row.locator("[data-why]")).not_to_be_empty()
    expect(row.locator("[data-took]")).to_have_text(re.compile(r"^\s*\d(\.\d)?초\s*$"))
