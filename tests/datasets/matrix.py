"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.matrix import ADMINS, EVERYBODY, VALUES, VIEWERS, WORKERS, Row
from workspaces.access.permissions import Permission as P

REPOSITORY = {  # of datasets and of checkpoints
    ("s", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("s", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"team": "vision", "name": "fresh"}),
    ("s-trash", "GET"): Row(EVERYBODY, None),  # likewise
    ("s-trash-entry", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("s-trash-entry", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("s-retention", "GET"): Row(ADMINS, P.DATASETS_ADMIN),
    ("s-retention", "PUT"): Row(ADMINS, P.DATASETS_ADMIN, {"keep_last": 3}),
    ("", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("", "PATCH"): Row(WORKERS, P.DATASETS_WRITE, {"description": "new"}),
    ("", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-shares", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-share", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-share", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-space", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-space", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-imports", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-imports", "POST"): Row(
        WORKERS, P.DATASETS_WRITE, {"source": ["https://example.org/train.tar"]}
    ),
    ("-import", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-import-cancel", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-import-resume", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-retention", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-retention", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"keep_last": 1}),
    ("-versions", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-version", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-version", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-commits", "POST"): Row(
        WORKERS, P.DATASETS_WRITE, {"changes": [{"op": "delete", "path": "x"}]}
    ),
    ("-tree", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-diff", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-file", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-refs", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-tag", "PUT"): Row(WORKERS, P.DATASETS_WRITE, {"revision": "1", "may_move": True}),
    ("-tag", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-branches", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"name": "fresh"}),
    ("-branch", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-contents", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"sha256": []}),
    ("-contents", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-contents-batch", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-downloads", "POST"): Row(VIEWERS, P.DATASETS_READ, {"paths": ["x"]}),
    ("-uploads", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-upload", "PATCH"): Row(frozenset({"ben"}), P.DATASETS_WRITE),  # his own
    ("-upload", "DELETE"): Row(frozenset({"ben"}), P.DATASETS_WRITE),
}
WORKSPACE = {
    ("s", "GET"): Row(EVERYBODY, None),  # a list of what is visible
    ("s", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"team": "vision", "name": "fresh"}),
    ("s-trash", "GET"): Row(EVERYBODY, None),  # likewise
    ("s-trash-entry", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("s-trash-entry", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("", "PATCH"): Row(WORKERS, P.DATASETS_WRITE, {"description": "new"}),
    ("", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-team", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-team", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-person", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-person", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-tree", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-file", "GET"): Row(VIEWERS, P.DATASETS_READ),
    ("-file", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-contents-batch", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-file", "DELETE"): Row(WORKERS, P.DATASETS_WRITE),
    ("-folder", "PUT"): Row(WORKERS, P.DATASETS_WRITE),
    ("-moves", "POST"): Row(WORKERS, P.DATASETS_WRITE, {"source": "x", "target": "y"}),
    ("-uploads", "POST"): Row(WORKERS, P.DATASETS_WRITE),
    ("-upload", "PATCH"): Row(frozenset({"ben"}), P.DATASETS_WRITE),  # his own
    ("-upload", "DELETE"): Row(frozenset({"ben"}), P.DATASETS_WRITE),
}
LISTS = {
    "api-checkpoints",
    "api-checkpoints-trash",
    "api-datasets",
    "api-datasets-trash",
    "api-workspaces",
    "api-workspaces-trash",
}
ROWS = {
    **{
        (f"api-{kind}{name}", verb): row
        for kind in ("dataset", "checkpoint")
        for (name, verb), row in REPOSITORY.items()
    },
    **{(f"api-workspace{name}", verb): row for (name, verb), row in WORKSPACE.items()},
}
FORMS = {
    "datasets": (WORKERS, {"team": "vision", "name": "fresh"}),
    "checkpoints": (WORKERS, {"team": "vision", "name": "fresh"}),
    "repository-trash": (WORKERS, {"do": "restore", "repository": VALUES["trashed"]}),
    "repository-retention": (ADMINS, {"do": "save", "keep_last": "3", "keep_days": "0"}),
    "repository": (WORKERS, {"path": "x"}),
    "repository-folder": (WORKERS, {"path": "x"}),
    "repository-upload": (WORKERS, {"files": SimpleUploadedFile("y", b"new")}),
    "repository-imports": (
        WORKERS,
        {"do": "start", "from": "http", "source": "https://example.org/train.tar"},
    ),
    "repository-versions": (WORKERS, {"do": "tag", "version": "1", "name": "fresh"}),
    "repository-settings": (WORKERS, {"do": "save", "description": "new"}),
    "workspaces": (WORKERS, {"team": "vision", "name": "fresh"}),
    "workspaces-trash": (WORKERS, {"do": "restore", "workspace": VALUES["trashed"]}),
    "workspace": (WORKERS, {"do": "delete", "path": "x"}),
    "workspace-folder": (WORKERS, {"do": "move", "path": "x", "target": "y"}),
    "workspace-share": (WORKERS, {"do": "invite", "with": "team:speech"}),
    "workspace-settings": (WORKERS, {"do": "save", "description": "new"}),
}
SILENT = {
    **{
        (f"api-{kind}-{name}", verb): "bytes for a later commit, which is recorded"
        for kind in ("dataset", "checkpoint")
        for name, verbs in (
            ("contents", ("POST", "PUT")),
            ("contents-batch", ("PUT",)),
            ("downloads", ("POST",)),
            ("uploads", ("POST",)),
            ("upload", ("PATCH", "DELETE")),
        )
        for verb in verbs
    },
    ("api-workspace-file", "PUT"): "a file of people's work: data, as those of a run are",
    ("api-workspace-contents-batch", "PUT"): "the same",
    ("api-workspace-folder", "PUT"): "the same",
    ("api-workspace-uploads", "POST"): "the same",
    ("api-workspace-upload", "PATCH"): "the same",
    ("api-workspace-upload", "DELETE"): "the same",
}
SILENT_FORMS = {
    "workspace-upload": "files of people's work: data",
}
