"""Find the best runs of a sweep, compare them, and follow a run that goes on, in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.look.conftest import Site, watch

pytestmark = [pytest.mark.browser, pytest.mark.integration]


@pytest.fixture(params=[False, True], ids=["desktop", "phone"])
def screen(request: pytest.FixtureRequest, signed_in: Callable[..., BrowserContext]) -> Page:
    """Return a page at 1440 or 390 px; the test fails on any browser error."""
    with signed_in(phone=request.param) as context:
        page = context.new_page()
        complaints: list[str] = []
        watch(page, complaints)
        yield page
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert complaints == [] and width <= 0


class Mlflow:
    """Speaks MLflow's REST protocol, as its client does."""

    def __init__(self, site: Site) -> None:
        self.http = httpx.Client(
            base_url=f"{site.url}/mlflow/home/default/api/2.0/mlflow/",
            headers=dict(site.api.headers),
            timeout=60,
        )

    def call(self, path: str, **body: object) -> dict:
        answer = self.http.post(path, json=body)
        assert answer.status_code == httpx.codes.OK, answer.text
        return answer.json()

    def run(self, experiment: str, name: str, lr: str, accuracies: list[float]) -> str:
        made = self.call("runs/create", experiment_id=experiment, run_name=name, start_time=1000)
        run_id = str(made["run"]["info"]["run_id"])
        self.call("runs/log-batch", run_id=run_id, params=[{"key": "lr", "value": lr}])
        for step, value in enumerate(accuracies):
            self.log(run_id, value, step)
        return run_id

    def log(self, run_id: str, value: float, step: int) -> None:
        metric = {"key": "acc", "value": value, "timestamp": 2000 + 1000 * step, "step": step}
        self.call("runs/log-batch", run_id=run_id, metrics=[metric])


def test_best_runs_of_a_sweep_are_found_compared_and_followed(screen: Page, site: Site) -> None:
    mlflow = Mlflow(site)
    name = f"sweep-{'phone' if screen.viewport_size['width'] < 800 else 'desktop'}"
    experiment = str(mlflow.call("experiments/create", name=name)["experiment_id"])
    for n, (lr, acc) in enumerate((("1e-2", 0.62), ("3e-4", 0.91), ("1e-3", 0.84))):
        run_id = mlflow.run(experiment, f"tries-{n}", lr, [0.1, acc])
        mlflow.call("runs/update", run_id=run_id, status="FINISHED", end_time=9000)
    going = mlflow.run(experiment, "going", "5e-4", [0.2, 0.3])

    # The address that MLflow's client prints
    screen.goto(f"{site.url}/mlflow/home/default/#/experiments/{experiment}/runs/{going}")
    screen.wait_for_url(f"{site.url}/home/runs/{going}")

    screen.goto(f"{site.url}/home/experiments")
    screen.get_by_role("link", name=name).click()
    titles = screen.locator("td.name .title")
    expect(titles).to_have_count(4)

    # A value that is logged now appears in its cell
    cell = screen.locator(f'tr[data-id="{going}"] [data-metric="acc"]')
    expect(cell).to_have_text("0.3")
    expect(screen.locator("[data-runs]")).to_have_attribute("data-following", "true")
    mlflow.log(going, 0.55, 9)
    expect(cell).to_have_text("0.55")

    # The filter completes what was logged
    box = screen.locator("[data-expression]")
    box.click()
    expect(screen.locator("#suggestions li").first).to_contain_text("metrics.acc")
    box.press("ArrowDown")
    box.press("Enter")
    box.press_sequentially("> 0.8")
    box.press("Enter")
    screen.wait_for_url(re.compile(r"filter=metrics\.acc"))
    expect(titles).to_have_text(["tries-2", "tries-1"])

    if screen.locator("[data-action=select]").is_visible():
        screen.click("[data-action=select]")
    for number in (0, 1):
        screen.locator("tbody input[name=run]").nth(number).check()
        expect(screen.get_by_role("link", name="Register")).to_be_visible(visible=not number)
    screen.get_by_role("link", name="Compare").click()
    screen.wait_for_url(re.compile(r"/home/compare\?runs="))
    expect(screen.locator(".ranked tbody tr").first).to_contain_text("lr")
    expect(screen.locator(".chart").first).to_be_attached()
    dots = screen.locator("[data-scatter] circle")
    expect(dots).to_have_count(2)
    screen.locator("[data-scatter] svg").focus()
    screen.keyboard.press("ArrowRight")
    expect(screen.locator("[data-scatter] .chart-tip")).to_contain_text("tries-")
    screen.keyboard.press("Enter")
    screen.wait_for_url(re.compile(r"/home/runs/\w+"))
    expect(screen.locator("h1")).to_contain_text("tries-")
    expect(screen.locator('.stat [data-metric="acc"]')).to_be_visible()


def test_all_matching_runs_are_archived_and_a_new_job_joins_them(screen: Page, site: Site) -> None:
    mlflow = Mlflow(site)
    name = f"bulk-{'phone' if screen.viewport_size['width'] < 800 else 'desktop'}"
    experiment = str(mlflow.call("experiments/create", name=name)["experiment_id"])
    for n in range(4):
        mlflow.run(experiment, f"tries-{n}", "1e-3", [0.5])
    titles = screen.locator("td.name .title")

    # All matching runs are archived at once, and are there again
    screen.goto(f"{site.url}/home/experiments/{experiment}?limit=2")
    if screen.locator("[data-action=select]").is_visible():
        screen.click("[data-action=select]")
    for box in screen.locator("tbody input[name=run]").all():
        box.check()
    screen.get_by_role("button", name="Select all 4 matching runs").click()
    expect(screen.locator("#bulk b")).to_have_text("4 selected")
    screen.get_by_role("button", name="Archive", exact=True).click()
    expect(titles).to_have_count(0)
    screen.get_by_role("button", name="Undo").click()
    expect(titles).to_have_count(2)

    # The form of a new job completes the experiment
    screen.goto(f"{site.url}/home/jobs/new")
    screen.get_by_label("Experiment").press_sequentially(name[:6])
    expect(screen.locator(f'#experiments option[value="{name}"]')).to_have_count(1)
    screen.get_by_label("Experiment").fill(name)
    expect(screen.locator("[data-command]")).to_contain_text(f"experiment: {name}")


def test_menus_open_beside_their_buttons(screen: Page, site: Site) -> None:
    mlflow = Mlflow(site)
    name = f"menus-{screen.viewport_size['width']}"
    experiment = str(mlflow.call("experiments/create", name=name)["experiment_id"])
    run_id = mlflow.run(experiment, "first", "1e-2", [0.1, 0.2])
    found = 0
    for path in (f"experiments/{experiment}", f"runs/{run_id}", "jobs/new"):
        screen.goto(f"{site.url}/home/{path}", wait_until="networkidle")
        summaries = screen.locator("main details.menu > summary:visible")
        for n in range(summaries.count()):
            summaries.nth(n).click()
            sheet = summaries.nth(n).locator("xpath=../*[contains(@class, 'sheet')]")
            menu, button = sheet.bounding_box(), summaries.nth(n).bounding_box()
            assert menu and button
            assert menu["x"] >= 0 and menu["x"] + menu["width"] <= screen.viewport_size["width"]
            assert 0 <= menu["y"] - button["y"] - button["height"] < 60, (path, menu, button)
            screen.keyboard.press("Escape")
            found += 1
    assert found >= 6
