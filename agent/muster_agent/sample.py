"""Samples and events that the agent reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """One measured value. `unit` is ratio (0..1), bytes, bytes/s, cores, W, degC, Hz, count or s.

    A number that could not be measured is no Sample at all: a gap is a gap, never zero.
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
