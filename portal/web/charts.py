"""Charts of values that a page has: what `<c-chart :data>` draws (static/js/charts/inline.js)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from portal.core import clock
from portal.core.messages import Message
from portal.web.translation import translated

COLOURS = tuple(f"--c{n}" for n in range(1, 9))
Values = Sequence[float | None]


class DrawnCurve(TypedDict):
    label: str
    values: list[float | None]
    colour: str
    kind: str
    note: str | None


class Chart(TypedDict):
    times: list[int]
    unit: str
    isStacked: bool
    isDaily: bool
    series: list[DrawnCurve]


@dataclass(frozen=True)
class Curve:
    """A curve of a chart: null values are gaps.

    `kind` is line, area, bars (of a day), limit (dashed) or forecast (pale bars). `note` replaces
    the last value in the legend, as the sum of bars.
    """

    label: Message | str
    values: Values
    colour: str = COLOURS[0]
    kind: str = "line"
    note: str | None = None

    def as_dict(self, places: Iterable[int | None]) -> DrawnCurve:
        is_text = isinstance(self.label, Message)
        return {
            "label": translated(self.label) if is_text else self.label,
            "values": [None if at is None else self.values[at] for at in places],
            "colour": self.colour,
            "kind": self.kind,
            "note": self.note,
        }


# As in static/js/charts/curves.js: train and validation of a metric share a chart
_SPLIT = re.compile(r"^(train|training|val|valid|validation|eval|test)[/_.](?=.)")


def expected_charts(names: Iterable[str], most: int | None = None, runs: int = 1) -> list[range]:
    """Return the charts that these metrics of `runs` will have, each as a range over its legend.

    For `expected` of `<c-chart>` and `<c-charts>`; `most` is how many are shown.
    """
    curves = Counter(_SPLIT.sub("", name) for name in names)
    return [range(n * runs if n * runs > 1 else 0) for n in curves.values()][:most]


def chart_of(
    times: Sequence[int],
    *curves: Curve,
    unit: str = "",
    is_stacked: bool = False,
    is_daily: bool = False,
    step: int = 0,
) -> Chart:
    """Return what a chart draws; `times` are Unix seconds.

    Nothing later than now is shown but a forecast. With `is_stacked`, areas and bars are parts of a
    whole, and lines and limits are drawn above them. Times further apart than `step` are a gap.
    """
    is_forecast = any(curve.kind == "forecast" for curve in curves)
    now = clock.now().timestamp()
    shown: list[int] = []
    places: list[int | None] = []
    for at, second in enumerate(times):
        if second > now and not is_forecast:
            break
        if step and shown and second - shown[-1] > step:
            shown.append(shown[-1] + step)
            places.append(None)
        shown.append(second)
        places.append(at)
    return {
        "times": shown,
        "unit": unit,
        "isStacked": is_stacked,
        "isDaily": is_daily,
        "series": [curve.as_dict(places) for curve in curves],
    }
