"""A job from a template, changed in the form, submitted, and run again with another rate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import Site, watch, write_yaml

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture(params=["wide", "phone"])
def page(request: pytest.FixtureRequest, signed_in: Callable[..., object]) -> Iterator[Page]:
    """Return a page at 1440 or 390 px that fails the test on any browser error."""
    with signed_in(phone=request.param == "phone") as context:  # type: ignore[attr-defined]
        made = context.new_page()
        complaints: list[str] = []
        watch(made, complaints)
        yield made
        assert [text for text in complaints if "400 (Bad Request)" not in text] == []


def yaml_of(page: Page) -> str:
    return page.locator("textarea[name=yaml]").input_value()


def show_yaml(page: Page) -> None:
    """On a phone the YAML is a tab."""
    tab = page.get_by_role("button", name="YAML", exact=True).first
    if page.locator(".job-tabs").is_visible():
        tab.click()


def show_form(page: Page) -> None:
    if page.locator(".job-tabs").is_visible():
        page.get_by_role("button", name="Form", exact=True).click()


def test_newcomer_submits_a_template_and_reruns_it_with_another_rate(
    page: Page, site: Site
) -> None:
    page.goto(f"{site.url}/home/jobs/new?example=hello")
    answer = page.locator("[data-verdict]")
    expect(answer).to_contain_text("Starts now on")
    comment = yaml_of(page).splitlines()[0]
    page.get_by_label("GPUs", exact=True).fill("999")
    expect(answer).to_contain_text("Can't be submitted")
    expect(page.locator("[data-error='resources.accelerators']")).not_to_be_empty()
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_label("GPUs", exact=True).fill("")
    expect(answer).to_contain_text("Starts now on")
    page.get_by_text("Environment variables").click()
    page.get_by_role("button", name="Add variable").click()
    page.get_by_label("Variable").fill("LR")
    page.get_by_label("Value").first.fill("1e-3")
    assert yaml_of(page).startswith(comment) and "LR: 1e-3" in yaml_of(page)
    expect(page.get_by_role("button", name="Submit")).to_be_enabled()
    page.get_by_label("Name", exact=True).press("Control+Enter")
    page.wait_for_url(re.compile(r"/home/jobs/\d+$"))
    number = page.url.rsplit("/", 1)[1]
    page.go_back()
    expect(page.locator("textarea[name=yaml]")).to_have_value(re.compile("LR: 1e-3"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("hello")

    page.goto(f"{site.url}/home/jobs/new?from={number}&team=default")
    expect(page.get_by_role("heading", name=f"Rerun #{number}")).to_be_visible()
    expect(page.locator("[data-unchanged]")).to_be_visible()
    page.get_by_label("Value").first.fill("3e-4")
    expect(page.locator("[data-changes]")).to_have_text(re.compile(r"envs\.LR\s*1e-3\s*3e-4"))
    show_yaml(page)
    expect(page.locator("[data-command]")).to_contain_text(
        f"muster job rerun {number} \\\n  --set envs.LR=3e-4"
    )
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile(rf"/home/jobs/(?!{number}$)\d+$"))
    child = site.job(int(page.url.rsplit("/", 1)[1]))
    assert (child["parent"], child["spec"]["envs"]) == (int(number), {"LR": "3e-4"})
    for each in (int(number), child["number"]):
        site.ended(each)  # the next test needs the cores


def test_form_rows_keep_order_in_the_spec(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs/new?example=blank")
    show_yaml(page)
    write_yaml(page, "name: one\nrun: echo hi\nenvs:\n  Z: '1'\n  A: '2'\n")
    show_form(page)
    page.get_by_text("Environment variables").click()
    rows = page.locator("[data-pairs=envs]")
    rows.get_by_role("button", name="Add variable").click()
    rows.get_by_label("Variable").nth(2).press_sequentially("ZERO")
    rows.get_by_label("Value").nth(2).fill("3")
    rows.get_by_label("Value").nth(0).fill("9")
    rows.get_by_role("button", name="Remove").nth(1).click()
    names = rows.get_by_label("Variable").evaluate_all("(all) => all.map((one) => one.value)")
    assert names == ["Z", "ZERO"]
    assert re.findall(r"(?m)^  (\w+):", yaml_of(page)) == names


def test_comments_survive_form_edits_and_invalid_yaml_locks_the_form(
    page: Page, site: Site
) -> None:
    page.goto(f"{site.url}/home/jobs/new?example=blank")
    text = "# Who\nname: one  # mine\n\n# How\nresources:\n  cpus: 1  # few\nrun: echo hi\n"
    show_yaml(page)
    write_yaml(page, text)
    show_form(page)
    page.get_by_label("CPU cores").fill("2")
    page.get_by_label("Name", exact=True).fill("two")
    assert yaml_of(page) == text.replace("one  #", "two #").replace("1  #", "2 #")
    show_yaml(page)
    write_yaml(page, "name: [\nrun: echo\n")
    show_form(page)
    expect(page.locator("[data-unreadable]")).to_contain_text("line 2")
    expect(page.get_by_label("Name", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    show_yaml(page)
    write_yaml(page, "name: three\nrun: echo\n")
    show_form(page)
    expect(page.get_by_label("Name", exact=True)).to_have_value("three")


def test_refused_submission_keeps_text_team_and_parent(page: Page, site: Site) -> None:
    number = site.submit("true", name="first")
    page.goto(f"{site.url}/home/jobs/new?from={number}")
    page.get_by_label("Command", exact=True).fill("echo changed")
    page.get_by_label("CPU cores").fill("9999")
    expect(page.get_by_role("button", name="Submit")).to_be_disabled()
    page.evaluate(
        "const form = document.querySelector('[data-new-job]');"
        "form.querySelector('button[type=submit]').disabled = false; form.requestSubmit()"
    )
    expect(page.locator("[data-verdict]")).to_contain_text(re.compile("(Not|Can't be) submitted"))
    assert "echo changed" in yaml_of(page)
    expect(page.get_by_label("Command", exact=True)).to_have_value("echo changed")
    expect(page.get_by_role("heading", name=f"Rerun #{number}")).to_be_visible()


def test_secret_value_is_masked_until_it_is_revealed(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/secrets?dialog=add-secret")
    value = page.locator("dialog [name=value]")
    value.fill("line one")
    expect(value).to_have_attribute("type", "password")
    page.get_by_role("button", name="Show").click()
    expect(value).to_have_attribute("type", "text")
    page.get_by_role("button", name="Hide").click()
    expect(value).to_have_attribute("type", "password")
    page.get_by_role("button", name="Value with several lines").click()
    expect(value).to_have_value("line one")
    expect(value).to_have_class(re.compile("masked"))
