"""What draws the lineage, for the pages of the things that it connects.

It is above the apps that it joins in the import order: its `providers.py` declares LINEAGE.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from portal.core.declarations import declared

TEMPLATE = "components/_lineage.html"  # what pages include with the context


def lineage_context(request: Any, kind: str, pk: UUID) -> dict[str, Any]:
    """Return the context of the tab: `kind` is version, job, run or model. The viewer sees it."""
    context: dict[str, Any] = {}
    for describe in declared("providers", "LINEAGE"):
        context |= describe(request, kind, pk)
    return context
