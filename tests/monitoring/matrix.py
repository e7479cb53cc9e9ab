"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from datetime import timedelta

from portal.core import clock
from tests.matrix import INSIDERS, OPERATORS, Row
from workspaces.access.permissions import Permission as P

SOURCE = {"cluster": "local", "kind": "prometheus", "urls": "http://127.0.0.1:1"}
A_WEEK_AGO = (clock.now() - timedelta(days=7)).isoformat()
ROWS = {
    ("api-nodes", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-capacity", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-fleet", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-gpus", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-gpu", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-wall", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-node", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-node-metrics", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-platform-wall", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-platform-node-metrics", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-telemetry-sources", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-telemetry-sources", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"name": "fresh"} | SOURCE),
    ("api-telemetry-test", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, SOURCE),
    ("api-telemetry-source", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-telemetry-source", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"interval": 60}),
    ("api-telemetry-source", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-telemetry-source-test", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-telemetry-source-history", "POST"): Row(
        OPERATORS, P.CLUSTERS_WRITE, {"since": A_WEEK_AGO}
    ),
    ("api-agent-samples", "POST"): Row(frozenset({"dot"}), P.AGENT_WRITE),
}
FORMS = {
    "platform-telemetry": (OPERATORS, {"name": "fresh"} | SOURCE),
    "platform-telemetry-source": (OPERATORS, {"do": "disable"}),
}
SILENT = {
    ("api-agent-samples", "POST"): "samples of nodes: data",
}
