"""The lists of shared folders: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from datasets.folders.representations import folder_rows
from datasets.folders.selectors import visible_folders
from datasets.lists import TRASHED, filters
from portal.core.keyset import Order
from portal.lists import Column, ListView

FOLDERS = ListView(
    name="workspaces",
    rows=visible_folders,
    represent=lambda rows, actor: folder_rows(rows),
    row_template="datasets/folders/_row.html",
    order=Order("name", "id"),
    filters=filters(_("Search workspaces, or team:vision user:me"), "used_bytes"),
    columns=(
        Column("name", pgettext("column", "Workspace"), sort=("name", "id")),
        Column("team", pgettext("column", "Team"), sort=("team__slug", "id")),
        Column(
            "owner",
            pgettext("column", "Owner"),
            value=lambda row: row["owner"]["email"],
            is_optional=True,
        ),
        Column(
            "used_bytes",
            pgettext("column, of storage", "Space used"),
            "num",
            sort=("used_bytes", "id"),
        ),
        Column("quota", pgettext("column", "Quota"), "num", sort=("quota", "id"), is_optional=True),
        Column("files", pgettext("column", "Files"), "num", sort=("files", "id"), is_extra=True),
        Column("visibility", pgettext("column", "Visibility"), is_extra=True),
        Column("created_at", pgettext("column", "Created"), "num", sort=("created_at", "id")),
    ),
)
TRASH = ListView(
    name="workspaces-trash",
    rows=lambda actor: visible_folders(actor, is_deleted=True),
    represent=lambda rows, actor: folder_rows(rows),
    row_template="datasets/folders/_trash_row.html",
    order=Order("deleted_at", "id", is_descending=True),
    filters=TRASHED,
    columns=(
        Column("name", pgettext("column", "Workspace")),
        Column("team", pgettext("column", "Team")),
        Column("used_bytes", pgettext("column, of storage", "Space used"), "num"),
        Column("deleted_at", pgettext("column", "Deleted"), "num"),
        Column("actions", "", value=None),
    ),
)
