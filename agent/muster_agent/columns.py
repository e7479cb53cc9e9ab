"""Combine batches of several moments into one, with one column per series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from muster_agent.sample import Json


def combined(bodies: Sequence[Json]) -> Json:
    """Return one batch with the `times` and `columns` of all; the rest is that of the last."""
    times = [body["at"] for body in bodies]
    columns: dict[tuple[Any, ...], list[Any]] = {}
    for row, body in enumerate(bodies):
        for sample in body["samples"]:
            key = (sample["name"], *sorted(sample["labels"].items()))
            if key not in columns:
                empty = [None] * len(times)
                columns[key] = [sample["name"], sample["labels"], sample["unit"], empty]
            columns[key][3][row] = sample["value"]
    jobs: dict[str, list[Json]] = {}
    for body in bodies:
        for job in body["jobs"]:
            jobs.setdefault(job["key"], []).extend(
                sample | {"at": body["at"]} for sample in job["samples"]
            )
    return {
        **{key: value for key, value in bodies[-1].items() if key != "samples"},
        "times": times,
        "columns": list(columns.values()),
        "jobs": [{"key": key, "samples": samples} for key, samples in jobs.items()],
        "events": [event for body in bodies for event in body["events"]],
    }
