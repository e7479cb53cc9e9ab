"""Searches as query sets.

A run without the metric, param or tag does not pass a comparison, also not `!=`. Values that are
missing, and NaN, come last in both directions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zlib import crc32

from django.db.models import (
    BooleanField,
    Case,
    Exists,
    F,
    FloatField,
    Func,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Concat, Replace

from experiments.models import Experiment, LoggedModel, Run
from experiments.search.expressions import any_element, both, compare, element_text, json_text
from experiments.search.language import (
    ATTRIBUTE,
    DATASET,
    EXPERIMENTS,
    LOGGED_MODELS,
    METRIC,
    RUNS,
    Condition,
    Sorting,
    parse_filter,
    parse_order,
)
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.series.models import Series

_MOST = sys.float_info.max
_LOOKUPS = {"=": "exact", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


def search_runs(
    rows: QuerySet[Run], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[Run]:
    """Return the runs that pass a filter, in order; the newest first, then by id.

    Raises InvalidInput.
    """
    for one in parse_filter(filter_text, RUNS):
        rows = rows.filter(_run_condition(one))
    return _ordered(rows, parse_order(order_by, RUNS), _run_value, "started_ms", "start_time")


def search_experiments(
    rows: QuerySet[Experiment], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[Experiment]:
    """Return the experiments that pass a filter, in order; the newest first.

    Raises InvalidInput.
    """
    for one in parse_filter(filter_text, EXPERIMENTS):
        rows = rows.filter(_experiment_condition(one))
    order = parse_order(order_by, EXPERIMENTS)
    return _ordered(rows, order, _experiment_value, "created_at", "creation_time")


def search_logged_models(
    rows: QuerySet[LoggedModel], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[LoggedModel]:
    """Return the logged models that pass a filter, in order; the newest first.

    Raises InvalidInput.
    """
    for one in parse_filter(filter_text, LOGGED_MODELS):
        rows = rows.filter(_model_condition(one))
    order = parse_order(order_by, LOGGED_MODELS)
    return _ordered(rows, order, _model_value, "created_at", "creation_timestamp")


def _ordered(
    rows: QuerySet[Any],
    order: Sequence[Sorting],
    value: Callable[[Sorting], Any],
    newest: str,
    newest_name: str,
) -> QuerySet[Any]:
    keys: list[Any] = []
    for n, one in enumerate(order):
        # The name is part of page tokens, which are of one order
        name = f"order_{n}_{crc32(f'{one.kind}.{one.key}'.encode()):08x}"
        rows = rows.annotate(**{name: value(one)})
        key = F(name)
        keys.append(key.desc(nulls_last=True) if one.is_descending else key.asc(nulls_last=True))
    if not any((one.kind, one.key) == (ATTRIBUTE, newest_name) for one in order):
        keys.append(F(newest).desc())
    return rows.order_by(*keys, F("id").asc())


# Runs


def _run_condition(one: Condition) -> Any:
    if one.kind == METRIC:
        return _metric_condition(one)
    if one.kind == DATASET:
        path = ("tags", "mlflow.data.context") if one.key == "context" else ("dataset", one.key)
        return any_element("inputs", compare(element_text(*path), one.comparator, one.value))
    if one.kind == ATTRIBUTE and one.key == "run_id" and one.comparator not in ("LIKE", "ILIKE"):
        return _id_condition("id", one)
    return _text_condition(_run_text(one.kind, one.key), one)


def _metric_condition(one: Condition) -> Exists:
    """Compare the last value. NaN only passes `!=`."""
    value = float(one.value)  # type: ignore[arg-type]
    if one.comparator == "!=":
        passes = Q(last_value=None) | ~Q(last_value=value)
    else:
        passes = Q((f"last_value__{_LOOKUPS[one.comparator]}", value))
        if one.comparator in (">", ">="):
            passes |= Q(last_special="Infinity")
        elif one.comparator in ("<", "<="):
            passes |= Q(last_special="-Infinity")
    return Exists(_series_of(one.key).filter(passes))


def _series_of(name: str) -> QuerySet[Series]:
    return Series.objects.filter(owner=OuterRef("series_owner"), name=name, labels="{}")


def _run_text(kind: str, key: str) -> Any:
    if kind == ATTRIBUTE:
        return _RUN_ATTRIBUTES[key]()
    if kind == "tag" and key == "mlflow.runName":
        return F("name")
    return json_text("tags" if kind == "tag" else "params", key)


def _run_value(one: Sorting) -> Any:
    if one.kind != METRIC:
        return _run_text(one.kind, one.key)
    end = -_MOST if one.is_descending else _MOST
    # NaN comes before missing values, which are null, and after all others
    value = Case(
        When(last_special="Infinity", then=Value(_MOST)),
        When(last_special="-Infinity", then=Value(-_MOST)),
        When(last_special="NaN", then=Value(float("inf") if end > 0 else float("-inf"))),
        default=F("last_value"),
        output_field=FloatField(),
    )
    return Subquery(_series_of(one.key).values_list(value)[:1], output_field=FloatField())


def _hex(column: str) -> Any:
    """Return an id as 32 hexadecimal digits."""
    return Replace(Cast(column, TextField()), Value("-"), Value(""), output_field=TextField())


def _artifact_uri() -> Any:
    number = Cast("experiment__number", TextField())
    parts = (Value("mlflow-artifacts:/"), number, Value("/"), _hex("id"), Value("/artifacts"))
    return Concat(*parts, output_field=TextField())


def _user() -> Any:
    return Coalesce(json_text("tags", "mlflow.user"), F("owner__email"), output_field=TextField())


_RUN_ATTRIBUTES: dict[str, Callable[[], Any]] = {
    "run_id": lambda: _hex("id"),
    "run_name": lambda: F("name"),
    "status": lambda: F("status"),
    "user_id": _user,
    "artifact_uri": _artifact_uri,
    "start_time": lambda: F("started_ms"),
    "end_time": lambda: F("ended_ms"),
}


# Experiments


def _experiment_condition(one: Condition) -> Any:
    if one.kind == ATTRIBUTE and one.key == "experiment_id":
        return _number_condition("number", one)
    if one.kind == ATTRIBUTE and one.key in _TIMES:
        return _time_condition(_TIMES[one.key], one)
    return _text_condition(_experiment_text(one.kind, one.key), one)


def _experiment_text(kind: str, key: str) -> Any:
    if kind == ATTRIBUTE:
        return F("name")
    return F("description") if key == "mlflow.note.content" else json_text("tags", key)


def _experiment_value(one: Sorting) -> Any:
    if one.kind == ATTRIBUTE and one.key != "name":
        return F(_TIMES.get(one.key, "number"))
    return _experiment_text(one.kind, one.key)


_TIMES = {
    "creation_time": "created_at",
    "last_update_time": "updated_at",
    "creation_timestamp": "created_at",
    "last_updated_timestamp": "updated_at",
}


# Logged models


def _model_condition(one: Condition) -> Any:
    if one.kind == METRIC:
        value = compare(_element_number(), one.comparator, Value(float(one.value)))  # type: ignore[arg-type]
        return any_element("metrics", both(compare(element_text("key"), "=", one.key), value))
    if one.kind == ATTRIBUTE and one.key in _TIMES:
        return _time_condition(_TIMES[one.key], one)
    return _text_condition(_model_text(one.kind, one.key), one)


def _element_number() -> Any:
    """Return the value of a point; texts such as NaN are null."""
    text = element_text("value")
    special = ("NaN", "Infinity", "-Infinity")
    nothing = Func(text, *map(Value, special[:1]), function="NULLIF", output_field=TextField())
    for word in special[1:]:
        nothing = Func(nothing, Value(word), function="NULLIF", output_field=TextField())
    return Cast(nothing, FloatField())


def _model_text(kind: str, key: str) -> Any:
    if kind != ATTRIBUTE:
        return json_text(f"{kind}s", key)
    columns = {
        "model_id": lambda: Concat(Value("m-"), _hex("id"), output_field=TextField()),
        "source_run_id": lambda: _hex("run_id"),
    }
    return columns.get(key, lambda: F(key))()


def _model_value(one: Sorting) -> Any:
    if one.kind == METRIC:
        raise InvalidInput.at("order_by", Message("of models can’t be a metric"))
    if one.kind == ATTRIBUTE and one.key in _TIMES:
        return F(_TIMES[one.key])
    return _model_text(one.kind, one.key)


# All


def _text_condition(left: Any, one: Condition) -> Any:
    if one.comparator in ("IS NULL", "IS NOT NULL"):
        return Func(
            left,
            template=f"(%(expressions)s {one.comparator})",
            output_field=_BOOLEAN,
        )
    if isinstance(left, F):
        left = Cast(left, TextField()) if isinstance(one.value, str | tuple) else left
    return compare(left, one.comparator, one.value)


def _id_condition(column: str, one: Condition) -> Q:
    given = one.value if isinstance(one.value, tuple) else (one.value,)
    ids = [UUID(str(text)) for text in given if re.fullmatch(r"[0-9a-fA-F]{32}", str(text))]
    found = Q((f"{column}__in", ids))
    return found if one.comparator in ("=", "IN") else ~found


def _number_condition(column: str, one: Condition) -> Q:
    given = one.value if isinstance(one.value, tuple) else (one.value,)
    for text in given:
        if not re.fullmatch(r"[0-9]{1,18}", str(text)):
            raise InvalidInput.at(
                "filter",
                Message("has the experiment_id {text}, which is no number", text=repr(text)),
            )
    found = Q((f"{column}__in", [int(str(text)) for text in given]))
    return found if one.comparator in ("=", "IN") else ~found


def _time_condition(column: str, one: Condition) -> Q:
    """Compare a time, of which clients know the milliseconds."""
    try:
        start = datetime.fromtimestamp(int(one.value) / 1000, UTC)  # type: ignore[arg-type]
        end = datetime.fromtimestamp((int(one.value) + 1) / 1000, UTC)  # type: ignore[arg-type]
    except (OverflowError, ValueError, OSError):
        raise InvalidInput.at(
            "filter", Message("has a time that is out of range; times are Unix milliseconds")
        ) from None
    before, from_start = Q((f"{column}__lt", start)), Q((f"{column}__gte", start))
    to_end, after = Q((f"{column}__lt", end)), Q((f"{column}__gte", end))
    return {
        "=": from_start & to_end,
        "!=": before | after,
        "<": before,
        "<=": to_end,
        ">": after,
        ">=": from_start,
    }[one.comparator]


_BOOLEAN = BooleanField()
