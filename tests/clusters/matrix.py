"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import INSIDERS, OPERATORS, VIEWERS, WORKERS, Row
from workspaces.access.permissions import Permission as P

LATER = {"ends_at": "2100-01-01T00:00:00Z", "starts_at": "2099-12-01T00:00:00Z"}
ROWS = {
    ("api-clusters", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-clusters", "POST"): Row(
        OPERATORS, P.CLUSTERS_WRITE, {"name": "fresh", "backend": "local"}
    ),
    ("api-cluster-try", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"backend": "local"}),
    ("api-cluster", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-cluster", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"is_enabled": False}),
    ("api-cluster", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-cluster-test", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-cluster-nodes", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-node-drain", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"reason": "fan"}),
    ("api-node-resume", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-cluster-health", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-cluster-health", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"most_percent": 20}),
    ("api-cluster-health-reset", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-node-health", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-node-quarantine", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"reason": "fan"}),
    ("api-node-return", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pools", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-pool-requests", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-pool-requests", "POST"): Row(
        WORKERS, P.JOBS_SUBMIT, {"team": "vision", "gpu_type": "mig-1g.10gb", "gpus": 1} | LATER
    ),
    ("api-pool-request", "GET"): Row(VIEWERS, P.NODES_READ),
    ("api-pool-request", "POST"): Row(WORKERS, P.JOBS_SUBMIT, {"do": "withdraw"}),
    ("api-pools", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"name": "fresh", "cluster": "local"}),
    ("api-pool", "PATCH"): Row(OPERATORS, P.CLUSTERS_WRITE, {"note": "for all"}),
    ("api-pool", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pool-team", "PUT"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pool-team", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-mig-plans", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-mig-plans", "POST"): Row(
        OPERATORS, P.CLUSTERS_WRITE, {"cluster": "local", "wish": {"1g.10gb": 1}}
    ),
    ("api-mig-plan", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-mig-plan", "POST"): Row(OPERATORS, P.CLUSTERS_WRITE, {"do": "discard"}),
    ("api-mig-settings", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-mig-settings", "PUT"): Row(OPERATORS, P.CLUSTERS_WRITE, {"nodes_at_once": 2}),
}
FORMS = {
    "pool-requests": (
        WORKERS,
        {"team": "vision", "gpu_type": "mig-1g.10gb", "gpus": "1", "ends_at": "2027-06-01"},
    ),
    "pool-request": (WORKERS, {"do": "withdraw"}),
    "platform-pool-request": (OPERATORS, {"do": "decline", "word": "no"}),
    "mig-plans": (OPERATORS, {"cluster": "local", "n.1g.10gb": "1"}),
    "mig-plan": (OPERATORS, {"do": "discard"}),
    "cluster": (OPERATORS, {"do": "disable"}),
    "cluster-connect": (
        OPERATORS,
        {"kind": "local", "name": "fresh", "ports": "tunnel", "anyway": "1"},
    ),
    "platform-pool": (OPERATORS, {"do": "change", "note": "for all"}),
    "cluster-edit": (OPERATORS, {"do": "save", "anyway": "1"}),
}
