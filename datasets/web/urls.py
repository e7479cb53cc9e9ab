from __future__ import annotations

from typing import ClassVar

from django.urls import path, register_converter

from datasets.models import RepositoryKind
from datasets.web import (
    files,
    folders,
    imports,
    lists,
    retention,
    settings,
    uploads,
    versions,
)


class KindConverter:
    """The kind of a repository as the plural in a path."""

    regex = "datasets|checkpoints"
    kinds: ClassVar[dict[str, str]] = {
        "datasets": RepositoryKind.DATASET.value,
        "checkpoints": RepositoryKind.CHECKPOINT.value,
    }

    def to_python(self, value: str) -> str:
        return self.kinds[value]

    def to_url(self, value: str) -> str:
        return f"{value}s"


register_converter(KindConverter, "kind")

_ONE = "<slug:org>/<kind:kind>/<str:repository>"
_WORKSPACE = "<slug:org>/workspaces/<str:workspace>"
# "-" cannot be the name of a repository
urlpatterns = [
    path("<slug:org>/datasets", lists.datasets, name="datasets"),
    path("<slug:org>/checkpoints", lists.checkpoints, name="checkpoints"),
    path("<slug:org>/<kind:kind>/-/trash", lists.trash, name="repository-trash"),
    path("<slug:org>/<kind:kind>/-/retention", retention.retention, name="repository-retention"),
    path(_ONE, files.folder, name="repository"),
    path(f"{_ONE}/tree/<path:path>", files.folder, name="repository-folder"),
    path(f"{_ONE}/file/<path:path>", files.file, name="repository-file"),
    path(f"{_ONE}/raw/<path:path>", files.download, name="repository-raw"),
    path(f"{_ONE}/upload", uploads.upload, name="repository-upload"),
    path(f"{_ONE}/imports", imports.imports, name="repository-imports"),
    path(f"{_ONE}/versions", versions.versions, name="repository-versions"),
    path(f"{_ONE}/lineage", versions.lineage, name="repository-lineage"),
    path(f"{_ONE}/compare", versions.compare, name="repository-compare"),
    path(f"{_ONE}/settings", settings.settings, name="repository-settings"),
    path("<slug:org>/workspaces", folders.shared_folders, name="workspaces"),
    path("<slug:org>/workspaces/-/trash", folders.trash, name="workspaces-trash"),
    path(_WORKSPACE, folders.folder, name="workspace"),
    path(f"{_WORKSPACE}/tree/<path:path>", folders.folder, name="workspace-folder"),
    path(f"{_WORKSPACE}/file/<path:path>", folders.file, name="workspace-file"),
    path(f"{_WORKSPACE}/raw/<path:path>", folders.download, name="workspace-raw"),
    path(f"{_WORKSPACE}/upload", folders.upload, name="workspace-upload"),
    path(f"{_WORKSPACE}/share", folders.share, name="workspace-share"),
    path(f"{_WORKSPACE}/settings", folders.settings, name="workspace-settings"),
]
