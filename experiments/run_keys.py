"""Params, metrics and tags of the runs of an experiment: names, and values to suggest."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet

from experiments.models import Run
from jobs.comparison import number_of
from portal.series.models import Series

RECENT = 300  # runs that are read
MOST_VALUES = 12  # suggested of one param
OWN_TAGS = re.compile(r"(mlflow|muster)\.")  # tags that programs write for themselves
_MAIN = re.compile(r"loss|reward|acc|auc|perplexity|score|f1|bleu|wer|iou|map\b", re.IGNORECASE)
_FIRST = re.compile(r"(^|_)(lr|learning_rate)($|_)", re.IGNORECASE)
_SIDE = re.compile(r"seed|path|dir$|_id$|name$", re.IGNORECASE)
_HELD_OUT = re.compile(r"(val|valid|validation|eval|test)[/_.]")


@dataclass(frozen=True)
class RunKeys:
    """Names in display order. `params` has the values of each, the most frequent first."""

    metrics: tuple[str, ...] = ()
    params: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[str, ...] = ()

    @property
    def varying(self) -> list[str]:
        """Return the params with several values: learning rates first, seeds and paths last."""
        several = [name for name, values in self.params.items() if len(values) > 1]
        return sorted(
            several,
            key=lambda name: (bool(_SIDE.search(name)), not _FIRST.search(name), name),
        )

    def is_numeric(self, param: str) -> bool:
        return all(number_of(value) is not None for value in self.params[param])


def keys_of(rows: QuerySet[Run]) -> RunKeys:
    """Return the keys of the newest of these runs."""
    recent = list(
        rows.order_by("-started_ms", "-id").values_list("series_owner", "params", "tags")[:RECENT]
    )
    owners = [owner for owner, _params, _tags in recent]
    names = Series.objects.filter(owner__in=owners).values_list("name", flat=True).distinct()
    values: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for _owner, params, _tags in recent:
        for name, value in params.items():
            values[name][str(value)] += 1
    tags = {tag for _owner, _params, given in recent for tag in given}
    return RunKeys(
        metrics=tuple(in_order(names)),
        params={
            name: tuple(sorted(values[name], key=lambda v: (-values[name][v], v))[:MOST_VALUES])
            for name in sorted(values)
        },
        tags=tuple(sorted(tag for tag in tags if not OWN_TAGS.match(tag))),
    )


def in_order(metrics: Iterable[str]) -> list[str]:
    """Return names of metrics: losses and scores first, validation before training."""

    def rank(name: str) -> tuple[bool, bool, bool, str]:
        is_system = name.startswith("system/")
        return (is_system, not _MAIN.search(name), not _HELD_OUT.match(name), name)

    return sorted(metrics, key=rank)


def last_values(runs: Sequence[Any]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return {series owner: {metric: {"value", "step", "at"}}} of the last points."""
    found: dict[str, dict[str, dict[str, Any]]] = {run.series_owner: {} for run in runs}
    rows = Series.objects.filter(owner__in=found).order_by("name", "labels")
    for owner, name, value, special, step, at in rows.values_list(
        "owner", "name", "last_value", "last_special", "last_step", "last_at"
    ):
        number = float(special) if special else value
        if number is not None:
            found[owner].setdefault(name, {"value": number, "step": step, "at": at})
    return found
