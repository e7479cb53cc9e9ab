"""Samples and events that the agent reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


# What a sensor can measure, by unit, with room: a ratio may be a rounding error off its ends. A value
# beyond it comes from a broken counter or a forged report. Other units have the last limit alone.
MOST = 1e18  # an exabyte
LIMITS = {
    "ratio": (-0.001, 1.5),
    "W": (0.0, 1e5),
    "degC": (-60.0, 250.0),
    "Hz": (0.0, 1e11),
    "cores": (-0.001, 1e5),
    "code": (0.0, 1e6),
    "bytes": (0.0, MOST),
    "bytes/s": (0.0, 1e15),
    "1/s": (0.0, 1e15),
    "count": (0.0, MOST),
    "s": (0.0, 1e11),
}


def is_possible(value: float, unit: str) -> bool:
    """Return whether a sensor can have measured this value."""
    low, high = LIMITS.get(unit, (-MOST, MOST))
    return low <= value <= high


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured value. `unit` is ratio (0..1), bytes, bytes/s, cores, W, degC, Hz, count or s.

    A number that could not be measured is no Sample at all: a gap is a gap, never zero. One that is
    not possible is left out of batches, because the portal does not store it.
    """

    name: str
    value: float
    unit: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> Json:
        return {
            "name": self.name,
            "labels": dict(self.labels),
            "value": self.value,
            "unit": self.unit,
        }


@dataclass(frozen=True, slots=True)
class Event:
    """A GPU event. `at` is in Unix ms; `detail` is merged into the JSON object."""

    kind: str
    at: int
    gpu: int | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> Json:
        return {"kind": self.kind, "gpu": self.gpu, "at": self.at, **self.detail}
