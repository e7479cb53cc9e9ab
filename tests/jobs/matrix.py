"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import (
    ADMINS,
    EVERYBODY,
    INSIDERS,
    LEADS,
    NOBODY,
    OPERATORS,
    OWNERS,
    PEOPLE,
    VIEWERS,
    WORKERS,
    Row,
)
from workspaces.access.permissions import Permission as P

SPEC = {"team": "vision", "spec": {"run": "true"}}
LISTS = {
    "api-jobs",
    "api-gpu-time",
    "api-idle-gpus",
    "api-storage",
    "api-storage-use",
}
ROWS = {
    ("api-quotas-preview", "POST"): Row(
        ADMINS,
        P.QUOTAS_WRITE,
        {"changes": [{"scope": "team", "subject": "vision", "resource": "gpu", "limit": 1}]},
    ),
    ("api-storage", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-storage-use", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-jobs", "GET"): Row(EVERYBODY, None),  # a list of what is visible, possibly empty
    ("api-jobs", "POST"): Row(WORKERS, P.JOBS_SUBMIT, SPEC),
    ("api-jobs-validate", "POST"): Row(EVERYBODY, None, {"yaml": "run: true"}),
    ("api-jobs-options", "GET"): Row(WORKERS, P.JOBS_SUBMIT),
    ("api-ssh-certificates", "POST"): Row(
        EVERYBODY,
        None,  # it opens nothing without a token that may
        {
            "public_key": "ssh-ed25519 "
            "AAAAC3NzaC1lZDI1NTE5AAAAIFSfvMFPPQB3YAyZSWU0bHl4nKTL+J7wYnXqhTTs8Q1a"
        },
    ),
    ("api-jobs-compare", "GET"): Row(EVERYBODY, None),  # compares what is visible
    ("api-job", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job", "PATCH"): Row(WORKERS, P.JOBS_CANCEL, {"name": "renamed"}),
    ("api-job-cancel", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-hold", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-release", "POST"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-rerun", "POST"): Row(WORKERS, P.JOBS_SUBMIT),
    ("api-job-pending", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-attempts", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-events", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-logs", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-logs", "DELETE"): Row(WORKERS, P.JOBS_CANCEL),
    ("api-job-log-download", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-log-certificate", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-log-search", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-metrics", "GET"): Row(VIEWERS, P.JOBS_READ),
    ("api-job-metrics", "POST"): Row(
        WORKERS, P.JOBS_WRITE_METRICS, {"points": [{"name": "loss", "value": 1}]}
    ),
    ("api-job-outputs", "GET"): Row(VIEWERS, P.JOBS_READ),
    # only the job itself, by its token: tests/jobs/test_saving.py
    ("api-job-output", "POST"): Row(NOBODY, P.DATASETS_WRITE),
    ("api-job-output", "PATCH"): Row(NOBODY, P.DATASETS_WRITE),
    ("api-job-output-versions", "POST"): Row(NOBODY, P.DATASETS_WRITE, {"files": []}),
    ("api-job-exec", "POST"): Row(ADMINS | {"ben"}, P.JOBS_EXEC, {"argv": ["true"]}),
    ("api-gpu-time", "GET"): Row(EVERYBODY, None),
    ("api-idle-gpus", "GET"): Row(EVERYBODY, None),
    ("api-pool-idle-rule", "GET"): Row(INSIDERS, P.NODES_READ),
    ("api-pool-idle-rule", "PUT"): Row(OPERATORS, P.CLUSTERS_WRITE, {"window": 30}),
    ("api-pool-idle-rule", "DELETE"): Row(OPERATORS, P.CLUSTERS_WRITE),
    ("api-pool-idle-jobs", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-job-keep", "POST"): Row(WORKERS, P.JOBS_CANCEL, {"hours": 2}),
}
FORMS = {
    "team": (LEADS | PEOPLE, {"email": "eve@atlas.example", "role": "member"}),
    "member": (PEOPLE, {"role": "member"}),
    "quotas": (ADMINS, {"who": "team:vision", "resource": "gpu", "limit": "1"}),
    "team-rules": (ADMINS, {"max_gpus": "4"}),
    "quota-requests": (WORKERS, {"who": "team:vision", "resource": "jobs", "amount": "2000"}),
    "quota-request": (ADMINS, {"do": "decline"}),
    "guide": (OWNERS, {"do": "name", "name": "Atlas Research"}),
    "job-act": (WORKERS, {}),
    "idle": (WORKERS, {"do": "cancel", "job": "1"}),
    "platform-pool-idle-rule": (
        OPERATORS,
        {"metric": "auto", "threshold": "5", "window": "60", "action": "warn", "grace": "30"},
    ),
}
SILENT = {
    **{
        (f"api-job-output{name}", verb): "by a job's token only: tests/jobs/test_saving.py"
        for name, verb in (("", "POST"), ("", "PATCH"), ("-versions", "POST"))
    },
    ("api-jobs-validate", "POST"): "looks at a text and says what is wrong with it",
    ("api-job-metrics", "POST"): "points of a curve: data, as a log is",
    ("api-ssh-certificates", "POST"): "opens nothing by itself; each use is recorded",
    ("api-quotas-preview", "POST"): "says whom it would stop, and changes nothing",
}
SILENT_FORMS = {
    "home": "marks a first step as done, for this session only",
}
