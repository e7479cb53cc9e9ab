from __future__ import annotations

from typing import ClassVar

from django.urls import path, register_converter

from datasets.models import Kind
from datasets.web import files, imports, lists, settings, uploads, versions


class KindConverter:
    """The kind of a repository as the plural in a path."""

    regex = "datasets|checkpoints"
    kinds: ClassVar[dict[str, str]] = {
        "datasets": Kind.DATASET.value,
        "checkpoints": Kind.CHECKPOINT.value,
    }

    def to_python(self, value: str) -> str:
        return self.kinds[value]

    def to_url(self, value: str) -> str:
        return f"{value}s"


register_converter(KindConverter, "kind")

_ONE = "<slug:org>/<kind:kind>/<str:repository>"
# "-" cannot be the name of a repository
urlpatterns = [
    path("<slug:org>/datasets", lists.datasets, name="datasets"),
    path("<slug:org>/checkpoints", lists.checkpoints, name="checkpoints"),
    path("<slug:org>/<kind:kind>/-/trash", lists.trash, name="repository-trash"),
    path(_ONE, files.folder, name="repository"),
    path(f"{_ONE}/tree/<path:path>", files.folder, name="repository-folder"),
    path(f"{_ONE}/file/<path:path>", files.file, name="repository-file"),
    path(f"{_ONE}/raw/<path:path>", files.download, name="repository-raw"),
    path(f"{_ONE}/upload", uploads.upload, name="repository-upload"),
    path(f"{_ONE}/imports", imports.imports, name="repository-imports"),
    path(f"{_ONE}/versions", versions.versions, name="repository-versions"),
    path(f"{_ONE}/compare", versions.compare, name="repository-compare"),
    path(f"{_ONE}/settings", settings.settings, name="repository-settings"),
]
