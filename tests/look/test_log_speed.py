"""Test the log view under load. Bounds are wide; docs/design/look.md has the figures."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.look.conftest import Site

pytestmark = [pytest.mark.browser, pytest.mark.serial, pytest.mark.integration]

FLOOD = """python3 -u - <<'END'
import sys, time
began = time.monotonic()
for n in range(1000):
    for i in range(100):
        sys.stdout.write(f"step {n * 100 + i} loss=0.1234 lr=3e-4 tokens/s=18234 grad_norm=0.87\\n")
    sys.stdout.flush()
    time.sleep(max(0, began + (n + 1) / 100 - time.monotonic()))
END"""
WATCH = """() => {
    window.frames_ = []; window.tasks_ = [];
    let last = performance.now();
    const frame = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
    const long = (list) => list.getEntries().forEach((e) => window.tasks_.push(e.duration));
    new PerformanceObserver(long).observe({ entryTypes: ["longtask"] });
}"""
FIGURES = """() => ({ frames: window.frames_.length, late: window.frames_.filter((f) => f > 50).length,
    longest: Math.max(...window.frames_), tasks: window.tasks_.length, longestTask: Math.max(0, ...window.tasks_),
    nodes: document.querySelectorAll('*').length,
    heap: performance.memory.usedJSHeapSize })"""


def wait_for_lines(page: Page, count: int) -> None:
    expect(page.locator("[data-count]")).to_have_text(
        re.compile(rf"^{count:,} lines"), timeout=90_000
    )


def test_log_follow_at_10000_lines_per_second_stays_responsive(page: Page, site: Site) -> None:
    number = site.submit(FLOOD, cpus=1)
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    page.evaluate(WATCH)
    wait_for_lines(page, 100_000)
    found = page.evaluate(FIGURES)
    print("10,000 lines/s:", found)
    assert found["longest"] < 1000
    assert found["late"] < found["frames"] / 4
    expect(page.locator(".log-line > a", has_text=re.compile("^100000$"))).to_be_in_viewport()
    site.ended(number)
    assert site.log(number).count(b"\n") == 100_000


def test_log_of_a_million_lines_stays_responsive(page: Page, site: Site) -> None:
    number = site.submit("seq -f 'line %.0f of a long training log, loss=0.1234' 1000000", cpus=1)
    site.ended(number, 120)
    page.goto(f"{site.url}/home/jobs/{number}?tab=logs")
    page.evaluate(WATCH)
    wait_for_lines(page, 1_000_000)
    opened = page.evaluate("performance.now()")
    page.fill(".log-bar [data-search]", "line 99999")
    expect(page.locator("[data-hits]")).to_have_text("1 of 11", timeout=60_000)
    found = page.evaluate(FIGURES)
    searched = page.evaluate("performance.now()") - opened
    print("1,000,000 lines:", {**found, "opened_ms": opened, "searched_ms": searched})
    assert found["longest"] < 2000
    assert found["nodes"] < 3000
    assert found["heap"] < 600 << 20
