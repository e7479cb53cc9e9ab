"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from portal.core.errors import InvalidInput
from portal.core.keyset import Order
from portal.core.messages import Message
from portal.lists import Column, Filter, ListView, search_in, times
from registry.models import ModelVersion, RegisteredModel
from registry.representations import model_rows
from registry.selectors import visible_models
from workspaces.access.actors import Actor
from workspaces.list_filters import OWNER, TEAM

Item = dict[str, Any]


def _in_approval(
    rows: QuerySet[RegisteredModel], text: str, actor: Actor
) -> QuerySet[RegisteredModel]:
    """Narrow to the models with a version in that state."""
    if text not in {"requested", "approved", "rejected"}:
        raise InvalidInput.at("approval", Message("must be requested, approved or rejected"))
    return rows.filter(Exists(ModelVersion.objects.filter(model_id=OuterRef("id"), approval=text)))


def _with_alias(
    rows: QuerySet[RegisteredModel], text: str, actor: Actor
) -> QuerySet[RegisteredModel]:
    return rows.filter(aliases__has_key=text)


_FILTERS = (
    search_in(
        "name",
        "description",
        placeholder=_("Search models, or team:vision approval:requested"),
        is_search=True,
    ),
    TEAM,
    OWNER,
    Filter(
        "approval",
        _in_approval,
        help="Has a version that is requested, approved or rejected.",
        label=pgettext("filter", "Approval"),
        chips=(
            ("requested", pgettext("choice of a filter", "Approval requested")),
            ("approved", pgettext("choice of a filter", "Approved")),
        ),
        is_counted=True,
    ),
    *times("updated_at", pgettext("column", "Updated")),
    Filter("alias", _with_alias, help="Has this alias.", label=pgettext("filter", "Alias")),
)

MODELS = ListView(
    name="models",
    rows=visible_models,
    represent=lambda rows, actor: model_rows(rows),
    row_template="registry/_model_row.html",
    order=Order("name", "id"),
    filters=_FILTERS,
    columns=(
        Column("name", pgettext("column, machine learning", "Model"), sort=("name", "id")),
        Column("team", pgettext("column", "Team"), sort=("team__slug", "id")),
        Column("latest", pgettext("column", "Latest"), "num"),
        Column("approved", pgettext("column", "Approval")),
        Column("aliases", pgettext("column", "Aliases"), value=lambda row: list(row["aliases"])),
        Column("versions", pgettext("column", "Versions"), "num", is_optional=True),
        Column("bytes", pgettext("column", "Size"), "num", is_optional=True),
        Column(
            "owner",
            pgettext("column", "Owner"),
            value=lambda row: row["owner"]["email"],
            is_optional=True,
        ),
        Column(
            "tags", pgettext("column", "Tags"), value=lambda row: list(row["tags"]), is_extra=True
        ),
        Column(
            "created_at",
            pgettext("column", "Created"),
            "num",
            sort=("created_at", "id"),
            is_extra=True,
        ),
        Column("updated_at", pgettext("column", "Updated"), "num", sort=("updated_at", "id")),
    ),
)

TRASH = ListView(
    name="models-trash",
    rows=lambda actor: visible_models(actor, is_deleted=True),
    represent=lambda rows, actor: model_rows(rows),
    row_template="registry/_trash_row.html",
    order=Order("deleted_at", "id", is_descending=True),
    filters=(
        search_in("name", placeholder=_("A name, or team:vision")),
        TEAM,
        *times("deleted_at", pgettext("column", "Deleted")),
    ),
    columns=(
        Column("name", pgettext("column, machine learning", "Model")),
        Column("team", pgettext("column", "Team")),
        Column("versions", pgettext("column", "Versions"), "num"),
        Column("deleted_at", pgettext("column", "Deleted"), "num"),
        Column("actions", "", value=None),
    ),
)
