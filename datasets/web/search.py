"""Datasets and checkpoints in the command palette."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from django.urls import reverse
from django.utils.translation import pgettext_lazy as pgettext

from datasets.folders.selectors import visible_folders
from datasets.models import RepositoryKind
from datasets.selectors import visible_repositories
from portal.web.search import Hit, Query, SearchProvider


def _repositories(kind: str, query: Query) -> Iterator[Hit]:
    for row in query.narrow(visible_repositories(query.actor, kind), "name"):
        kwargs = {"org": query.org, "kind": kind, "repository": row.name}
        yield Hit(row.name, reverse("repository", kwargs=kwargs), row.team.slug)


def _folders(query: Query) -> Iterator[Hit]:
    for row in query.narrow(visible_folders(query.actor), "name"):
        page = reverse("workspace", kwargs={"org": query.org, "workspace": row.name})
        yield Hit(row.name, page, row.team.slug)


PROVIDERS = (
    SearchProvider(
        "datasets",
        pgettext("group of search results", "Datasets"),
        31,
        partial(_repositories, RepositoryKind.DATASET.value),
    ),
    SearchProvider(
        "checkpoints",
        pgettext("group of search results", "Checkpoints"),
        32,
        partial(_repositories, RepositoryKind.CHECKPOINT.value),
    ),
    SearchProvider("workspaces", pgettext("group of search results", "Workspaces"), 33, _folders),
)
