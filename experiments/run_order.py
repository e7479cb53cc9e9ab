"""Sort runs by a metric, a param or a tag, so that keyset pages work: nothing is null."""

from __future__ import annotations

import sys
from typing import Any

from django.db.models import (
    BigIntegerField,
    Case,
    F,
    FloatField,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Left

from experiments.models import Run
from experiments.search.expressions import json_text
from portal.core import clock
from portal.series.models import Series

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
TIE = ("started_ms", "id")
# Orders of the annotations that `sortable` adds.
BY_METRIC = ("sort_number", *TIE)
BY_TEXT = ("sort_place", "sort_number", "sort_text", *TIE)
BY_DURATION = ("sort_duration", *TIE)
_LONGEST = 200  # characters that are compared


def sortable(rows: QuerySet[Run], sort: str) -> QuerySet[Run]:
    """Return the rows with what `sort` (such as `-metrics.loss`) orders by.

    Runs without a finite value come last in both directions. Params are compared as numbers
    where they are numbers, which come before other texts.
    """
    kind, _dot, name = sort.removeprefix("-").partition(".")
    is_descending = sort.startswith("-")
    if kind == "metrics" and name:
        return _by_metric(rows, name, is_descending)
    if kind in ("params", "tags") and name:
        return _by_text(rows, json_text(kind, name), is_descending)
    if kind == "duration":
        now = Value(clock.now_ms(), output_field=BigIntegerField())
        return rows.annotate(sort_duration=Coalesce(F("ended_ms"), now) - F("started_ms"))
    return rows


def metric_value(name: str | OuterRef) -> Subquery:
    """Return the last value of a metric of a run; null without one."""
    found = Series.objects.filter(owner=OuterRef("series_owner"), name=name).order_by("labels")
    return Subquery(found.values("last_value")[:1], output_field=FloatField())


def _by_metric(rows: QuerySet[Run], name: str, is_descending: bool) -> QuerySet[Run]:
    # One expression, because PostgreSQL evaluates it again wherever it is used
    last = -sys.float_info.max if is_descending else sys.float_info.max
    return rows.annotate(sort_number=Coalesce(metric_value(name), Value(last)))


def _by_text(rows: QuerySet[Run], value: Any, is_descending: bool) -> QuerySet[Run]:
    rows = rows.annotate(sort_raw=Cast(value, TextField()))
    missing, number = Q(sort_raw=None), Q(sort_raw__regex=_NUMBER)
    return rows.annotate(
        sort_place=_place([(missing, 2), (number, 0)], 1, is_descending),
        sort_number=Case(
            When(number, then=Cast("sort_raw", FloatField())),
            default=Value(0.0),
            output_field=FloatField(),
        ),
        sort_text=Cast(Left(Coalesce("sort_raw", Value("")), _LONGEST), TextField()),
    )


def _place(places: list[tuple[Q, int]], default: int, is_descending: bool) -> Case:
    """Return a rank: of a descending order the negative one, so that the last stay last."""
    sign = -1 if is_descending else 1
    return Case(
        *(When(condition, then=Value(10 + sign * place)) for condition, place in places),
        default=Value(10 + sign * default),
        output_field=IntegerField(),
    )
