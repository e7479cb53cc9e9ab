"""Params, metrics and tags of the runs of an experiment: names, and values to suggest."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db.models import (
    Case,
    Exists,
    Max,
    Min,
    OuterRef,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce

from experiments.models import Experiment, Run
from experiments.run_order import metric_value
from jobs.selectors.comparison import is_lower_better, number_of
from portal.series.models import Series

RECENT = 300  # runs that are read
KEPT_FOR = 60  # seconds of a best result
MOST_ASKED = 20  # names that are looked for in older runs
MOST_VALUES = 12  # suggested of one param
OWN_TAGS = re.compile(r"(mlflow|muster)\.")  # tags that programs write for themselves
_MAIN = re.compile(r"loss|reward|acc|auc|perplexity|score|f1|bleu|wer|iou|map\b", re.IGNORECASE)
_FIRST = re.compile(r"(^|_)(lr|learning_rate)($|_)", re.IGNORECASE)
_SIDE = re.compile(r"seed|path|dir$|_id$|name$", re.IGNORECASE)
_SYSTEM = "system/"  # metrics of machines that MLflow clients log
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
        return sorted(several, key=by_interest)

    def is_numeric(self, param: str) -> bool:
        return bool(self.params[param]) and all(
            number_of(value) is not None for value in self.params[param]
        )


def by_interest(name: str) -> tuple[bool, bool, str]:
    """Return a key by which learning rates are first, and seeds and paths last."""
    return bool(_SIDE.search(name)), not _FIRST.search(name), name


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


def with_older(keys: RunKeys, rows: QuerySet[Run], asked: Iterable[str]) -> RunKeys:
    """Return the keys, and those of `asked` (such as `metrics.loss`) that only older runs have."""
    missing: dict[str, set[str]] = {"metrics": set(), "params": set(), "tags": set()}
    for text in list(asked)[:MOST_ASKED]:
        kind, _dot, name = text.removeprefix("-").partition(".")
        if name and kind in missing and name not in getattr(keys, kind):
            missing[kind].add(name)
    if missing["metrics"]:
        owners = rows.values("series_owner")
        found = Series.objects.filter(owner__in=owners, name__in=missing["metrics"])
        older = found.order_by().values_list("name", flat=True).distinct()
        keys = replace(keys, metrics=(*keys.metrics, *sorted(older)))
    for name in sorted(missing["params"]):
        if rows.filter(params__has_key=name).exists():
            keys = replace(keys, params=keys.params | {name: ()})
    for name in sorted(missing["tags"]):
        if rows.filter(tags__has_key=name).exists():
            keys = replace(keys, tags=(*keys.tags, name))
    return keys


def in_order(metrics: Iterable[str]) -> list[str]:
    """Return names of metrics: losses and scores first, validation before training."""

    def rank(name: str) -> tuple[bool, bool, bool, str]:
        is_system = name.startswith(_SYSTEM)
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


def best_results(experiments: Sequence[Experiment]) -> dict[UUID, dict[str, Any]]:
    """Return {experiment id: {"metric", "value"}}: the best last value of the main metric.

    The main metric is the first of the newest run that has ended, else of the newest run. Results
    are up to a minute old, because all runs are read.
    """
    keys = {one.pk: f"best-result:{one.pk}" for one in experiments}
    known = cache.get_many(keys.values())
    missing = [one for one in experiments if keys[one.pk] not in known]
    read = read_best_results(missing) if missing else {}
    fresh = {keys[one.pk]: read.get(one.pk) for one in missing}
    for key, value in fresh.items():
        cache.set(key, value, KEPT_FOR)
    found = known | fresh
    return {pk: found[key] for pk, key in keys.items() if found[key]}


def read_best_results(experiments: Sequence[Experiment]) -> dict[UUID, dict[str, Any]]:
    """Read what `best_results` returns."""
    metrics = _main_metrics(experiments)
    if not metrics:
        return {}
    name = Case(*(When(experiment=pk, then=Value(metric)) for pk, metric in metrics.items()))
    rows = (
        Run.objects.filter(experiment__in=metrics, deleted_at=None)
        .annotate(main=Cast(name, TextField()), result=metric_value(OuterRef("main")))
        .order_by()
        .values("experiment_id")
        .annotate(low=Min("result"), high=Max("result"))
    )
    found = {}
    for row in rows:
        metric = metrics[row["experiment_id"]]
        value = row["low"] if is_lower_better(metric) else row["high"]
        if value is not None:
            found[row["experiment_id"]] = {"metric": metric, "value": value}
    return found


def _main_metrics(experiments: Sequence[Experiment]) -> dict[UUID, str]:
    measured = Run.objects.filter(
        Exists(Series.objects.filter(owner=OuterRef("series_owner"))),
        experiment=OuterRef("pk"),
        deleted_at=None,
    ).order_by("-started_ms", "-id")
    newest = [
        Subquery(rows.values("series_owner")[:1])
        for rows in (measured.exclude(ended_ms=None), measured)
    ]
    owners = dict(
        Experiment.objects.filter(pk__in=[one.pk for one in experiments])
        .annotate(newest=Coalesce(*newest))
        .exclude(newest=None)
        .values_list("newest", "pk")
    )
    names: dict[UUID, list[str]] = defaultdict(list)
    for owner, name in Series.objects.filter(owner__in=owners).values_list("owner", "name"):
        if not name.startswith(_SYSTEM):
            names[owners[owner]].append(name)
    return {pk: in_order(given)[0] for pk, given in names.items()}
