"""Registry of what draws the lineage, for the pages of the things that it connects.

It is above the apps that it joins in the import order, so it registers itself at startup.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

TEMPLATE = "components/_lineage.html"  # what pages include with the context

_describe: list[Callable[[Any, str, UUID], dict[str, Any]]] = []


def register(describe: Callable[[Any, str, UUID], dict[str, Any]]) -> None:
    """Set the function that returns the context of TEMPLATE for a request, a kind and an id."""
    _describe[:] = [describe]


def lineage_context(request: Any, kind: str, pk: UUID) -> dict[str, Any]:
    """Return the context of the tab: `kind` is version, job, run or model. The viewer sees it."""
    return _describe[0](request, kind, pk) if _describe else {}
