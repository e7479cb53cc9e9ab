"""Test charts and the comparison of jobs in a browser, as a researcher uses them."""

from __future__ import annotations

import math
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import PHONE, Site
from tests.look.test_log_speed import FIGURES, WATCH

pytestmark = [pytest.mark.browser, pytest.mark.integration]
DRAWN = ".chart:not([hidden]) canvas"


def report(site: Site, number: int, floor: float, metrics: int = 0) -> None:
    """Report curves of a job: loss, validation loss, and further metrics."""
    points = [
        {"name": name, "step": step * 10, "value": (floor + 3 * math.exp(-step / 20)) * factor}
        for step in range(100)
        for name, factor in (("train/loss", 1.0), ("val/loss", 1.1), ("train/tokens/s", 50_000.0))
    ]
    for batch in range(0, metrics, 10):
        points += [
            {"name": f"layer{n:03}/norm", "step": step, "value": math.sin(n + step / 9)}
            for n in range(batch, batch + 10)
            for step in range(100)
        ]
    for start in range(0, len(points), 1000):
        answer = site.api.post(
            f"/jobs/{number}/metrics", json={"points": points[start : start + 1000]}
        )
        assert answer.status_code == 200, answer.text


def submitted(site: Site, lr: str) -> int:
    spec = {"name": "sft", "run": f"true --lr {lr}", "resources": {"cpus": 0.1, "memory": "64Mi"}}
    answer = site.api.post("/jobs", json={"team": "default", "spec": spec})
    assert answer.status_code == 201, answer.text
    return int(answer.json()["number"])


def query_of(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_charts_group_smooth_zoom_and_keep_the_view_in_the_url(page: Page, site: Site) -> None:
    number = submitted(site, "1e-3")
    report(site, number, 0.5)
    page.goto(f"{site.url}/home/jobs/{number}?tab=metrics")
    loss = page.get_by_role("figure", name="loss", exact=True)
    expect(loss.locator("canvas")).to_be_visible()
    expect(loss.locator(".chart-key")).to_have_text(
        [re.compile(r"^train0\.52"), re.compile(r"^val0\.57")]
    )
    expect(page.get_by_role("figure", name="tokens/s").locator(".chart-last")).to_contain_text(
        "k/s"
    )
    expect(loss.locator(".visually-hidden")).to_contain_text("minimum")

    page.get_by_label("Smoothing").fill("0.6")
    page.get_by_label("Log scale").check()
    page.wait_for_url(re.compile(r"smooth=0\.6.*log=1|log=1.*smooth=0\.6"))
    page.get_by_label("Filter metrics").fill("/loss$/")
    expect(page.locator(".chart:visible")).to_have_count(1)
    assert query_of(page)["metric"] == ["/loss$/"]
    page.reload()
    expect(page.locator(".chart:visible")).to_have_count(1)
    expect(page.get_by_label("Smoothing")).to_have_value("0.6")

    over = loss.locator(".u-over")
    box = over.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 50, steps=5)
    page.mouse.up()
    reset = loss.get_by_role("button", name="Reset zoom")
    expect(reset).to_be_visible()
    low, high = page.evaluate(
        """() => {
            const { x } = document.querySelector('.chart canvas').closest('.chart').chart.plot.scales;
            return [x.min, x.max];
        }"""
    )
    assert 150 < low < 250
    assert 550 < high < 650
    reset.click()
    expect(reset).to_be_hidden()

    page.get_by_label("Filter metrics").fill("")
    loss.get_by_label("Options of loss").click()
    loss.get_by_role("button", name="Pin").click()
    expect(page.locator("#tab-metrics .chart-section").first.locator("h3")).to_have_text("Pinned")
    loss.get_by_role("button", name="loss", exact=True).click()
    expect(page.locator("dialog.chart-full[open]")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog.chart-full")).to_have_count(0)
    loss.get_by_label("Options of loss").click()
    with page.expect_download() as saved:
        loss.get_by_role("button", name="Download CSV").click()
    assert saved.value.path().read_bytes().startswith(b"series,x,value\r\ntrain,0,")


def test_legend_of_a_phone_has_two_lines_and_a_button_for_the_rest(page: Page, site: Site) -> None:
    numbers = [submitted(site, f"{n}e-3") for n in range(1, 5)]
    for number in numbers:
        report(site, number, 0.5)
    page.set_viewport_size(PHONE)
    page.goto(f"{site.url}/home/jobs/compare?jobs={'&jobs='.join(map(str, numbers))}")
    keys = page.get_by_role("figure", name="loss", exact=True).locator(".chart-keys")
    more = keys.get_by_role("button", name=re.compile(r"^\+ \d more$"))
    more.scroll_into_view_if_needed()
    assert keys.bounding_box()["height"] <= 56
    assert more.bounding_box()["y"] + 20 <= keys.bounding_box()["y"] + 56
    more.click()
    expect(keys.locator("button:visible")).to_have_count(8)
    assert keys.evaluate("keys => keys.scrollWidth <= keys.clientWidth")


def test_compare_two_jobs_overlays_curves_and_shows_what_differs(page: Page, site: Site) -> None:
    first, second = submitted(site, "1e-3"), submitted(site, "3e-4")
    report(site, first, 0.9)
    report(site, second, 0.4)
    page.goto(f"{site.url}/home/jobs/compare?jobs={first}&jobs={second}")
    matrix = page.locator(".panel", has=page.get_by_role("heading", name="Differences"))
    expect(matrix.get_by_role("row", name="parameters.lr")).to_contain_text("1e-3")
    loss = page.get_by_role("figure", name="loss", exact=True)
    expect(loss.locator("canvas")).to_be_visible()
    curves = """() => document.querySelector('.chart canvas').closest('.chart').chart.drawn
        .map((line) => line.curve.source.name + line.curve.split)"""
    assert page.evaluate(curves) == [
        f"#{first} sfttrain",
        f"#{first} sftval",
        f"#{second} sfttrain",
        f"#{second} sftval",
    ]
    expect(page.locator(".parallel polyline")).to_have_count(2)
    page.get_by_label(f"Show #{first} sft in charts").uncheck()
    page.wait_for_url(re.compile(f"hide={first}"))
    page.wait_for_function(f"({curves})().length === 2")
    expect(page.locator(".parallel polyline.is-hidden")).to_have_count(1)
    page.get_by_label(f"Remove #{first} sft").click()
    expect(page.locator("[data-run]")).to_have_count(1)
    page.get_by_label("Numbers of jobs to add").fill(f"#{first}")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("[data-run]")).to_have_count(2)
    page.get_by_role("button", name=f"Rerun best (#{second})").click()
    page.wait_for_url(re.compile(r"/jobs/\d+$"))


@pytest.mark.serial
def test_a_hundred_charts_scroll_smoothly(page: Page, site: Site) -> None:
    number = submitted(site, "1e-3")
    report(site, number, 0.5, metrics=100)
    page.goto(f"{site.url}/home/jobs/{number}?tab=metrics")
    expect(page.locator("#tab-metrics .chart")).to_have_count(102)
    expect(page.locator(DRAWN).first).to_be_visible()
    assert page.locator(DRAWN).count() < 40, "plots far from the screen are not drawn"
    page.evaluate(WATCH)
    page.evaluate(
        """() => new Promise((done) => {
            const step = () => {
                window.scrollBy(0, 24);
                const end = document.documentElement.scrollHeight - innerHeight - 1;
                window.scrollY >= end ? done() : requestAnimationFrame(step);
            };
            step();
        })"""
    )
    found = page.evaluate(FIGURES)
    print("100 charts:", found)
    assert found["late"] < found["frames"] / 4
    assert found["longest"] < 1000
    expect(page.get_by_role("figure", name="norm").last.locator("canvas")).to_be_visible()
