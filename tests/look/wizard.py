"""Walk through a form in steps as a person would."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from playwright.sync_api import Page


def reach(page: Page, name: str) -> None:
    """Go to the step that has a field, and unfold what hides it."""
    field = page.locator(f"form[data-wizard] [name={name}]").first
    step = page.locator(f"[data-step]:has([name={name}])")
    while not step.is_visible():
        page.click("[data-wizard-next]")
    if not field.is_visible():
        step.locator("summary").click()


def fill(page: Page, values: Mapping[str, str], ticked: Iterable[str] = ()) -> None:
    for name, value in values.items():
        reach(page, name)
        page.locator(f"form[data-wizard] [name={name}]").first.fill(value)
    for name in ticked:
        reach(page, name)
        page.check(f"form[data-wizard] [name={name}]")


def test(page: Page) -> None:
    """Go on to the test, which starts at once, and wait for its result."""
    while not page.locator("[data-step=test]").is_visible():
        page.click("[data-wizard-next]")
    page.wait_for_selector("[data-tested=ok], [data-tested=failed], [data-tested=refused]")


def finish(page: Page) -> None:
    while page.locator("[data-wizard-next]").is_visible():
        page.click("[data-wizard-next]")
    page.click("[data-save]")
