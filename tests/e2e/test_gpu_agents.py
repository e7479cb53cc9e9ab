"""Real agent processes and a real portal: wrong clocks, and a GPU that vanishes while it is changed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.processes import Folder, wait_until

pytestmark = pytest.mark.integration

CONNECT = """
from clusters.backends import backend_of
from clusters.models import Cluster
from clusters.services.inventory import take_inventory
from workspaces.tenancy.scope import platform_scope
with platform_scope("test"):
    options = {"name": "lab", "h100_nodes": 3, "l40s_nodes": 0, "is_measured": False}
    row = Cluster.objects.create(name="lab", backend="simulated", config=options)
    take_inventory(row, backend_of(row))
"""


class Lab:
    """A portal with a cluster of three nodes, whose agents are started by the test."""

    def __init__(self, folder: Folder):
        self.folder = folder
        self.portal = Portal(folder, is_furnished=True)
        self.portal.start()
        self.portal.manage("shell", "-v", "0", "-c", CONNECT)
        self.token = self.portal.token()
        headers = {"Authorization": f"Bearer {self.token}"}
        self.api = httpx.Client(base_url=f"{self.portal.url}/api/v1", headers=headers, timeout=60)

    def agent(self, node: str, *options: str) -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "tests.rig.agent", self.portal.url, node, *options]
        env = {"MUSTER_AGENT_TOKEN": self.token, "PYTHONPATH": f"{ROOT}:{ROOT / 'agent'}"}
        return self.folder.start(f"agent-{node}", argv, env=env)

    def times(self, node: str) -> list[float]:
        """Return when the load of a node was measured, in Unix seconds."""
        path = f"/orgs/home/nodes/{node}/metrics?names=cpu.load1&cluster=lab"
        return [t / 1000 for one in self.api.get(path).json()["items"] for t in one["times"]]

    def done(self, verb: str, path: str, /, **body: Any) -> dict[str, Any]:
        answer = self.api.request(verb, path, json=body or None)
        assert answer.is_success, answer.text
        return dict(answer.json())


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    folder = Folder()
    made = Lab(folder)
    yield made
    made.api.close()
    made.portal.stop()
    folder.close()


def test_agents_with_wrong_clocks_do_not_bend_history(lab: Lab):
    """Both start while the portal is down, so their backlog is from before the first answer."""
    lab.portal.stop()
    lab.portal.is_furnished = False  # its tables are there
    began = time.time()
    agents = [
        lab.agent("dgx-01", "--ahead", "7200"),
        lab.agent("dgx-02", "--ahead", str(-26 * 3600)),
    ]
    time.sleep(5)
    lab.portal.start()
    for node in ("dgx-01", "dgx-02"):
        wait_until(lambda node=node: len(lab.times(node)) >= 8, f"{node} is measured", 120)
        times = lab.times(node)
        assert min(times) > began - 2 and max(times) < time.time() + 2, [t - began for t in times]
        assert times == sorted(times) and max(times) - min(times) > 5
    for agent in agents:
        agent.terminate()
        agent.wait(20)


def test_gpu_that_vanishes_while_it_is_partitioned_leaves_its_node_drained(lab: Lab):
    agent = lab.agent("dgx-03", "--gpus", "2", "--vanish", "+1g.10gb@4")

    def node() -> dict[str, Any]:
        return lab.done("GET", "/orgs/home/nodes/dgx-03?cluster=lab")

    def is_reported() -> bool:
        gpus = lab.done("GET", "/orgs/home/gpus?node=dgx-03")["items"]
        return [gpu["uuid"] for gpu in gpus] == ["GPU-dgx-03-0", "GPU-dgx-03-1"]

    wait_until(is_reported, "the agent reports its GPUs", 60)
    lab.done("PUT", "/mig/clusters/lab", method="agent")
    plan = lab.done("POST", "/mig/plans", cluster="lab", wish={"1g.10gb": 14}, nodes=["dgx-03"])
    at = f"/mig/plans/{plan['id']}"
    lab.done("POST", at, do="apply")
    wait_until(plan_is(lab, at, "failed"), "the plan fails", 180)
    [row] = lab.done("GET", at)["nodes"]
    assert row["state"] == "failed" and "GPU-dgx-03-0" in row["error"], row
    assert not row["is_restored"] and node()["state"] == "drained"
    gpu = "/orgs/home/gpus/GPU-dgx-03-0"
    wait_until(lambda: lab.done("GET", gpu)["state"] == "lost", "its GPU is lost", 60)
    agent.terminate()
    agent.wait(20)


def plan_is(lab: Lab, at: str, state: str) -> Callable[[], bool]:
    return lambda: lab.done("GET", at)["state"] == state
