"""The lists of this app: one declaration for page, CSV file and REST API each."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import (
    DateTimeField,
    DurationField,
    ExpressionWrapper,
    F,
    Func,
    Q,
    QuerySet,
    TextField,
    Value,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy as pgettext

from clusters.models import Cluster, Gpu
from clusters.pools import pools_visible_to
from jobs.data.log_storage import largest
from jobs.kinds import origins, workload_kinds
from jobs.models import Job, JobInput
from jobs.selectors.jobs import visible_jobs
from jobs.selectors.representations import job_row, job_rows, listed
from jobs.services.change import may_change
from portal import list_language
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.formatting import gpu_text
from portal.core.keyset import Order
from portal.core.messages import Message
from portal.lists import (
    PERIOD,
    Column,
    Filter,
    ListView,
    compared,
    containing,
    ended,
    matching,
    one_of,
    times,
)
from schedulers.spec.grammar import parse_duration
from schedulers.spec.names import LABEL_PATTERN
from schedulers.states import State
from workspaces.access.actors import Actor
from workspaces.list_filters import OWNER, TEAM

Item = dict[str, Any]
GPU_TYPES = 50  # suggested at most
LARGEST_LOGS = 100  # jobs on the page of storage


def _state(word: str) -> State:
    try:
        return State.of(word)
    except KeyError:
        raise InvalidInput.at(
            "state",
            Message(
                "“{word}” is not a state. The states are {names}.",
                word=word[:40],
                names=", ".join(state.label for state in State),
            ),
        ) from None


def _named(names: list[str], actor: Actor) -> Q:
    """Match a part of a name, or with a leading `=` the whole name."""
    found = Q(name__in=[name[1:] for name in names if name.startswith("=")])
    for name in names:
        if not name.startswith("="):
            found |= Q(name__icontains=name)
    return found


def _labelled(rows: QuerySet[Job], text: str, actor: Actor) -> QuerySet[Job]:
    """Narrow to the jobs with all labels `key:value`, and none of the excluded ones."""
    for label, is_negative in list_language.values(text):
        key, _colon, value = label.partition(":")
        if not re.fullmatch(LABEL_PATTERN, key):
            raise InvalidInput.at(
                "label", f"must be key:value; {key[:40]!r} is not the key of a label"
            )
        match = _has_label(key, value)
        rows = rows.filter(~match if is_negative else match)
    return rows


def _has_label(key: str, value: str) -> Q:
    if connection.features.supports_json_field_contains:
        return Q(labels__contains={key: value})
    # SQLite has no JSON containment; the path is a bound value
    path = '$."' + key.replace('"', "") + '"'
    found = Func(F("labels"), Value(path), function="json_extract", output_field=TextField())
    return Q(Exact(Coalesce(found, Value("\x00"), output_field=TextField()), value))


def _with_gpus(types: list[str], actor: Actor) -> Q:
    """Match GPU types, `any` or `none`."""
    found = Q()
    for name in types:
        match name.lower():
            case "any":
                found |= Q(resources__gpu__gt=0)
            case "none":
                found |= ~Q(resources__has_key="gpu") | Q(resources__gpu=0)
            case kind:
                found |= Q(resources__has_key=f"gpu.{kind}")
    return found


def _from_origin(texts: list[str], actor: Actor) -> Q:
    """Match kinds of origins such as `rerun`, or one origin: `rerun:#12`, or with its id."""
    found = Q()
    for text in texts:
        kind, colon, name = text.partition(":")
        match = Q(origin_kind=kind)
        if colon:
            match &= Q(origin_id=pk) if (pk := _uuid(name)) else Q(origin_label=name)
        found |= match
    return found


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _kinds(actor: Actor) -> list[tuple[str, Any]]:
    return [(kind.name, kind.title) for kind in workload_kinds.kinds()]


def _origins(actor: Actor) -> list[tuple[str, Any]]:
    return [(kind.name, kind.title) for kind in origins.kinds()]


def _reading(names: list[str], actor: Actor) -> Q:
    """Match jobs that read a dataset or a checkpoint, by its name at their submission."""
    inputs = JobInput.objects.filter(repository__in=names)
    return Q(id__in=inputs.values("job_id"))


def _lasting(rows: QuerySet[Job], text: str, actor: Actor) -> QuerySet[Job]:
    """Narrow by the time from start to end, or until now: `>2h`."""
    ends = Coalesce(F("finished_at"), Value(clock.now(), output_field=DateTimeField()))
    took = ExpressionWrapper(ends - F("started_at"), output_field=DurationField())
    rows = rows.exclude(started_at=None).annotate(duration=took)
    return compared("duration", lambda text: timedelta(seconds=parse_duration(text)))(
        rows, text, actor
    )


def _search(rows: QuerySet[Job], q: str, actor: Actor) -> QuerySet[Job]:
    """Match a number exactly, else every word in the name, in any case."""
    if re.fullmatch(r"#?[0-9]{1,18}", q):
        return rows.filter(number=int(q.removeprefix("#")))
    return containing("name")(rows, q, actor)


def _gpu_types(actor: Actor) -> list[tuple[str, Any]]:
    found = Gpu.objects.exclude(type="").order_by("type").values_list("type", flat=True).distinct()
    named = [(name, gpu_text(name)) for name in found[:GPU_TYPES]]
    return [
        ("any", pgettext("choice of a filter", "Any GPU")),
        ("none", pgettext("choice of a filter", "No GPU")),
        *named,
    ]


def _clusters(actor: Actor) -> list[tuple[str, Any]]:
    found = {pool.cluster.name for pool in pools_visible_to(actor)}
    whole = Cluster.objects.filter(is_enabled=True, pools=None).values_list("name", flat=True)
    return [(name, "") for name in sorted(found.union(whole))]


def _pools(actor: Actor) -> list[tuple[str, Any]]:
    return [(pool.name, f"{pool.name} · {pool.cluster.name}") for pool in pools_visible_to(actor)]


def _why(row: Item) -> str:
    if row["pending"]:
        return str(row["pending"]["text"])
    return str((row["reason"] or {}).get("headline", ""))


def _origin(row: Item) -> str:
    origin = row["origin"]
    return f"{origin['kind']}:{origin['label']}" if origin else ""


def _labels(row: Item) -> str:
    return " ".join(f"{key}:{value}" for key, value in row["labels"].items())


JOBS = ListView(
    name="jobs",
    rows=lambda actor: listed(visible_jobs(actor)),
    represent=lambda rows, actor: job_rows(rows),
    row_template="jobs/_job_row.html",
    order=Order("number", is_descending=True),
    filters=(
        Filter(
            "q",
            _search,
            "A number, or words of the name; `-word` excludes.",
            pgettext("filter", "Search jobs"),
            _("#12, a name, or state:failed user:me"),
            is_search=True,
        ),
        Filter(
            "state",
            one_of("state", _state),
            "States separated by commas; `!` excludes one.",
            pgettext("filter", "State"),
            chips=(
                ("", pgettext("choice of a filter", "All")),
                ("queued", pgettext("choice of a filter", "Queued")),
                ("dispatching,submitted,starting", pgettext("choice of a filter", "Starting")),
                ("running", pgettext("choice of a filter", "Running")),
                ("succeeded", pgettext("choice of a filter", "Succeeded")),
                ("failed", pgettext("choice of a filter", "Failed")),
                ("canceled", pgettext("choice of a filter", "Canceled")),
            ),
            values=lambda actor: [(state.label, "") for state in State],
            is_multiple=True,
            is_counted=True,
        ),
        replace(OWNER, is_counted=True),
        TEAM,
        Filter(
            "cluster",
            one_of("cluster__name"),
            "Names separated by commas; `!` excludes one.",
            pgettext("filter", "Cluster"),
            values=_clusters,
            field="cluster__name",
            is_multiple=True,
        ),
        Filter(
            "pool",
            one_of("pool__name"),
            "Names separated by commas; `!` excludes one.",
            pgettext("filter", "Pool"),
            values=_pools,
            field="pool__name",
            is_multiple=True,
        ),
        Filter(
            "gpu",
            matching(_with_gpus),
            "Requested GPU types, `any` or `none`, separated by commas; `!` excludes one.",
            pgettext("filter", "GPU type"),
            values=_gpu_types,
            is_multiple=True,
            is_search=True,
        ),
        Filter(
            "name",
            matching(_named),
            "Parts of names separated by commas; `=name` is the whole name, `!` excludes.",
            _("Part of the name"),
            is_multiple=True,
            is_search=True,
        ),
        Filter(
            "label",
            _labelled,
            "Labels `key:value` separated by commas, all of which a job has; `!` excludes one.",
            _("Label, as key:value"),
            is_multiple=True,
            is_search=True,
        ),
        Filter(
            "kind",
            one_of("kind"),
            "Kinds of workload separated by commas; `!` excludes one.",
            pgettext("filter, type", "Kind"),
            values=_kinds,
            field="kind",
            is_multiple=True,
        ),
        Filter(
            "origin",
            matching(_from_origin),
            "What submitted the job: `rerun`, or `rerun:#12`; `!` excludes.",
            pgettext("filter", "Origin"),
            values=_origins,
            field="origin_kind",
            is_multiple=True,
        ),
        Filter(
            "input",
            matching(_reading),
            "Names of datasets and checkpoints that they read, separated by commas; `!` excludes.",
            _("Dataset or checkpoint"),
            is_multiple=True,
            is_search=True,
        ),
        Filter(
            "duration",
            _lasting,
            "Time from start to end, or until now: `>2h`, `<=90m`, `1h..4h`.",
            _("Duration, such as >2h"),
            is_search=True,
        ),
        *times("created_at", pgettext("column", "Submitted"), is_search=True),
        ended("finished_at"),
    ),
    columns=(
        Column("number", pgettext("column", "Job"), sort=("number",)),
        Column("name", None),
        Column("state", pgettext("column", "State"), sort=("state", "number")),
        Column("why", pgettext("column, why", "Reason"), value=_why, is_optional=True),
        Column(
            "cpus",
            pgettext("column", "Resources"),
            value=lambda row: row["resources"]["cpus"],
            is_optional=True,
        ),
        Column("gpus", None, value=lambda row: row["resources"].get("gpus", 0)),
        Column("gpu_utilization", pgettext("column", "GPU util"), "num", is_optional=True),
        Column("cluster", pgettext("column", "Node"), is_optional=True),
        Column(
            "owner",
            pgettext("column", "Owner"),
            value=lambda row: row["owner"]["email"],
            is_optional=True,
        ),
        Column("team", pgettext("column", "Team"), is_extra=True),
        Column("priority", pgettext("column", "Priority"), is_extra=True),
        Column("labels", pgettext("column", "Labels"), value=_labels, is_extra=True),
        Column("image", pgettext("column, container image", "Image"), is_extra=True),
        Column("kind", pgettext("column, type", "Kind"), is_extra=True),
        Column("origin", pgettext("column", "Origin"), value=_origin, is_extra=True),
        Column("exit_code", pgettext("column", "Exit code"), "num", is_extra=True),
        Column("started_at", pgettext("column", "Duration"), "num", is_optional=True),
        Column("finished_at", pgettext("column", "Finished"), "num", is_extra=True),
        Column(
            "created",
            pgettext("column", "Submitted"),
            "num",
            value=None,
            sort=("number",),
            is_optional=True,
        ),
        Column("created_at", None),
    ),
)


def _with_logs(rows: Any, actor: Actor) -> list[Item]:
    """Represent the jobs with the largest logs, each with its bytes."""
    return [
        job_row(job)
        | {
            "bytes": size,
            "is_deleting": job.log_delete_asked_at is not None,
            "may_delete": job.log_delete_asked_at is None
            and State(job.state).is_final
            and may_change(actor, job),
        }
        for size, job in largest(rows, LARGEST_LOGS)
    ]


_UNENDED = ("queued", "dispatching,submitted,starting", "running")  # have no finished log
STORAGE = ListView(
    name="storage",
    rows=JOBS.rows,
    represent=_with_logs,
    row_template="jobs/_storage_row.html",
    filters=tuple(
        replace(one, is_counted=False, chips=tuple(c for c in one.chips if c[0] not in _UNENDED))
        for one in JOBS.filters
        if one.name in {"q", "state", "owner", "team", *PERIOD}
    ),
    columns=(
        Column("number", pgettext("column", "Job")),
        Column("name", None),
        Column("bytes", pgettext("column", "Size"), "num"),
        Column("owner", pgettext("column", "Owner"), value=lambda row: row["owner"]["email"]),
        Column("team", None),
        Column("finished_at", pgettext("column", "Finished"), "num"),
    ),
)
