"""Parse numbers of a query string."""

from __future__ import annotations

from portal.core.errors import InvalidInput


def limit_of(text: str | None, default: int = 50, most: int = 200) -> int:
    """Parse a page size from 1 to `most`; `default` if empty. Raises InvalidInput."""
    return min(max(whole("limit", text), 1), most) if text else default


def whole(name: str, text: str | None) -> int:
    """Parse a non-negative integer. Raises InvalidInput at `name`."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 18:
        raise InvalidInput.at(name, "must be a whole number")
    return int(text)
