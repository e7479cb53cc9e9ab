"""Expressions that PostgreSQL and SQLite both know: texts in JSON, LIKE, and elements of lists."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import BooleanField, F, FloatField, Func, TextField, Value
from django.db.models.functions import Lower


def json_text(column: str, key: str) -> Func:
    """Return the text under a key of a JSON object; null if it is missing."""
    if connection.vendor == "postgresql":
        return Func(
            F(column), Value(key), function="jsonb_extract_path_text", output_field=TextField()
        )
    # A path cannot name every key: SQLite compares it with what is stored, which is escaped
    return Func(
        F(column),
        Value(key),
        template="(SELECT value FROM json_each(%(expressions)s))",
        arg_joiner=") WHERE key = (",
        output_field=TextField(),
    )


def compare(left: Any, comparator: str, right: Any) -> Func:
    """Return a comparison; null if the left side is. LIKE knows % and _, and no escape."""
    if comparator in ("IN", "NOT IN"):
        equal = [compare(left, "=", one) for one in right]
        template = "(%(expressions)s)" if comparator == "IN" else "(NOT (%(expressions)s))"
        return Func(*equal, template=template, arg_joiner=" OR ", output_field=_IS)
    if comparator == "LIKE":
        return _like(left, right)
    if comparator == "ILIKE":
        if connection.vendor == "sqlite":  # where LIKE ignores case (portal.core.sqlite)
            return _operation(left, " LIKE ", Value(right))
        return _like(Lower(left), right.lower())
    sign = "<>" if comparator == "!=" else comparator
    return _operation(
        left, f" {sign} ", right if hasattr(right, "resolve_expression") else Value(right)
    )


def any_element(column: str, condition: Func) -> Func:
    """Return whether the condition holds for an element of a JSON list; see `element_text`."""
    is_postgres = connection.vendor == "postgresql"
    return Func(
        F(column),
        condition,
        function="jsonb_array_elements" if is_postgres else "json_each",
        template="EXISTS (SELECT 1 FROM %(function)s(%(expressions)s)",
        arg_joiner=") AS element(value) WHERE " if is_postgres else ") AS element WHERE ",
        output_field=_IS,
    )


def last_element(column: str, condition: Func, value: Any, order: Sequence[str]) -> Func:
    """Return a number of the element that passes a condition; of several, of the last one."""
    if connection.vendor == "postgresql":
        table, key = (
            "jsonb_array_elements(%(expressions)s) AS element(value)",
            "(element.value->>'{}')::bigint",
        )
    else:
        table, key = "json_each(%(expressions)s) AS element", "json_extract(element.value, '$.{}')"
    last = ", ".join(f"{key.format(name)} DESC" for name in order)
    return Func(
        value,
        Func(F(column), template=f"FROM {table}", output_field=TextField()),
        Func(condition, template="WHERE %(expressions)s", output_field=_IS),
        template=f"(SELECT %(expressions)s ORDER BY {last} LIMIT 1)",
        arg_joiner=" ",
        output_field=FloatField(),
    )


def element_text(*path: str) -> Func:
    """Return the text at a path of the element of `any_element`; null if it is missing."""
    if connection.vendor == "postgresql":
        return Func(
            *map(Value, path),
            template="jsonb_extract_path_text(element.value, %(expressions)s)",
            output_field=TextField(),
        )
    return _Repeated(
        Value(_steps(path)),
        template="CASE json_type(element.value, %(expressions)s) WHEN 'true' THEN 'true' "
        "WHEN 'false' THEN 'false' ELSE json_extract(element.value, %(expressions)s) END",
        output_field=TextField(),
    )


def both(*conditions: Func) -> Func:
    """Return whether all conditions hold."""
    return Func(*conditions, template="(%(expressions)s)", arg_joiner=" AND ", output_field=_IS)


def either(*conditions: Func) -> Func:
    """Return whether one of the conditions holds."""
    return Func(*conditions, template="(%(expressions)s)", arg_joiner=" OR ", output_field=_IS)


def element_number(*path: str) -> Func:
    """Return the number at a path of the element of `any_element`; null if it is none."""
    if connection.vendor == "postgresql":
        return _Repeated(
            *map(Value, path),
            function="element.value #> ARRAY",
            template="CASE jsonb_typeof(%(function)s[%(expressions)s]) WHEN 'number' THEN "
            "(%(function)s[%(expressions)s])::text::double precision END",
            output_field=FloatField(),
        )
    return _Repeated(
        Value(_steps(path)),
        template="CASE WHEN json_type(element.value, %(expressions)s) IN ('integer', 'real') "
        "THEN json_extract(element.value, %(expressions)s) END",
        output_field=FloatField(),
    )


def span_attribute(key: str) -> Func:
    """Return an attribute of the span that is the element of `any_element`; null if missing.

    Clients write values as JSON; a text is returned without its quotes. OpenTelemetry has a list of
    attributes, and MLflow 2 an object.
    """
    if connection.vendor == "postgresql":
        template = """BTRIM(CASE jsonb_typeof(element.value->'attributes') WHEN 'array' THEN (
            SELECT COALESCE(one.value #>> '{value,string_value}', one.value #>> '{value,int_value}',
                one.value #>> '{value,double_value}', one.value #>> '{value,bool_value}')
            FROM jsonb_array_elements(element.value->'attributes') AS one(value)
            WHERE one.value->>'key' = %(expressions)s LIMIT 1
        ) ELSE element.value->'attributes'->>%(expressions)s END, '"')"""
    else:
        template = """TRIM(CASE json_type(element.value, '$.attributes') WHEN 'array' THEN (
            SELECT COALESCE(json_extract(one.value, '$.value.string_value'),
                json_extract(one.value, '$.value.int_value'),
                json_extract(one.value, '$.value.double_value'),
                CASE json_extract(one.value, '$.value.bool_value')
                    WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)
            FROM json_each(element.value, '$.attributes') AS one
            WHERE json_extract(one.value, '$.key') = %(expressions)s LIMIT 1
        ) ELSE (
            SELECT one.value FROM json_each(element.value, '$.attributes') AS one
            WHERE one.key = %(expressions)s
        ) END, '"')"""
    return _Repeated(Value(key), template=template, output_field=TextField())


def json_contains(document: Any, comparator: str, pattern: str) -> Func:
    """Return whether LIKE or ILIKE finds a text in JSON, also in texts of it that are JSON."""
    is_postgres = connection.vendor == "postgresql"
    cast = "CAST(%(expressions)s AS text)" if is_postgres else "json_as_text(%(expressions)s)"
    text = Func(document, template=cast, output_field=TextField())
    inner = (_escaped(pattern), _escaped(pattern, is_ascii=True))
    spellings = dict.fromkeys((pattern, *inner, *map(_escaped, inner)))
    return either(*(compare(text, comparator, each) for each in spellings))


class _Repeated(Func):
    """A function whose template has its expressions several times."""

    def as_sql(self, compiler: Any, connection: Any, *args: Any, **extra: Any) -> Any:
        count = self.extra["template"].count("%(expressions)s")
        sql, params = super().as_sql(compiler, connection, *args, **extra)
        return sql, [*params] * count


def _escaped(text: str, *, is_ascii: bool = False) -> str:
    return json.dumps(text, ensure_ascii=is_ascii)[1:-1]


_IS = BooleanField()


def _like(left: Any, pattern: str) -> Func:
    if connection.vendor == "postgresql":
        return _operation(left, " LIKE ", Value(pattern), "(%(expressions)s ESCAPE '')")
    # LIKE of SQLite ignores case; GLOB has other signs
    glob = re.sub(r"[\[*?]", r"[\g<0>]", pattern).replace("%", "*").replace("_", "?")
    return _operation(left, " GLOB ", Value(glob))


def _operation(left: Any, sign: str, right: Any, template: str = "(%(expressions)s)") -> Func:
    return Func(left, right, template=template, arg_joiner=sign, output_field=_IS)


def _steps(path: Sequence[str]) -> str:
    """Return the path of ASCII keys, as SQLite writes it."""
    return "$" + "".join(f".{json.dumps(key)}" for key in path)
