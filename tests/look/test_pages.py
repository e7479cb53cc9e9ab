"""Test pages in a real browser: keys, live lists, forms, palette, themes, connection."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.look.conftest import Site, watch, write_yaml
from tests.test_languages_of_pages import left_in_english

pytestmark = pytest.mark.browser
PAGES = (
    "",
    "jobs",
    "jobs/new",
    "nodes",
    "platform/clusters",
    "platform/mig",
    "platform/clusters/-/connect",
    "platform/clusters/-/connect?kind=slurm",
    "directories/-/connect?kind=ldap",
    "platform/clusters/local",
    "platform/clusters/local?tab=nodes",
    "pools",
    "platform/queue",
    "teams",
    "people",
    "quotas",
    "quotas?team=default&edit=team:default",
    "tokens",
    "service-accounts",
    "secrets",
    "invitations",
    "people/import",
    "announcements",
    "guide",
    "notifications",
    "notifications/settings",
    "notification-channels",
    "audit",
    "audit?actor=nobody",
    "platform/audit",
    "platform/",
    "platform/organizations",
    "platform/people",
    "usage",
    "usage/cost",
    "platform/usage",
    "platform/prices",
)
TABS = ("overview", "logs", "metrics", "spec", "environment", "events")


SQUEEZED = """() => [...document.querySelectorAll("td")]
    .filter((td) => td.offsetHeight > 240 && td.offsetWidth < 64).map((td) => td.innerText.slice(0, 40))"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("phone", "theme", "language"),
    [
        (False, "light", "en"),
        (False, "dark", "ja"),
        (True, "light", "ko"),
        (True, "dark", "en"),
        (True, "dark", "ja"),
    ],
)
def test_pages_have_no_errors_overflow_or_untranslated_text(
    signed_in: Callable[..., BrowserContext], site: Site, phone: bool, theme: str, language: str
) -> None:
    site.api.post(
        "/teams",
        json={"slug": "a-team-with-a-rather-long-name", "name": "A team with a rather long name"},
    )
    number = site.submit("echo hello", name="a-name-without-any-place-to-break-" * 2)
    site.ended(number)
    complaints: list[str] = []
    with signed_in(phone=phone, theme=theme) as context:
        context.set_extra_http_headers({"Accept-Language": language})
        page = context.new_page()
        watch(page, complaints)
        for path in (*PAGES, *(f"jobs/{number}?tab={tab}" for tab in TABS)):
            base = "" if path.startswith("platform/") else "home/"
            page.goto(f"{site.url}/{base}{path}", wait_until="networkidle")
            wide = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            if wide[0] > wide[1]:
                complaints.append(f"{path} is {wide[0]} px wide on a screen of {wide[1]}")
            complaints += [f"{path} squeezes {cell!r}" for cell in page.evaluate(SQUEEZED)]
            complaints += [
                f"{path} says {text!r}"
                for text in (left_in_english(page.content()) if language != "en" else ())
            ]
    assert complaints == []


@pytest.mark.integration
def test_slash_key_focuses_the_search(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs")
    page.keyboard.press("/")
    expect(page.locator(".filters [data-search]")).to_be_focused()
    expect(page.locator("#palette")).to_be_hidden()


@pytest.mark.integration
def test_slash_key_without_a_search_opens_the_palette(page: Page, site: Site) -> None:
    number = site.submit("echo hello")
    site.ended(number)
    page.goto(f"{site.url}/home/jobs/{number}?tab=overview")
    page.keyboard.press("/")
    expect(page.locator("#palette")).to_be_visible()


@pytest.mark.integration
def test_job_rows_are_selected_and_opened_by_keyboard(page: Page, site: Site) -> None:
    first, second = site.submit("true", name="walk-one"), site.submit("true", name="walk-two")
    site.ended(second)
    page.goto(f"{site.url}/home/jobs?q=walk-")
    for key in ("j", "j", "k", "j", "x"):
        page.keyboard.press(key)
    expect(page.locator("tr:focus")).to_have_attribute("data-href", f"/home/jobs/{first}")
    expect(page.locator(".bulk b")).to_have_text("1 selected")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/home/jobs/{first}")
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url("**/home/nodes")


@pytest.mark.integration
def test_palette_finds_a_job_by_number_and_name(page: Page, site: Site) -> None:
    number = site.submit("true", name="palette-target")
    page.goto(f"{site.url}/home/nodes")
    for typed in (f"#{number}", "palette-t"):
        page.keyboard.press("Control+k")
        page.locator("#palette input").fill(typed)
        expect(page.locator("#palette li").first).to_contain_text("palette-target")
        page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.locator("#palette input").fill("palette-t")
    expect(page.locator("#palette li").first).to_contain_text("palette-target")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/home/jobs/{number}")


@pytest.mark.integration
def test_job_row_is_updated_when_its_job_ends(page: Page, site: Site) -> None:
    number = site.submit("sleep 4", name="row-that-moves")
    page.goto(f"{site.url}/home/jobs?q=row-that-moves")
    row = page.locator(f"tr[data-href='/home/jobs/{number}']")
    row.evaluate("(row) => { row.dataset.same = 'yes'; }")
    expect(row.locator(".state")).to_have_class(re.compile("succeeded"), timeout=30_000)
    expect(row).to_have_attribute("data-same", "yes")


@pytest.mark.integration
def test_new_job_rows_wait_behind_a_button_during_a_selection(page: Page, site: Site) -> None:
    site.ended(site.submit("true", name="selected-one"))
    page.goto(f"{site.url}/home/jobs")
    page.locator("input[name=job]").first.check()
    number = site.submit("true", name="late-comer")
    pill = page.locator(".fresh")
    expect(pill).to_have_text("1 new", timeout=20_000)
    expect(page.locator(f"tr[data-href='/home/jobs/{number}']")).to_have_count(0)
    pill.click()
    expect(page.locator(f"tr[data-href='/home/jobs/{number}']")).to_have_count(1)


@pytest.mark.integration
def test_job_form_and_yaml_stay_in_sync(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs/new?example=hello")
    expect(page.locator("[data-field=name]")).to_have_value("hello")
    page.fill("[data-field=name]", "from the form")
    page.fill("[data-field='resources.cpus']", "2")
    yaml = page.locator("textarea[name=yaml]")
    expect(yaml).to_have_value(re.compile(r"name: from the form[\s\S]*cpus: 2"))
    expect(page.locator("[data-cost]")).to_contain_text("2 cores")
    write_yaml(page, "name: from the text\nrun: echo hi\n")
    expect(page.locator("[data-field=name]")).to_have_value("from the text")
    expect(page.locator("[data-field=run]")).to_have_value("echo hi")


@pytest.mark.integration
def test_job_form_gpu_change_keeps_yaml_comments(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs/new?example=digits")
    yaml, before = (
        page.locator("textarea[name=yaml]"),
        page.locator("textarea[name=yaml]").input_value(),
    )
    page.get_by_label("GPUs", exact=True).fill("2")
    expect(page.locator("[data-cost]")).to_contain_text("2 GPUs")
    resources = (
        "resources: {cpus: 1, memory: 1Gi, accelerators: 2} # with a GPU and PyTorch: "
        "{accelerators: 1, cpus: 2, memory: 8Gi}"
    )
    assert yaml.input_value().splitlines() == [
        resources if line.startswith("resources:") else line for line in before.splitlines()
    ]


@pytest.mark.integration
def test_job_form_error_is_shown_at_its_line_and_disables_submit(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/jobs/new")
    write_yaml(page, "name: bad\nrun: echo hi\nresources: {cpus: many}\n")
    expect(page.locator("[data-faults] li").first).to_contain_text("line 3")
    expect(page.locator("[data-error='resources.cpus']")).to_contain_text("'many' is not allowed")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    expect(page.locator("[data-new-job] button.primary")).to_be_disabled()


@pytest.mark.integration
def test_lost_connection_is_shown_and_recovers_in_place(page: Page, site: Site) -> None:
    number = site.submit("seq 2000; for i in $(seq 300); do echo tick $i; sleep 0.1; done")
    page.add_init_script("""
        window.sockets = [];
        const Real = window.WebSocket;
        window.WebSocket = class extends Real { constructor(...a) { super(...a); window.sockets.push(this); } };
    """)
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    expect(page.locator("[data-count]")).to_have_text(re.compile(r"^2,0\d\d lines"), timeout=30_000)
    page.evaluate("() => { document.body.dataset.same = 'yes'; window.sockets.at(-1).close(); }")
    page.wait_for_function(
        "() => window.sockets.length > 1 && window.sockets.at(-1).readyState === 1", timeout=30_000
    )
    before = page.locator("[data-count]").text_content() or ""
    expect(page.locator("[data-count]")).not_to_have_text(before, timeout=10_000)
    assert page.evaluate("document.body.dataset.same") == "yes", (
        "the page was loaded anew, and one's place in it lost"
    )
    site.api.post(f"/jobs/{number}/cancel", json={})
    site.ended(number)
    expect(page.locator("[data-certificate][title*=sha256]")).to_be_attached(timeout=20_000)
    lines = site.log(number).decode().count("\n")
    expect(page.locator("[data-count]")).to_contain_text(f"{lines:,} lines")


@pytest.mark.integration
def test_theme_is_remembered_and_applied_to_charts(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/home/")
    page.locator("details summary", has_text="Account").first.click()
    page.get_by_role("button", name="Dark", exact=True).click()
    page.goto(f"{site.url}/home/jobs")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
