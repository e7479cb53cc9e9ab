"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import EVERYBODY, VALUES, VIEWERS, WORKERS, Row
from workspaces.access.permissions import Permission as P

LISTS = {
    "api-experiments",
    "api-runs",
}
ROWS = {
    ("api-lineage", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("api-job-event-files", "POST"): Row(WORKERS, P.JOBS_WRITE_METRICS),
    ("api-experiments", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("api-experiments", "POST"): Row(
        WORKERS, P.EXPERIMENTS_WRITE, {"team": "vision", "name": "fresh"}
    ),
    ("api-experiment", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-experiment", "PATCH"): Row(WORKERS, P.EXPERIMENTS_WRITE, {"description": "new"}),
    ("api-experiment", "DELETE"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-experiment-restore", "POST"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-experiment-runs", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-runs", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-runs", "POST"): Row(WORKERS, P.EXPERIMENTS_WRITE, {"experiment": 1}),
    ("api-runs-act", "POST"): Row(
        WORKERS, P.EXPERIMENTS_WRITE, {"do": "archive", "runs": [VALUES["run"]]}
    ),
    ("api-runs-import", "POST"): Row(
        WORKERS,
        P.EXPERIMENTS_WRITE,
        {
            "experiment": 1,
            "server": "https://mlflow.example",
            "run_id": "0123456789abcdef0123456789abcdef",
            "status": "FINISHED",
            "started_ms": 1,
        },
    ),
    ("api-runs-compare", "GET"): Row(EVERYBODY, None),  # compares what is visible
    ("api-run", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run", "PATCH"): Row(WORKERS, P.EXPERIMENTS_WRITE, {"name": "renamed"}),
    ("api-run", "DELETE"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-run-metrics", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run-log", "POST"): Row(
        WORKERS, P.EXPERIMENTS_WRITE, {"metrics": [{"name": "loss", "value": 1}]}
    ),
    ("api-run-artifacts", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run-artifact", "GET"): Row(VIEWERS, P.EXPERIMENTS_READ),
    ("api-run-artifact", "PUT"): Row(WORKERS, P.EXPERIMENTS_WRITE),
    ("api-run-artifact", "DELETE"): Row(WORKERS, P.EXPERIMENTS_WRITE),
}
FORMS = {
    "experiments": (WORKERS, {"team": "vision", "name": "fresh"}),
    "experiment-act": (WORKERS, {"verb": "edit", "name": "renamed"}),
    "experiment-runs-act": (WORKERS, {"verb": "archive", "run": VALUES["run"]}),
    "run-act": (WORKERS, {"verb": "rename", "name": "renamed"}),
}
SILENT = {
    ("api-job-event-files", "POST"): "the same",
    ("api-run-artifact", "PUT"): "a file of a run: data",
    ("api-run-log", "POST"): "points, params and tags of a run: data",
}
