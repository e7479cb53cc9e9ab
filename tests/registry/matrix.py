"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import ADMINS, EVERYBODY, VALUES, VIEWERS, WORKERS, Row
from workspaces.access.permissions import Permission as P

LISTS = {
    "api-models",
    "api-models-trash",
}
ROWS = {
    ("api-models", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("api-models", "POST"): Row(WORKERS, P.MODELS_WRITE, {"team": "vision", "name": "fresh"}),
    ("api-models-trash", "GET"): Row(EVERYBODY, None),  # likewise
    ("api-models-trash-entry", "POST"): Row(WORKERS, P.MODELS_WRITE),
    ("api-models-trash-entry", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model", "PATCH"): Row(WORKERS, P.MODELS_WRITE, {"description": "new"}),
    ("api-model", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-alias", "PUT"): Row(WORKERS, P.MODELS_WRITE, {"version": 1}),
    ("api-model-alias", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-versions", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-versions", "POST"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-version", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-version", "PATCH"): Row(WORKERS, P.MODELS_WRITE, {"description": "new"}),
    ("api-model-version", "DELETE"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-finish", "POST"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-files", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-file", "GET"): Row(VIEWERS, P.MODELS_READ),
    ("api-model-file", "PUT"): Row(WORKERS, P.MODELS_WRITE),
    ("api-model-approval", "POST"): Row(WORKERS, P.MODELS_WRITE, {"do": "request"}),
    ("api-model-stage", "PUT"): Row(WORKERS, P.MODELS_WRITE, {"stage": "Staging"}),
    ("api-model-promote", "POST"): Row(ADMINS, P.MODELS_WRITE, {"team": "speech"}),
}
FORMS = {
    "model-new": (WORKERS, {"team": "vision", "name": "fresh"}),
    "models-trash": (WORKERS, {"do": "restore", "model": VALUES["trashed"]}),
    "model": (WORKERS, {"do": "alias-delete", "alias": "champion"}),
    "model-version": (WORKERS, {"do": "request"}),
}
SILENT = {
    ("api-model-file", "PUT"): "bytes of an upload, which is recorded when it is finished",
}
