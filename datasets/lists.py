"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from datasets.models import Ref, Repository, RepositoryKind, Visibility
from datasets.origins import origins_of
from datasets.representations import RepositoryShape, repository_rows
from datasets.selectors import visible_repositories
from portal.core.errors import InvalidInput
from portal.core.keyset import Order
from portal.core.messages import Message
from portal.lists import (
    Column,
    Filter,
    ListView,
    compared,
    matching,
    search_in,
    times,
)
from schedulers.spec.grammar import parse_size
from workspaces.access.actors import Actor
from workspaces.list_filters import OWNER, TEAM
from workspaces.subjects import JobUseShape, SubjectKind, use_columns, with_use


class ListedRepositoryShape(RepositoryShape, JobUseShape):
    made_by: Annotated[str | None, "Job that made the head, such as #12 train, if you may see it."]
    made_by_page: str | None


def _with_visibility(texts: list[str], actor: Actor) -> Q:
    if not set(texts) <= set(Visibility.values):
        raise InvalidInput.at("visibility", Message("must be private, team or organization"))
    return Q(visibility__in=texts)


def filters(placeholder: Any, size: str) -> tuple[Filter, ...]:
    """Return the filters by words, team, owner, visibility, time and the field `size`."""
    return (
        search_in("name", "description", placeholder=placeholder, is_search=True),
        TEAM,
        OWNER,
        Filter(
            "visibility",
            matching(_with_visibility),
            help="private, team or organization.",
            label=pgettext("filter", "Visibility"),
            values=lambda actor: [
                (Visibility.PRIVATE.value, pgettext("choice of a filter", "Private")),
                (Visibility.TEAM.value, pgettext("choice of a filter", "Team")),
                (Visibility.ORGANIZATION.value, pgettext("choice of a filter", "Organization")),
            ],
            field="visibility",
            is_multiple=True,
        ),
        Filter(
            "size",
            compared(size, parse_size),
            "`>10GiB`, `<=1TiB`, `1GiB..10GiB`.",
            _("Size, such as >10GiB"),
        ),
        *times("updated_at", pgettext("column", "Updated")),
    )


TRASHED = (
    search_in("name", placeholder=_("A name, or team:vision")),
    TEAM,
    *times("deleted_at", pgettext("column", "Deleted")),
)


def _columns(label: Any, kind: RepositoryKind) -> tuple[Column, ...]:
    """Return the columns: jobs make checkpoints, and use datasets."""
    is_made = kind == RepositoryKind.CHECKPOINT
    used = ("jobs", "job_trend", "last_used_at")
    return (
        Column("name", label, sort=("name", "id")),
        Column("team", pgettext("column", "Team"), sort=("team__slug", "id")),
        Column(
            "owner",
            pgettext("column", "Owner"),
            value=lambda row: row["owner"]["email"],
            is_optional=True,
        ),
        Column(
            "files", pgettext("column", "Files"), "num", sort=("head_files", "id"), is_optional=True
        ),
        Column("bytes", pgettext("column", "Size"), "num", sort=("head_bytes", "id")),
        Column("versions", pgettext("column", "Versions"), "num", is_optional=True),
        Column(
            "made_by",
            pgettext("column", "Made by"),
            is_optional=is_made,
            is_extra=not is_made,
        ),
        *use_columns(*(f"({n})" if is_made or n == "job_trend" else n for n in used)),
        Column("visibility", pgettext("column", "Visibility"), is_extra=True),
        Column(
            "stored_bytes",
            pgettext("column, of storage", "Space used"),
            "num",
            sort=("stored_bytes", "id"),
            is_extra=True,
        ),
        Column(
            "created_at",
            pgettext("column", "Created"),
            "num",
            sort=("created_at", "id"),
            is_extra=True,
        ),
        Column("updated_at", pgettext("column", "Updated"), "num", sort=("updated_at", "id")),
    )


def _with_head(rows: QuerySet[Repository]) -> QuerySet[Repository]:
    """Add the number of files and bytes of the newest version, by which the list is sorted."""
    head = Ref.objects.filter(repository_id=OuterRef("id"), name=OuterRef("default_branch"))
    return rows.annotate(
        head_files=Coalesce(Subquery(head.values(n=F("version__files"))[:1]), 0),
        head_bytes=Coalesce(Subquery(head.values(n=F("version__bytes"))[:1]), 0),
    )


def _listed(rows: Sequence[Repository], actor: Actor) -> list[dict[str, Any]]:
    """Return the rows with the jobs that made what is shown of them."""
    heads = Ref.objects.filter(
        repository__in=[row.id for row in rows],
        name=F("repository__default_branch"),
        version__job_id__isnull=False,
    )
    jobs = dict(heads.values_list("repository_id", "version__job_id"))
    origins = origins_of(actor, set(jobs.values()))
    found: list[dict[str, Any]] = []
    for row, item in zip(rows, repository_rows(rows), strict=True):
        origin = origins.get(jobs[row.id]) if row.id in jobs else None
        made_by, page = (origin.text, origin.url) if origin else (None, None)
        found.append({**item, "made_by": made_by, "made_by_page": page})
    return found


def _list_of(kind: RepositoryKind, label: Any, placeholder: Any) -> ListView:
    return ListView(
        name=f"{kind}s",
        rows=lambda actor: _with_head(visible_repositories(actor, kind)),
        represent=with_use(_listed, SubjectKind.DATASET, attrgetter("id")),
        row_template="datasets/_repository_row.html",
        order=Order("name", "id"),
        filters=filters(placeholder, "head_bytes"),
        columns=_columns(label, kind),
    )


def _trash_of(kind: RepositoryKind, label: Any) -> ListView:
    return ListView(
        name=f"{kind}s-trash",
        rows=lambda actor: visible_repositories(actor, kind, is_deleted=True),
        represent=lambda rows, actor: repository_rows(rows),
        row_template="datasets/_trash_row.html",
        order=Order("deleted_at", "id", is_descending=True),
        filters=TRASHED,
        columns=(
            Column("name", label),
            Column("team", pgettext("column", "Team")),
            Column("stored_bytes", pgettext("column, of storage", "Space used"), "num"),
            Column("deleted_at", pgettext("column", "Deleted"), "num"),
            Column("actions", "", value=None),
        ),
    )


LISTS = {
    RepositoryKind.DATASET: _list_of(
        RepositoryKind.DATASET,
        pgettext("column", "Dataset"),
        _("Search datasets, or team:vision user:me"),
    ),
    RepositoryKind.CHECKPOINT: _list_of(
        RepositoryKind.CHECKPOINT,
        pgettext("column", "Checkpoint"),
        _("Search checkpoints, or team:vision user:me"),
    ),
}
TRASHES = {
    RepositoryKind.DATASET: _trash_of(RepositoryKind.DATASET, pgettext("column", "Dataset")),
    RepositoryKind.CHECKPOINT: _trash_of(
        RepositoryKind.CHECKPOINT, pgettext("column", "Checkpoint")
    ),
}
