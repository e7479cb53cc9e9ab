"""The Grafana dashboards: every query parses, and names only metrics that exist."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from muster_agent.exposition import SUFFIX
from schedulers.states import State
from tests.jobs.stage import cluster_with
from tests.rig.processes import program

FOLDER = Path(__file__).parents[2] / "deploy" / "grafana"
BOARDS = sorted(FOLDER.glob("*.json"))
# https://docs.nvidia.com/datacenter/dcgm: what dcgm-exporter can serve, and a dashboard draws
UNREAD_BY_US = {"DCGM_FI_DEV_FB_FREE"}
NAME = re.compile(r"\b(muster_[a-z_]+|DCGM_FI_[A-Z_]+)\b")


def queries(board):
    for panel in json.loads(board.read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


@pytest.fixture
def known(story):
    from monitoring.sources.dcgm import READ

    cluster_with(gpus=1)
    text = story.api(story.dot, story.atlas).get("/metrics").content.decode()
    ours = {family.name for family in text_string_to_metric_families(text)}
    return ours | READ | agent_metrics()


def agent_metrics():
    """Return the names under which agents may serve the metrics that they measure."""
    source = "".join(
        path.read_text() for path in (FOLDER.parents[1] / "agent/muster_agent").glob("*.py")
    )
    found = re.findall(r'"((?:gpu|cpu|memory)\.[a-z0-9_.]+)",?\s[^"\n]*"?([A-Za-z/]*)"?', source)
    names = {name.replace(".", "_") for name, _ in found}
    return {f"muster_{name}{suffix}" for name in names for suffix in (*SUFFIX.values(), "")}


def test_dashboards_name_only_metrics_that_exist(known):
    assert [board.stem for board in BOARDS] == ["fleet", "gpu", "node"]
    unknown = {
        (board.stem, name)
        for board in BOARDS
        for _, expr in queries(board)
        for name in NAME.findall(expr)
        if name not in known
    }
    assert unknown == set()


def test_queries_of_dashboards_parse(tmp_path):
    rules = [
        {"record": f"q{number}", "expr": expr}
        for number, expr in enumerate(expr for board in BOARDS for _, expr in queries(board))
    ]
    file = tmp_path / "rules.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboards", "rules": rules}]}))
    checked = subprocess.run(
        [program("promtool"), "check", "rules", str(file)], capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr.decode()
    assert len(rules) > 40


def test_dashboards_filter_states_that_exist():
    text = "".join(expr for board in BOARDS for _, expr in queries(board))
    named = set(re.findall(r'muster_attempts\{state=~"([a-z|]+)"', text)[0].split("|"))
    assert named <= {state.label for state in State}
    assert set(re.findall(r'muster_gpus\{[^}]*state="([a-z_]+)"', text)) <= {
        "allocated",
        "free",
        "out_of_service",
    }


def test_dashboard_panels_do_not_overlap():
    for board in BOARDS:
        cells = [
            (panel["gridPos"]["x"] + dx, panel["gridPos"]["y"] + dy)
            for panel in json.loads(board.read_text())["panels"]
            for dx in range(panel["gridPos"]["w"])
            for dy in range(panel["gridPos"]["h"])
        ]
        assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24, board.stem
