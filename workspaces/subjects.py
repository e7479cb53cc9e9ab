"""Use of the subjects of lists: GPUs now; GPU-hours, cost and a trend of 30 days; the last job.

Lists of teams, people, pools, organizations and clusters have these columns, and those of datasets
and secrets the jobs that used them (`use_columns`). The apps above know the figures, and declare a
`UseSource` as one of SUBJECT_USE in `providers.py`. Each answers for all rows of a page at once. A
figure that the actor may not see is None, and a column without any figure that they may see is not
in the list.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, timedelta
from enum import StrEnum
from typing import Annotated, Any, TypedDict

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.core import clock
from portal.core.declarations import declared
from portal.core.shapes import Time
from portal.lists import Column
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission
from workspaces.models import Quota
from workspaces.quotas.limits import GPU_HOURS
from workspaces.tenancy.scope import platform_scope

DAYS = 30  # of hours, cost and trend; today is the last one
Key = Hashable  # an id; of a pool, the id of its cluster and its name; of a secret, its reference
Item = dict[str, Any]


class SubjectKind(StrEnum):
    """What a row of a list is. The first three are also scopes of quotas."""

    ORG = "org"
    TEAM = "team"
    USER = "user"
    POOL = "pool"
    CLUSTER = "cluster"
    DATASET = "dataset"  # or a checkpoint
    SECRET = "secret"  # noqa: S105 - a kind


_OF_OPERATORS = (SubjectKind.ORG, SubjectKind.CLUSTER)
_WITH_QUOTA = (SubjectKind.ORG, SubjectKind.TEAM, SubjectKind.USER)
_OF_JOBS = (SubjectKind.DATASET, SubjectKind.SECRET)
_WHY = "operators see what organizations and clusters use"


class GpuQuotaShape(TypedDict):
    resource: Annotated[str, "gpu, or of a model: gpu.h100"]
    used: Annotated[int, "Also by jobs that are starting."]
    limit: int


class SubjectUseShape(TypedDict):
    """What a subject uses; None where the actor may not see it, or it has no meaning."""

    gpus_used: Annotated[int | None, "In use by jobs now."]
    quotas: Annotated[list[GpuQuotaShape] | None, "Its limits of GPUs, of all or of a model."]
    gpu_hours: Annotated[float | None, "Of the last 30 days (UTC), with today."]
    cost: Annotated[str | None, "Of these days; null without prices."]
    currency: Annotated[str | None, "Of the cost."]
    trend: Annotated[list[float] | None, "GPU-hours of each of these days, oldest first."]
    last_job_at: Annotated[Time | None, "When its last job was submitted."]


class JobUseShape(TypedDict):
    """The jobs that used a dataset, a checkpoint or a secret, of those that the actor may see."""

    jobs: Annotated[int | None, "Of the last 30 days (UTC), with today."]
    job_trend: Annotated[list[int] | None, "Of each of these days, oldest first."]
    last_used_at: Annotated[Time | None, "When a job last used it."]


@dataclass(frozen=True)
class UseSource:
    """What an app knows of subjects.

    `of(kind, keys, actor)` returns fields of the shape of its kind by key, without those that the actor may
    not see. `sees(actor)` returns the fields of which the actor may see some; platform lists, which
    only operators have, show all.
    """

    of: Callable[[SubjectKind, Sequence[Any], Actor], Mapping[Any, Mapping[str, Any]]]
    sees: Callable[[Actor], frozenset[str]]


def first_day() -> date:
    """Return the first of the last DAYS days, in UTC."""
    return clock.now().astimezone(UTC).date() - timedelta(days=DAYS - 1)


def use_of(kind: SubjectKind, keys: Sequence[Key], actor: Actor) -> dict[Key, Item]:
    """Return what each subject uses, in a number of queries that does not depend on how many.

    Organizations and clusters are of the whole installation: only operators get their figures.
    """
    shape = JobUseShape if kind in _OF_JOBS else SubjectUseShape
    found: dict[Key, Item] = {key: dict.fromkeys(shape.__annotations__) for key in keys}
    if not keys or (kind in _OF_OPERATORS and not actor.is_operator):
        return found
    with platform_scope(_WHY) if kind in _OF_OPERATORS else nullcontext():
        for source in _sources():
            for key, facts in source.of(kind, keys, actor).items():
                found[key] |= facts
        for key, quotas in _quotas(kind, keys, actor).items():
            found[key]["quotas"] = quotas
    return found


def with_use(
    represent: Callable[[Sequence[Any], Actor], list[Any]],
    kind: SubjectKind,
    key: Callable[[Any], Key],
) -> Callable[[Sequence[Any], Actor], list[Item]]:
    """Return how a list represents its rows, each with what it uses. `key` finds that of a row."""

    def represented(rows: Sequence[Any], actor: Actor) -> list[Item]:
        rows = list(rows)
        use = use_of(kind, [key(row) for row in rows], actor)
        shown = represent(rows, actor)
        return [_joined(item, use[key(row)]) for row, item in zip(rows, shown, strict=True)]

    return represented


def _joined(item: Item, use: Item) -> Item:
    """Return a row with what it uses, which knows nothing of some fields that the row has."""
    return item | {name: use[name] for name in use if use[name] is not None or name not in item}


def use_columns(*names: str) -> tuple[Column, ...]:
    """Return columns of use, which `_use_cells.html` or `_job_cells.html` renders in this order.

    A name in parentheses is of a column that is hidden at first.
    """
    return tuple(
        replace(column, is_optional=False, is_extra=True)
        if column.is_optional and name.startswith("(")
        else column
        for name in names
        for column in _COLUMNS[name.strip("()")]
    )


def seen_by(actor: Actor) -> frozenset[str]:
    """Return the columns that the actor may see of some subject."""
    seen = frozenset().union(*(source.sees(actor) for source in _sources()))
    if "cost" in seen:
        seen |= {"currency"}
    if actor.org_id is None or actor.may(Permission.QUOTAS_READ):
        seen |= {"quotas"}
    return seen


def _sources() -> Sequence[UseSource]:
    return declared("providers", "SUBJECT_USE")


def _quotas(kind: SubjectKind, keys: Sequence[Any], actor: Actor) -> dict[Any, list[GpuQuotaShape]]:
    """Return the limits of GPUs that the actor may see."""
    if kind not in _WITH_QUOTA:
        return {}
    if kind is SubjectKind.USER and not actor.may(Permission.QUOTAS_WRITE):
        keys = [key for key in keys if key == actor.user_id]
    elif kind is SubjectKind.TEAM and not actor.may(Permission.QUOTAS_READ):
        return {}
    rows = Quota.objects.filter(
        scope=kind.value, subject_id__in=keys, resource__startswith="gpu", limit__isnull=False
    ).exclude(resource=GPU_HOURS)
    found: dict[Any, list[GpuQuotaShape]] = {key: [] for key in keys}
    for subject, resource, used, limit in rows.order_by("resource").values_list(
        "subject_id", "resource", "used", "limit"
    ):
        found[subject].append({"resource": resource, "used": used, "limit": limit})
    return found


def _quota_text(row: Item) -> str:
    """Return the limits of a row in a file: "gpu.h100:11/24"."""
    return " ".join(f"{q['resource']}:{q['used']}/{q['limit']}" for q in row["quotas"] or ())


def _column(name: str, label: Any, css: str = "num", **more: Any) -> Column:
    return Column(name, label, css, is_optional=True, seen_by=seen_by, **more)


_COLUMNS = {
    "gpus_used": (_column("gpus_used", pgettext_lazy("text, workspaces", "GPUs in use")),),
    "quotas": (
        Column(
            "quotas",
            pgettext_lazy("column", "GPU quota"),
            value=_quota_text,
            is_optional=True,
            seen_by=seen_by,
        ),
    ),
    "gpu_hours": (_column("gpu_hours", _("GPU-hours (30 days)")),),
    "cost": (
        _column("cost", pgettext_lazy("text, workspaces", "Cost (30 days)")),
        Column("currency", None, seen_by=seen_by),
    ),
    "trend": (_column("trend", pgettext_lazy("GPU-hours of each day", "Trend"), ""),),
    "last_job_at": (_column("last_job_at", pgettext_lazy("text, workspaces", "Last job")),),
    "jobs": (_column("jobs", pgettext_lazy("text, workspaces", "Jobs (30 days)")),),
    "job_trend": (_column("job_trend", pgettext_lazy("jobs of each day", "Trend"), ""),),
    "last_used_at": (_column("last_used_at", pgettext_lazy("text, workspaces", "Last used")),),
}
