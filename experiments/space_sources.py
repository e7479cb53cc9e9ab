"""What files of runs take, for the pages of storage."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Sum

from experiments.models import Artifact
from experiments.selectors import visible_runs
from portal.core.messages import Message
from workspaces.quotas.space import SpaceQuery, SpaceSource, SpaceUse, Total


def _sums(asked: SpaceQuery, view: str) -> dict[UUID, int]:
    runs = asked.narrow(visible_runs(asked.actor, view))
    files = Artifact.objects.filter(run__in=runs).values_list("run")
    sums = dict(files.annotate(n=Sum("size")))
    models = Artifact.objects.filter(logged_model__run__in=runs).values_list("logged_model__run")
    for run, size in models.annotate(n=Sum("size")):
        sums[run] = sums.get(run, 0) + size
    return {run: size for run, size in sums.items() if size}


def _total(asked: SpaceQuery) -> Total:
    sums = _sums(asked, "all")
    return Total(len(sums), sum(sums.values()))


def _uses(asked: SpaceQuery, most: int, view: str) -> list[SpaceUse]:
    sums = _sums(asked, view)
    ids = sorted(sums, key=lambda run: -sums[run])[:most]
    rows = visible_runs(asked.actor, view).filter(id__in=ids)
    is_deleted = view == "deleted"
    return [
        SpaceUse(
            row.name,
            sums[row.id],
            row.team.slug,
            row.owner.email,
            f"/{asked.org}/experiments/{row.experiment.number}?show=trash"
            if is_deleted
            else f"/{asked.org}/runs/{row.id.hex}?tab=artifacts",
            detail=row.experiment.name,
            reason=Message("In the trash", context="why something takes space")
            if is_deleted
            else "",
            step=Message("Restore or delete permanently") if is_deleted else "",
        )
        for row in rows.select_related("experiment", "team", "owner")
    ]


SOURCE = SpaceSource(
    "run",
    Message("Files of runs", context="what takes space"),
    40,
    _total,
    lambda asked, most: _uses(asked, most, "active"),
    lambda asked, most: _uses(asked, most, "deleted"),
)
