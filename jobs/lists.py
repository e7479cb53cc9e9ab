"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import F, Func, QuerySet, TextField, Value
from django.utils.translation import gettext_lazy as _

from jobs.models import Job
from jobs.representations import job_rows, listed
from jobs.selectors import visible_jobs
from portal.core.errors import InvalidInput
from portal.core.keyset import Order
from portal.lists import Column, Filter, ListView
from schedulers.spec.names import LABEL_PATTERN
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.organizations.selectors import teams_for

Narrow = Callable[[QuerySet[Job], str, Actor], QuerySet[Job]]


def _one_of(lookup: str, read: Callable[[str], object] = str) -> Narrow:
    """Narrow to rows whose value is one of those separated by commas."""

    def narrow(rows: QuerySet[Job], text: str, actor: Actor) -> QuerySet[Job]:
        words = [part.strip() for part in text.split(",") if part.strip()]
        return rows.filter((f"{lookup}__in", [read(word) for word in words])) if words else rows

    return narrow


def _state(word: str) -> State:
    try:
        return State.of(word)
    except KeyError:
        raise InvalidInput.at(
            "state", f"{word[:40]!r} is not a state; use one of {', '.join(s.label for s in State)}"
        ) from None


def _owned_by(rows: QuerySet[Job], owner: str, actor: Actor) -> QuerySet[Job]:
    if owner == "me":
        return rows.filter(owner_id=actor.user_id)
    return rows.filter(owner__email=owner.lower())


def _named(rows: QuerySet[Job], name: str, actor: Actor) -> QuerySet[Job]:
    return rows.filter(name=name)


def _labelled(rows: QuerySet[Job], label: str, actor: Actor) -> QuerySet[Job]:
    key, _colon, value = label.partition(":")
    if not re.fullmatch(LABEL_PATTERN, key):
        raise InvalidInput.at("label", f"must be key:value; {key[:40]!r} is not the key of a label")
    if _has_contains():
        return rows.filter(labels__contains={key: value})
    # SQLite has no JSON containment; the path is a bound value
    path = '$."' + key.replace('"', "") + '"'
    found = Func(F("labels"), Value(path), function="json_extract", output_field=TextField())
    return rows.annotate(label_text=found).filter(label_text=value)


def _search(rows: QuerySet[Job], q: str, actor: Actor) -> QuerySet[Job]:
    """Match a number exactly and names by prefix, which an index supports."""
    if re.fullmatch(r"#?[0-9]{1,18}", q):
        return rows.filter(number=int(q.removeprefix("#")))
    if _has_contains():
        return rows.filter(name__startswith=q)
    return rows.filter(name__gte=q, name__lt=q + "\U0010ffff")


def _has_contains() -> bool:
    return connection.features.supports_json_field_contains


def _teams(actor: Actor) -> list[tuple[str, Any]]:
    teams = [(team["slug"], team["name"]) for team in teams_for(actor)]
    return [("", _("All teams")), *teams] if len(teams) > 1 else []


def _why(row: dict[str, Any]) -> str:
    if row["pending"]:
        return str(row["pending"]["text"])
    return str((row["reason"] or {}).get("headline", ""))


JOBS = ListView(
    name="jobs",
    rows=lambda actor: listed(visible_jobs(actor)),
    represent=lambda rows, actor: job_rows(rows),
    order=Order("number", is_descending=True),
    filters=(
        Filter(
            "q",
            _search,
            "A number or the prefix of a name.",
            _("Search jobs"),
            _("#12, or the beginning of a name"),
        ),
        Filter(
            "state",
            _one_of("state", _state),
            "States separated by commas.",
            chips=(
                ("", _("All")),
                ("queued", _("Waiting")),
                ("running", _("Running")),
                ("failed", _("Failed")),
                ("succeeded", _("Succeeded")),
            ),
        ),
        Filter("owner", _owned_by, "An e-mail, or `me`.", chips=(("me", _("Mine")),)),
        Filter(
            "team",
            _one_of("team__slug"),
            "Team slugs separated by commas.",
            _("Team"),
            choices=_teams,
        ),
        Filter("cluster", _one_of("cluster__name"), "Names separated by commas.", _("cluster")),
        Filter("pool", _one_of("pool__name"), "Names separated by commas.", _("pool")),
        Filter("name", _named, "The exact name."),
        Filter("label", _labelled, "key:value"),
    ),
    columns=(
        Column("number", _("Job"), sort=("number",)),
        Column("name", None),
        Column("state", _("State")),
        Column("why", _("Why"), value=_why),
        Column("cpus", _("Holds"), value=lambda row: row["resources"]["cpus"]),
        Column("gpus", None, value=lambda row: row["resources"].get("gpus", 0)),
        Column("cluster", _("Where")),
        Column("owner", _("Who"), value=lambda row: row["owner"]["email"]),
        Column("team", None),
        Column("started_at", _("Ran"), "num"),
        Column("finished_at", None),
        Column("created_at", None),
        Column("created", _("Submitted"), "num", value=None, sort=("number",)),
    ),
)
