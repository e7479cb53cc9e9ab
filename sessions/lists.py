"""The list of sessions: one declaration for page, CSV file and REST API."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from portal.core.errors import InvalidInput
from portal.core.keyset import Order
from portal.core.messages import Message
from portal.lists import Column, Filter, ListView, matching, one_of, search_in, times
from sessions.representations import session_rows
from sessions.selectors import in_states, visible_sessions
from sessions.states import SESSION
from sessions.templates import templates
from workspaces.access.actors import Actor
from workspaces.list_filters import OWNER, TEAM


def _in_states(words: list[str], actor: Actor) -> Q:
    known = dict(SESSION.choices)
    for word in words:
        if word not in known:
            text = Message(
                "“{word}” is not a state. The states are {names}.",
                word=word[:40],
                names=", ".join(known),
            )
            raise InvalidInput.at("state", text)
    return in_states(words)


def _templates(actor: Actor) -> list[tuple[str, Any]]:
    return [(one.name, one.title) for one in templates()]


def _resources(row: dict[str, Any]) -> str:
    held = row["job"]["resources"]
    gpus = f"{held['gpus']} {held['gpu_type'] or 'gpu'} " if held["gpus"] else ""
    return f"{gpus}{held['cpus']:g} cpu"


SESSIONS = ListView(
    name="sessions",
    rows=visible_sessions,
    represent=session_rows,
    row_template="sessions/_session_row.html",
    order=Order("number", is_descending=True),
    filters=(
        search_in("name", placeholder=_("A name, or state:ready user:me"), is_search=True),
        Filter(
            "state",
            matching(_in_states),
            "States separated by commas; `!` excludes one.",
            pgettext("filter", "State"),
            chips=(
                ("", pgettext("choice of a filter", "All")),
                ("queued,starting,ready,stopping", pgettext("choice of a filter", "Active")),
                ("stopped", pgettext("choice of a filter", "Stopped")),
                ("failed", pgettext("choice of a filter", "Failed")),
            ),
            values=lambda actor: SESSION.choices,
            is_multiple=True,
        ),
        OWNER,
        TEAM,
        Filter(
            "template",
            one_of("template"),
            "Templates separated by commas; `!` excludes one.",
            pgettext("filter", "Template"),
            values=_templates,
            field="template",
            is_multiple=True,
        ),
        *times("created_at", pgettext("filter", "Started")),
    ),
    columns=(
        Column("name", pgettext("column", "Session")),
        Column("state", pgettext("column", "State")),
        Column("template", pgettext("column", "Template")),
        Column("resources", pgettext("column", "Resources"), value=_resources),
        Column(
            "gpu_utilization",
            pgettext("column", "GPU util"),
            "num",
            value=lambda row: row["job"].get("gpu_utilization"),
            is_optional=True,
        ),
        Column("owner", pgettext("column", "Owner"), value=lambda row: row["owner"]["email"]),
        Column("last_used_at", pgettext("column", "Last used"), "num", is_optional=True),
        Column("created_at", pgettext("column", "Started"), "num"),
        Column("open", "", value=None),
    ),
)
