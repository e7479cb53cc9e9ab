"""Expressions that PostgreSQL and SQLite both know: texts in JSON, LIKE, and elements of lists."""

from __future__ import annotations

import json
import re
from typing import Any

from django.db import connection
from django.db.models import BooleanField, F, Func, TextField, Value
from django.db.models.functions import Lower


def json_text(column: str, key: str) -> Func:
    """Return the text under a key of a JSON object; null if it is missing."""
    if connection.vendor == "postgresql":
        return Func(
            F(column), Value(key), function="jsonb_extract_path_text", output_field=TextField()
        )
    return Func(F(column), Value(_path(key)), function="json_extract", output_field=TextField())


def compare(left: Any, comparator: str, right: Any) -> Func:
    """Return a comparison; null if the left side is. LIKE knows % and _, and no escape."""
    if comparator in ("IN", "NOT IN"):
        equal = [compare(left, "=", one) for one in right]
        template = "(%(expressions)s)" if comparator == "IN" else "(NOT (%(expressions)s))"
        return Func(*equal, template=template, arg_joiner=" OR ", output_field=_IS)
    if comparator == "LIKE":
        return _like(left, right)
    if comparator == "ILIKE":
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


def element_text(*path: str) -> Func:
    """Return the text at a path of the element of `any_element`; null if it is missing."""
    if connection.vendor == "postgresql":
        return Func(
            *map(Value, path),
            template="jsonb_extract_path_text(element.value, %(expressions)s)",
            output_field=TextField(),
        )
    return Func(
        Value("$" + "".join(_path(key)[1:] for key in path)),
        template="json_extract(element.value, %(expressions)s)",
        output_field=TextField(),
    )


def both(*conditions: Func) -> Func:
    """Return whether all conditions hold."""
    return Func(*conditions, template="(%(expressions)s)", arg_joiner=" AND ", output_field=_IS)


_IS = BooleanField()


def _like(left: Any, pattern: str) -> Func:
    if connection.vendor == "postgresql":
        return _operation(left, " LIKE ", Value(pattern), "(%(expressions)s ESCAPE '')")
    # LIKE of SQLite ignores case; GLOB has other signs
    glob = re.sub(r"[\[*?]", r"[\g<0>]", pattern).replace("%", "*").replace("_", "?")
    return _operation(left, " GLOB ", Value(glob))


def _operation(left: Any, sign: str, right: Any, template: str = "(%(expressions)s)") -> Func:
    return Func(left, right, template=template, arg_joiner=sign, output_field=_IS)


def _path(key: str) -> str:
    return f"$.{json.dumps(key, ensure_ascii=False)}"
