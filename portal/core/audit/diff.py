"""Show the changes that an event recorded, value by value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson


def diff_of(data: Mapping[str, Any]) -> list[dict[str, str | None]]:
    """Return `name`, `before` and `after` of each changed value; None if absent.

    Nested mappings are flattened to dotted names.
    """
    before, after = _flat(data.get("before")), _flat(data.get("after"))
    return [
        {"name": name, "before": before.get(name), "after": after.get(name)}
        for name in {**before, **after}
    ]


def details_of(data: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return all other data of the event."""
    return [
        {"name": name, "value": _text(value)}
        for name, value in data.items()
        if name not in {"before", "after"} and value not in ("", None)
    ]


def _flat(value: Any, at: str = "") -> dict[str, str]:
    if value is None and not at:
        return {}
    if isinstance(value, dict) and value:
        found: dict[str, str] = {}
        for name, inner in value.items():
            found |= _flat(inner, f"{at}.{name}" if at else str(name))
        return found
    return {at or "value": _text(value)}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value) or "none"
    return orjson.dumps(value).decode()
