"""Template filters of the table of runs."""

from __future__ import annotations

from math import isfinite
from typing import Any

from django import template

from portal.lists import Column
from workspaces.templatetags.muster import metric

register = template.Library()
LONGEST = 60  # characters of a param in a cell


@register.filter
def cell(row: dict[str, Any], column: Column) -> dict[str, Any]:
    """Return a cell of a metric, param or tag: its text, title and kind."""
    value: Any = column.cell(row)
    if column.name.startswith("metrics."):
        found = row["metrics"].get(column.label) or {}
        step = found.get("step")
        exact = repr(value) if value is not None else ""
        return {
            "is_metric": True,
            "is_empty": value is None,
            "text": metric(value) if value is None or isfinite(value) else str(value),
            "title": f"{exact} · {step}" if step is not None else exact,
        }
    text = "" if value is None else str(value)
    return {
        "is_metric": False,
        "is_empty": not text,
        "is_number": column.css.endswith("num"),
        "text": text if len(text) <= LONGEST else f"{text[:LONGEST]}…",
        "title": text[:1000],
    }
