"""Open every kind of page of a filled portal and measure what a reader would suffer from.

    python -m tests.look.crawl http://127.0.0.1:8000 EMAIL:PASSWORD/aurora/ EMAIL:PASSWORD/platform/

walks a running portal and prints a table; `--pictures FOLDER` keeps a picture of each page.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from playwright.sync_api import Browser, BrowserContext, Error, Page, Response, sync_playwright

from tests.rig.environment import ROOT
from tests.rig.processes import program

LOOKS: dict[str, tuple[Any, Any]] = {
    "1440 light": ({"width": 1440, "height": 900}, "light"),
    "1440 dark": ({"width": 1440, "height": 900}, "dark"),
    "390 dark": ({"width": 390, "height": 844}, "dark"),
}
MOST_SHIFT = 0.05
# Parameters that choose another page; all others vary one page.
CHOOSING = {"tab", "kind", "section", "view", "step", "edit", "plot", "by"}
SKIPPED = re.compile(
    r"^/(api/(?!docs)|static/|accounts/logout|o/|saml/|help/)"  # the guide has tests of its own
    r"|[?&](format|download|raw|export)=|\.(csv|zip|pdf|json|ya?ml|ndjson)$"
)
OBSERVE = """
window.shifts = [];
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  if (entry.hadRecentInput) return;
  const name = (node) => !node ? "?" : node.nodeType !== 1 ? name(node.parentElement)
    : [node.localName, ...[...node.classList].slice(0, 2)].join(".") + (node.id ? `#${node.id}` : "");
  window.shifts.push([entry.value, entry.sources.slice(0, 3).map(({ node }) => name(node)).join(" ")]);
})).observe({ type: "layout-shift", buffered: true });
"""
MEASURE = """() => ({
  wide: document.documentElement.scrollWidth - innerWidth,
  shift: window.shifts.reduce((sum, [value]) => sum + value, 0),
  worst: window.shifts.sort((a, b) => b[0] - a[0]).slice(0, 2).map(([value, what]) => `${value.toFixed(2)} ${what}`),
})"""
LINKS = """() => [...document.querySelectorAll("a[href]")].filter((a) => a.origin === location.origin && !a.download)
  .map((a) => a.pathname + a.search)"""
AXE = """async () => (await axe.run(document, {
  resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
})).violations.filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`)"""


@dataclass
class Visit:
    """What one page showed in one look. `shift` is the cumulative layout shift."""

    look: str
    kind: str
    path: str
    shift: float = 0
    worst: list[str] = field(default_factory=list)
    wide: int = 0
    axe: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def complaints(self) -> list[str]:
        found = [*self.axe, *self.errors]
        if self.wide > 0:
            found.append(f"{self.wide} px too wide")
        if self.shift > MOST_SHIFT:
            found.append(f"layout shift {self.shift:.2f} ({'; '.join(self.worst)})")
        return [f"{self.look} {self.path}: {one}" for one in found]


def kind_of(path: str) -> str:
    """Return which page an address is: its route and the parameters that choose a page."""
    from django.urls import Resolver404, resolve

    parts = urlsplit(path)
    try:
        route = resolve(parts.path).route
    except Resolver404:
        route = parts.path
    if parts.path.startswith("/help/"):
        route = "help/<page>"
    chosen = [f"{k}={v}" for k, v in parse_qsl(parts.query) if k in CHOOSING]
    other = "…" if len(parse_qsl(parts.query)) > len(chosen) else ""
    return f"/{route}" + ("?" + "&".join([*sorted(chosen), *([other] if other else [])])).rstrip(
        "?"
    )


def sign_in(browser: Browser, url: str, email: str, password: str) -> Any:
    """Return the storage state of a signed-in person."""
    page = browser.new_page()
    page.goto(f"{url}/accounts/login/")
    page.fill("[name=login]", email)
    page.fill("[name=password]", password)
    page.click("button[type=submit]")
    page.wait_for_url(lambda at: "/accounts/login" not in at)
    state = page.context.storage_state()
    page.context.close()
    return state


def visit(page: Page, url: str, look: str, path: str, picture: Path | None = None) -> Visit | None:
    """Measure a page, also while it is read down to its end. Returns None for a file."""
    done = Visit(look, kind_of(path), path)
    listeners = {
        "pageerror": lambda error: done.errors.append(f"exception: {error}"),
        "console": lambda said: done.errors.extend([said.text] if said.type == "error" else []),
        "response": lambda got: _note(done, url, got),
    }
    for event, listen in listeners.items():
        page.on(event, listen)  # type: ignore[call-overload]
    try:
        answer = page.goto(url + path, wait_until="networkidle")
        if answer is None or "html" not in answer.headers.get("content-type", ""):
            return None
        height = page.evaluate("document.documentElement.scrollHeight")
        for top in range(0, min(height, 6000), 700):
            page.evaluate("(top) => scrollTo(0, top)", top)
            page.wait_for_timeout(60)
        page.evaluate("scrollTo(0, 0)")
        measured = page.evaluate(MEASURE)
        done.wide, done.shift = measured["wide"], measured["shift"]
        done.worst = measured["worst"]
        done.axe = findings(page)
        if picture:
            page.screenshot(path=picture, full_page=True)
    except Error as error:
        if "Download is starting" in str(error) or "ERR_ABORTED" in str(error):
            return None
        done.errors.append(str(error).splitlines()[0])
    finally:
        for event, listen in listeners.items():
            page.remove_listener(event, listen)
    return done


def findings(page: Page) -> list[str]:
    """Return the serious and critical findings of axe-core, with the first elements of each."""
    page.evaluate((ROOT / "node_modules/axe-core/axe.min.js").read_text())
    return list(page.evaluate(AXE))


def _note(done: Visit, url: str, got: Response) -> None:
    if got.status >= 400 and got.url.startswith(url):
        done.errors.append(f"{got.status} {got.url.removeprefix(url)}")


def discover(page: Page, url: str, starts: Iterable[str], each: int = 1) -> list[str]:
    """Return an address (`each` of them) of every kind of page that links lead to."""
    found: list[str] = []
    kinds: dict[str, int] = {}
    queue = list(starts)
    area = urlsplit(queue[0]).path
    for path in queue:
        kind = kind_of(path)
        is_other_area = not path.startswith((area, "/accounts/", "/help/")) and path not in starts
        if kinds.get(kind, 0) >= each or is_other_area or SKIPPED.search(path):
            continue
        kinds[kind] = kinds.get(kind, 0) + 1
        try:
            answer = page.goto(url + path, wait_until="load")
        except Error:
            continue
        if answer is None or "html" not in answer.headers.get("content-type", ""):
            continue
        found.append(path)
        queue += [link for link in page.evaluate(LINKS) if link not in queue]
    return found


def crawl(
    browser: Browser,
    url: str,
    states: Iterable[tuple[Any, list[str]]],
    looks: Iterable[str] = LOOKS,
    pictures: Path | None = None,
) -> Iterator[Visit]:
    """Visit every kind of page of each person in every look."""
    looks = list(looks)
    for state, starts in states:
        with _context(browser, state, looks[0]) as context:
            paths = discover(context.new_page(), url, starts)
        for look in looks:
            with _context(browser, state, look) as context:
                page = context.new_page()
                for path in paths:
                    picture = None
                    if pictures:
                        name = re.sub(r"\W+", "-", f"{path} {look}").strip("-")[:120]
                        picture = pictures / f"{name}.png"
                    if done := visit(page, url, look, path, picture):
                        yield done


def _context(browser: Browser, state: Any, look: str) -> BrowserContext:
    screen, theme = LOOKS[look]
    context = browser.new_context(
        storage_state=state, viewport=screen, color_scheme=theme, has_touch=screen["width"] < 500
    )
    context.add_init_script(OBSERVE)
    return context


def table(visits: list[Visit]) -> str:
    """Return a table of kinds of pages: per look the shift, and everything above the bounds."""
    looks = list(dict.fromkeys(one.look for one in visits))
    rows = [f"| page | {' | '.join(f'shift {look}' for look in looks)} | findings |"]
    rows.append("|---" * (len(looks) + 2) + "|")
    for path in dict.fromkeys(one.path for one in visits):
        by_look = {one.look: one for one in visits if one.path == path}
        shifts = [f"{by_look[look].shift:.3f}" if look in by_look else "" for look in looks]
        findings = [
            one.removeprefix(f"{visit.look} {path}: ")
            for visit in by_look.values()
            for one in visit.complaints
        ]
        rows.append(f"| {path} | {' | '.join(shifts)} | {'<br>'.join(dict.fromkeys(findings))} |")
    above = [one for one in visits if one.shift > MOST_SHIFT]
    rows.append(
        f"\n{len({one.path for one in visits})} pages × {len(looks)} looks: "
        f"{len(above)} shifts above {MOST_SHIFT}, {sum(len(one.axe) for one in visits)} serious "
        f"axe findings, {sum(len(one.errors) for one in visits)} errors, "
        f"{sum(one.wide > 0 for one in visits)} too wide."
    )
    return "\n".join(rows)


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("people", nargs="+", help="EMAIL:PASSWORD/first/page/")
    parser.add_argument("--look", action="append", choices=LOOKS)
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    began = time.monotonic()
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=program("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        states = []
        for person in asked.people:
            email, rest = person.split(":", 1)
            password, start = rest.split("/", 1)
            states.append((sign_in(browser, asked.url, email, password), [f"/{start}"]))
        visits = list(crawl(browser, asked.url, states, asked.look or LOOKS, asked.pictures))
        print(table(visits))
        print(f"{time.monotonic() - began:.0f} s")
        browser.close()


if __name__ == "__main__":
    main()
