"""Types of the API's answers, as `make shapes` writes them: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from muster.shapes.jobs import ComparisonShape


class RankedDifferenceShape(TypedDict):
    key: str
    group: str
    effect: Annotated[str, "High, Medium or Low."]
    level: Annotated[int, "1 for the likeliest effect, to 3."]
    before: Any
    after: Any
    factor: Annotated[float | None, "Of numbers: after / before."]


class RunComparisonShape(ComparisonShape):
    ranked: Annotated[
        list[RankedDifferenceShape], "Of the first and the last run, the likeliest effect first."
    ]
