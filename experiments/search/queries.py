"""Searches as query sets.

A run without the metric, param or tag does not pass a comparison, also not `!=`. Values that are
missing, and NaN, come last in both directions.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from uuid import UUID
from zlib import crc32

from django.db.models import (
    BooleanField,
    Case,
    Exists,
    F,
    FloatField,
    Func,
    Model,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Concat, Replace, StrIndex
from django.db.models.lookups import Exact

from experiments.models import Experiment, LoggedModel, Run, Trace
from experiments.search.expressions import (
    any_element,
    both,
    compare,
    either,
    element_number,
    element_text,
    json_contains,
    json_text,
    last_element,
    span_attribute,
)
from experiments.search.language import (
    ATTRIBUTE,
    DATASET,
    EXPECTATION,
    EXPERIMENTS,
    FEEDBACK,
    LOGGED_MODELS,
    METRIC,
    MODEL_VERSIONS,
    REGISTERED_MODELS,
    RUNS,
    SPAN,
    SPAN_ATTRIBUTES,
    TAG,
    TRACES,
    Fields,
    SearchCondition,
    Sorting,
    parse_filter,
    parse_order,
)
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.series.models import Series
from registry.models import ModelVersion, RegisteredModel

M = TypeVar("M", bound=Model)
_MOST = sys.float_info.max
_LOOKUPS = {"=": "exact", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


def search_runs(
    rows: QuerySet[Run], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[Run]:
    """Return the runs that pass a filter, in order; the newest first, then by id.

    Raises InvalidInput.
    """
    return _search(rows, _RUN_SEARCH, filter_text, order_by)


def search_experiments(
    rows: QuerySet[Experiment], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[Experiment]:
    """Return the experiments that pass a filter, in order; the newest first.

    Raises InvalidInput.
    """
    return _search(rows, _EXPERIMENT_SEARCH, filter_text, order_by)


@dataclass(frozen=True)
class Dataset:
    """What points of a metric of a logged model were computed on; "" is any digest."""

    name: str
    digest: str = ""


def search_logged_models(
    rows: QuerySet[LoggedModel],
    filter_text: str = "",
    order_by: Sequence[str] = (),
    datasets: Sequence[Dataset] = (),
    order_datasets: Mapping[str, Dataset] | None = None,
) -> QuerySet[LoggedModel]:
    """Return the logged models that pass a filter, in order; the newest first.

    With `datasets`, only points on one of them count, and a model needs one. `order_datasets` are
    those of the metrics by which models are sorted. Raises InvalidInput.
    """
    if datasets:
        rows = rows.filter(any_element("metrics", both(*_of_datasets(datasets))))
    search = replace(
        _LOGGED_MODEL_SEARCH,
        condition=partial(_logged_model_condition, datasets=datasets),
        value=partial(_logged_model_value, datasets=order_datasets),
    )
    return _search(rows, search, filter_text, order_by)


def search_traces(
    rows: QuerySet[Trace], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[Trace]:
    """Return the traces that pass a filter, in order; the newest first. Raises InvalidInput."""
    spans = [one for one in parse_filter(filter_text, TRACES) if one.kind == SPAN]
    if spans:  # all conditions hold for the same span
        rows = rows.filter(any_element("spans", both(*map(_span_condition, spans))))
    return _search(rows, _TRACE_SEARCH, filter_text, order_by)


def search_registered_models(
    rows: QuerySet[RegisteredModel], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[RegisteredModel]:
    """Return the registered models that pass a filter, in order; by name.

    Raises InvalidInput.
    """
    return _search(rows, _REGISTERED_MODEL_SEARCH, filter_text, order_by)


def search_model_versions(
    rows: QuerySet[ModelVersion], filter_text: str = "", order_by: Sequence[str] = ()
) -> QuerySet[ModelVersion]:
    """Return the versions that pass a filter, in order; the last changed first.

    Raises InvalidInput.
    """
    return _search(rows, _MODEL_VERSION_SEARCH, filter_text, order_by)


@dataclass(frozen=True)
class _Search:
    """One kind of row: its fields, how to compare and to sort by one, and the usual order."""

    fields: Fields
    condition: Callable[[SearchCondition], Any]
    value: Callable[[Sorting], Any]
    order: Sequence[str]  # attributes, which are not null


def _search(
    rows: QuerySet[M], search: _Search, filter_text: str, order_by: Sequence[str]
) -> QuerySet[M]:
    for condition in parse_filter(filter_text, search.fields):
        rows = rows.filter(search.condition(condition))
    asked = parse_order(order_by, search.fields)
    names = {(one.kind, one.key) for one in asked}
    usual = [
        one for one in parse_order(search.order, search.fields) if (one.kind, one.key) not in names
    ]
    keys: list[Any] = []
    for n, one in enumerate([*asked, *usual]):
        # The name is part of page tokens, which are of one order
        name = f"order_{n}_{crc32(f'{one.kind}.{one.key}'.encode()):08x}"
        rows = rows.annotate(**{name: search.value(one)})
        nulls_last = True if n < len(asked) else None
        direction = F(name).desc if one.is_descending else F(name).asc
        keys.append(direction(nulls_last=nulls_last))
    return rows.order_by(*keys, F("id").asc())


# Runs


def _run_condition(one: SearchCondition) -> Any:
    if one.kind == METRIC:
        return _metric_condition(one)
    if one.kind == DATASET:
        path = ("tags", "mlflow.data.context") if one.key == "context" else ("dataset", one.key)
        return any_element("inputs", compare(element_text(*path), one.comparator, one.value))
    if one.kind == ATTRIBUTE and one.key == "run_id" and one.comparator not in _PATTERNS:
        return _id_condition("id", one)
    return _text_condition(_run_text(one.kind, one.key), one)


def _metric_condition(one: SearchCondition) -> Exists:
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


def _experiment_condition(one: SearchCondition) -> Any:
    one = _with_clean_name(one)
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


def _logged_model_condition(one: SearchCondition, datasets: Sequence[Dataset] = ()) -> Any:
    if one.kind == METRIC:
        value = compare(_element_number(), one.comparator, Value(float(one.value)))  # type: ignore[arg-type]
        named = [compare(element_text("key"), "=", one.key), value]
        return any_element("metrics", both(*named, *_of_datasets(datasets)))
    if one.kind == ATTRIBUTE and one.key in _TIMES:
        return _time_condition(_TIMES[one.key], one)
    return _text_condition(_logged_model_text(one.kind, one.key), one)


def _of_datasets(datasets: Sequence[Dataset]) -> list[Func]:
    """Return whether the element, a point of a metric, is of one of the datasets."""
    found = [
        both(
            *(
                compare(element_text(f"dataset_{name}"), "=", text)
                for name, text in (("name", one.name), ("digest", one.digest))
                if text
            )
        )
        for one in datasets
    ]
    return [either(*found)] if found else []


def _element_number() -> Any:
    """Return the value of a point; NaN is null, and infinities are the largest floats."""
    text = element_text("value")
    special = {"Infinity": _MOST, "-Infinity": -_MOST}
    return Case(
        *(When(Exact(text, Value(word)), then=Value(end)) for word, end in special.items()),
        default=element_number("value"),
        output_field=FloatField(),
    )


def _logged_model_text(kind: str, key: str) -> Any:
    if kind != ATTRIBUTE:
        return json_text(f"{kind}s", key)
    columns = {
        "model_id": lambda: Concat(Value("m-"), _hex("id"), output_field=TextField()),
        "source_run_id": lambda: _hex("run_id"),
    }
    return columns.get(key, lambda: F(key))()


def _logged_model_value(one: Sorting, datasets: Mapping[str, Dataset] | None = None) -> Any:
    if one.kind == METRIC:
        dataset = (datasets or {}).get(one.key)
        named = [compare(element_text("key"), "=", one.key)]
        named += _of_datasets([dataset] if dataset else [])
        return last_element("metrics", both(*named), _element_number(), ("timestamp", "step"))
    if one.kind == ATTRIBUTE and one.key in _TIMES:
        return F(_TIMES[one.key])
    return _logged_model_text(one.kind, one.key)


# Traces


def _trace_condition(one: SearchCondition) -> Any:
    if one.kind == SPAN:
        return Q()  # see `search_traces`
    if one.kind in (FEEDBACK, EXPECTATION):
        return _assessment_condition(one)
    if one.kind == ATTRIBUTE and one.key == "text":
        return json_contains(F("spans"), one.comparator, str(one.value))
    if one.kind == ATTRIBUTE and one.key == "prompt":
        return _prompt_condition(str(one.value))
    return _text_condition(_trace_value(one), one)


def _span_condition(one: SearchCondition) -> Func:
    if one.key == "content":
        element = Func(template="element.value", output_field=TextField())
        return json_contains(element, one.comparator, str(one.value))
    if one.key.startswith(SPAN_ATTRIBUTES):
        left = span_attribute(one.key.removeprefix(SPAN_ATTRIBUTES))
    elif one.key == "type":
        left = span_attribute("mlflow.spanType")
    elif one.key == "status":
        code = Coalesce(element_text("status", "code"), element_text("status_code"), Value("UNSET"))
        left = Replace(code, Value("STATUS_CODE_"), Value(""), output_field=TextField())
    else:
        left = element_text(one.key)
    return compare(left, one.comparator, one.value)


def _assessment_condition(one: SearchCondition) -> Any:
    """Compare the value of a valid assessment, which is JSON."""
    named = [
        compare(element_text("assessment_name"), "=", one.key),
        compare(Coalesce(element_text("valid"), Value("true")), "=", "true"),
        _text_condition(element_text(one.kind), replace(one, comparator="IS NOT NULL")),
    ]
    if one.comparator in ("IS NULL", "IS NOT NULL"):
        has_it = any_element("assessments", both(*named))
        return has_it if one.comparator == "IS NOT NULL" else ~Q(has_it)
    if one.comparator in ("<", "<=", ">", ">="):
        value = element_number(one.kind, "value")
    else:
        value = element_text(one.kind, "value")
    return any_element("assessments", both(*named, compare(value, one.comparator, one.value)))


def _prompt_condition(value: str) -> Q:
    """Match traces that a prompt is linked to; the value is NAME/VERSION."""
    name, slash, version = value.partition("/")
    if not name or not slash or not version or "/" in version:
        raise InvalidInput.at(
            "filter", Message("has the prompt {text}; write 'NAME/VERSION'", text=repr(value[:100]))
        )
    text, found = json_text("tags", LINKED_PROMPTS), []
    for separators in ((",", ":"), (", ", ": ")):
        prompt = json.dumps({"name": name, "version": version}, separators=separators)
        found.append(compare(StrIndex(text, Value(prompt)), ">", 0))
    return Q(either(*found))


def _trace_value(one: SearchCondition | Sorting) -> Any:
    if one.kind == ATTRIBUTE:
        return _TRACE_ATTRIBUTES[one.key]()
    return json_text("tags" if one.kind == TAG else "metadata", one.key)


_TRACE_ATTRIBUTES: dict[str, Callable[[], Any]] = {
    "trace_id": lambda: F("trace_id"),
    "state": lambda: F("state"),
    "client_request_id": lambda: F("client_request_id"),
    "name": lambda: json_text("tags", "mlflow.traceName"),
    "run_id": lambda: json_text("metadata", "mlflow.sourceRun"),
    "timestamp_ms": lambda: F("started_ms"),
    "execution_time_ms": lambda: F("duration_ms"),
    "end_time_ms": lambda: F("started_ms") + F("duration_ms"),
    "experiment_id": lambda: F("experiment__number"),
}
LINKED_PROMPTS = "mlflow.linkedPrompts"  # tag: a JSON list of objects with name and version


# Registered models and their versions


def _registered_condition(one: SearchCondition, columns: Mapping[str, str]) -> Any:
    one = _with_clean_name(one)
    if one.kind == ATTRIBUTE and one.key in _TIMES:
        return _time_condition(_TIMES[one.key], one)
    if one.kind == ATTRIBUTE and one.key == "run_id" and one.comparator not in _PATTERNS:
        return _id_condition("run_id", one)
    value = _registered_value(one, columns)
    if one.key == _IS_PROMPT and one.comparator == "!=":
        # Clients ask so for models that are no prompts, which do not have the tag
        value = Coalesce(value, Value(""), output_field=TextField())
    return _text_condition(value, one)


def _registered_value(one: SearchCondition | Sorting, columns: Mapping[str, str]) -> Any:
    if one.kind == TAG:
        return json_text("tags", one.key)
    return _hex("run_id") if one.key == "run_id" else F(columns[one.key])


_IS_PROMPT = "mlflow.prompt.is_prompt"
_MODEL_COLUMNS = {**_TIMES, "name": "name"}
_VERSION_COLUMNS = {
    **_TIMES,
    "name": "model__name",
    "version_number": "version",
    "source_path": "source",
    "current_stage": "stage",
    "status": "status",
}


# All


def _with_clean_name(one: SearchCondition) -> SearchCondition:
    """Return the condition on a name without blanks around it, as where names are created."""
    if one.kind != ATTRIBUTE or one.key != "name" or one.comparator in _PATTERNS:
        return one
    if isinstance(one.value, tuple):
        return replace(one, value=tuple(name.strip() for name in one.value))
    return replace(one, value=str(one.value).strip())


def _text_condition(left: Any, one: SearchCondition) -> Any:
    if one.comparator in ("IS NULL", "IS NOT NULL"):
        return Func(
            left,
            template=f"(%(expressions)s {one.comparator})",
            output_field=_BOOLEAN,
        )
    if isinstance(left, F):
        left = Cast(left, TextField()) if isinstance(one.value, str | tuple) else left
    return compare(left, one.comparator, one.value)


def _id_condition(column: str, one: SearchCondition) -> Q:
    given = one.value if isinstance(one.value, tuple) else (one.value,)
    ids = [UUID(str(text)) for text in given if re.fullmatch(r"[0-9a-fA-F]{32}", str(text))]
    found = Q((f"{column}__in", ids))
    if one.comparator in ("=", "IN"):
        return found
    return Q((f"{column}__isnull", False)) & ~found


def _number_condition(column: str, one: SearchCondition) -> Q:
    given = one.value if isinstance(one.value, tuple) else (one.value,)
    for text in given:
        if not re.fullmatch(r"[0-9]{1,18}", str(text)):
            raise InvalidInput.at(
                "filter",
                Message("has the experiment_id {text}, which is no number", text=repr(text)),
            )
    found = Q((f"{column}__in", [int(str(text)) for text in given]))
    return found if one.comparator in ("=", "IN") else ~found


def _time_condition(column: str, one: SearchCondition) -> Q:
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
_PATTERNS = ("LIKE", "ILIKE")
_RUN_SEARCH = _Search(RUNS, _run_condition, _run_value, ["start_time DESC"])
_EXPERIMENT_SEARCH = _Search(
    EXPERIMENTS, _experiment_condition, _experiment_value, ["creation_time DESC"]
)
_LOGGED_MODEL_SEARCH = _Search(
    LOGGED_MODELS, _logged_model_condition, _logged_model_value, ["creation_timestamp DESC"]
)
_TRACE_SEARCH = _Search(TRACES, _trace_condition, _trace_value, ["timestamp_ms DESC"])
_REGISTERED_MODEL_SEARCH = _Search(
    REGISTERED_MODELS,
    partial(_registered_condition, columns=_MODEL_COLUMNS),
    partial(_registered_value, columns=_MODEL_COLUMNS),
    ["name"],
)
_MODEL_VERSION_SEARCH = _Search(
    MODEL_VERSIONS,
    partial(_registered_condition, columns=_VERSION_COLUMNS),
    partial(_registered_value, columns=_VERSION_COLUMNS),
    ["last_updated_timestamp DESC", "name", "version_number DESC"],
)
