"""An operator sees an unhealthy node, returns it, quarantines it again, and changes a check."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.look.conftest import PHONE, WIDE, watch
from tests.rig.portal import EMAIL, PASSWORD, Portal
from tests.rig.processes import Folder, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.integration]
NODES = {WIDE["width"]: "dgx-02", PHONE["width"]: "dgx-04"}
# The XID of an agent, and an evaluation; the first one only remembers where the events begin
FAULT = """
from datetime import timedelta
from clusters.health import evaluation, findings
from clusters.models import Cluster, HealthPolicy, Node
from monitoring.metrics.ingest import ingest
from portal.core import clock
from workspaces.tenancy.scope import platform_scope
findings.SETTLED = -5
cluster = Cluster.objects.get(nodes__name="dgx-02")
evaluation.policy_of(cluster)
HealthPolicy.objects.update(most_percent=50)
row = {"name": "gpu.rows.pending", "value": 1, "labels": {"gpu": "3"}}
used = {"name": "memory.used", "value": 1 << 30, "unit": "bytes"}
xid = {"kind": "xid", "code": 79, "gpu": 5, "at": clock.now_ms()}
for name, events in (("dgx-02", [xid]), ("dgx-04", [xid]), ("dgx-03", [])):
    body = {"node": name, "at": clock.now_ms(), "samples": [row, used], "events": events}
    ingest(body)
with platform_scope("test"):
    evaluation.evaluate_cluster(cluster)
print(Node.objects.get(name="dgx-02").health.state)
"""


@pytest.fixture(scope="module")
def demo() -> Iterator[Portal]:
    folder = Folder()
    portal = Portal(folder, is_furnished=True)
    portal.start()
    portal.manage("demo", "--jobs", "20")
    wait_until(lambda: "quarantined" in portal.manage("shell", "-c", FAULT), "the rule acts", 60, 1)
    yield portal
    portal.stop()
    folder.close()


@pytest.fixture(params=[WIDE, PHONE], ids=["1440", "390"])
def page(browser: Browser, demo: Portal, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(viewport=request.param)
    made = context.new_page()
    complaints: list[str] = []
    watch(made, complaints)
    made.goto(f"{demo.url}/accounts/login/")
    made.fill("[name=login]", EMAIL)
    made.fill("[name=password]", PASSWORD)
    made.click("button[type=submit]")
    made.wait_for_url(lambda url: "/login/" not in url)
    yield made
    assert complaints == []
    wide = made.evaluate("document.documentElement.scrollWidth")
    assert wide <= request.param["width"], "the page scrolls sideways"
    context.close()


def test_operator_returns_and_quarantines_a_node(page: Page, demo: Portal) -> None:
    page.goto(f"{demo.url}/platform/nodes/{NODES[page.viewport_size['width']]}")
    panel = page.locator("#health")
    expect(panel).to_contain_text("XID 79 (GPU has fallen off the bus)")
    expect(page.locator(".note.bad")).to_contain_text("Reboot the node")
    page.get_by_role("button", name="Return to service").click()
    page.get_by_role("dialog").get_by_role("button", name="Return node").click()
    expect(page.locator(".undo")).to_contain_text("back in service")
    page.get_by_role("button", name="Quarantine", exact=True).click()
    page.get_by_role("dialog").get_by_label("Reason").fill("GPU 5 is replaced")
    page.get_by_role("dialog").get_by_role("button", name="Quarantine node").click()
    expect(page.locator("#health")).to_contain_text("GPU 5 is replaced")
    expect(page.locator(".undo")).to_contain_text("until an operator returns it")


def test_operator_changes_a_check(page: Page, demo: Portal) -> None:
    cluster = demo.manage(
        "shell",
        "-c",
        "from clusters.models import Node; print(Node.objects.get(name='dgx-02').cluster)",
    ).splitlines()[-1]
    page.goto(f"{demo.url}/platform/clusters/{cluster}?tab=health")
    expect(page.get_by_role("link", name="dgx-03")).to_be_visible()
    page.locator("[name='temperature.action']").select_option("drain")
    page.locator("[name='temperature.threshold']").fill("85")
    page.get_by_role("button", name="Save checks").click()
    expect(page.locator("[name='temperature.threshold']")).to_have_value("85")
    page.goto(f"{demo.url}/platform/")
    expect(page.locator(".stat").filter(has_text="Unhealthy nodes")).to_contain_text(
        "2 quarantined"
    )
