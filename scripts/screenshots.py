"""Make the screenshots of README.md from a running portal that `manage.py demo` has filled.

    python scripts/screenshots.py http://127.0.0.1:8000 EMAIL PASSWORD [ORG]    (as manage.py demo prints them)

Needs Chromium and the test packages (`make test` installs both). Writes docs/img/*.png.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "img"
LIMIT = 250_000  # bytes; the repository keeps every version
WAIT = 120_000  # milliseconds
SCREEN = {"width": 1280, "height": 800}


def main(url: str, email: str, password: str, org: str = "aurora") -> int:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        first = chromium.new_page()
        first.set_default_timeout(WAIT)
        _sign_in(first, url, email, password)
        paths, session = _paths(first, url, org), first.context.storage_state()
        for theme, shots in {
            "light": {"home": f"/{org}/", "compare": paths["compare"]},
            "dark": {"job": paths["job"], "nodes": f"/{org}/nodes"},
        }.items():
            page = chromium.new_page(
                viewport=SCREEN,  # type: ignore[arg-type]
                color_scheme=theme,  # type: ignore[arg-type]
                storage_state=session,
            )
            page.set_default_timeout(WAIT)
            for name, path in shots.items():
                page.goto(url + path, wait_until="networkidle")
                page.wait_for_timeout(3000)  # curves and live values
                file = IMAGES / f"{name}.png"
                page.screenshot(path=file)
                size = file.stat().st_size
                print(f"{file.relative_to(ROOT)}: {size // 1000} kB of {path}")
                if size > LIMIT:
                    print(f"larger than {LIMIT // 1000} kB", file=sys.stderr)
                    return 1
        chromium.close()
    return 0


def _sign_in(page: Page, url: str, email: str, password: str) -> None:
    page.goto(f"{url}/accounts/login/")
    page.fill("[name=login]", email)
    page.fill("[name=password]", password)
    page.click("button[type=submit]")
    page.wait_for_url(lambda at: "/login/" not in at)


def _paths(page: Page, url: str, org: str) -> dict[str, str]:
    """Return the paths of the metrics of a large running job, and of runs of one experiment."""
    page.goto(f"{url}/{org}/jobs?query=state:running+name:llm-7b-pretrain")
    job = page.locator("tr[data-href]").last.get_attribute("data-href")  # has the longest curves
    page.goto(f"{url}/{org}/experiments")
    sweep = page.locator("tr[data-href]", has_text="llama-8b-sft")
    page.goto(f"{url}{sweep.get_attribute('data-href')}")
    page.wait_for_selector("tr[data-href*='/runs/']")
    runs = page.eval_on_selector_all(
        "tr[data-href*='/runs/']", "rows => rows.slice(0, 4).map((row) => row.dataset.href)"
    )
    ids = ",".join(run.rsplit("/", 1)[-1] for run in runs)
    return {"job": f"{job}?tab=metrics", "compare": f"/{org}/compare?runs={ids}"}


if __name__ == "__main__":
    if len(sys.argv) not in {4, 5}:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
