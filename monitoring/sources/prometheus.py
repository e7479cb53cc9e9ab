"""Read DCGM fields from the query API of a Prometheus.

Remote read would send the same samples in snappy-compressed protobuf: no maintained Python library
speaks it, and many hosted services offer only the query API. A range selector returns raw samples
with their own times, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from monitoring.sources.dcgm import FIELDS, READ, DcgmSample
from monitoring.sources.http import UNREADABLE, SourceUnavailable, Telemetry

STEP = 300  # seconds between two points of back-filled history


def recent(
    session: Telemetry, url: str, matchers: str, start_ms: int, end_ms: int
) -> Iterator[DcgmSample]:
    """Yield all samples after `start_ms` up to `end_ms`. Raises SourceUnavailable."""
    seconds = max((end_ms - start_ms + 999) // 1000, 1)
    for field in sorted(READ):
        query = f"{field}{{{matchers}}}[{seconds}s]"
        found = session.query(url, "/api/v1/query", query=query, time=end_ms / 1000)
        yield from _samples(field, found, start_ms + 1, end_ms)


def history(
    session: Telemetry, url: str, matchers: str, start_ms: int, end_ms: int
) -> Iterator[DcgmSample]:
    """Yield one point per `STEP`: the mean, of counters the highest. Raises SourceUnavailable."""
    for field in sorted(READ):
        is_counter = field not in FIELDS or FIELDS[field].is_counter
        function = "max_over_time" if is_counter else "avg_over_time"
        found = session.query(
            url,
            "/api/v1/query_range",
            query=f"{function}({field}{{{matchers}}}[{STEP}s])",
            start=start_ms / 1000,
            end=end_ms / 1000,
            step=STEP,
        )
        yield from _samples(field, found, start_ms, end_ms)


def _samples(
    field: str, found: list[dict[str, Any]], first_ms: int, last_ms: int
) -> Iterator[DcgmSample]:
    """Yield the samples of this time, of what an answer holds. Raises SourceUnavailable."""
    try:
        for one in found:
            labels = {str(k): str(v) for k, v in one.get("metric", {}).items()}
            for at, value in one.get("values", ()):
                at_ms = float(at) * 1000
                if first_ms <= at_ms <= last_ms:
                    yield DcgmSample(field, labels, round(at_ms), float(value))
    except (AttributeError, TypeError, ValueError) as error:
        raise SourceUnavailable(UNREADABLE) from error
