"""Query series with a fixed number of statements, however many there are.

Long time ranges are read from coarse rows: the cost depends on the points drawn, not on those
stored.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan
from statistics import median
from typing import Any

from django.db.models import Case, Count, F, Max, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce

from portal.series.batches import last_batch_values, latest_in_batches, latest_values, rows_between
from portal.series.models import Batch, Chunk, Series
from portal.series.points import (
    NO_STEP,
    Row,
    SeriesData,
    columns,
    fitted,
    gap_after,
    gap_of,
    merged,
    series_key,
    split,
    split_at_gaps,
    unpack,
)
from portal.series.store import canonical

# A series of at most this many times `max_points` points is read in full,
EXACT = 8
LEAST = 4096  # and so is one of at most this many points
# All series of a query share these, so that no query holds the interpreter for long.
MOST_POINTS = 100_000  # points that are returned
MOST_READ = 400_000  # points that are read in full
FEWEST = 10  # points of a series, however many there are


@dataclass(frozen=True)
class _ChunkRows:
    """A chunk as read: its time range (Unix ms), number of points, and some or all of its rows."""

    start: int
    end: int
    count: int
    rows: list[Row]


def query(
    owner: str,
    *,
    names: Sequence[str] | None = None,
    labels: Sequence[Mapping[str, str]] | None = None,
    start_ms: int | None = None,
    end_ms: int | None = None,
    max_points: int = 600,
    gap_ms: int | None = None,
) -> list[SeriesData]:
    """Return an owner's series between two times, thinned to `max_points`, keeping extremes.

    All series together have at most about MOST_POINTS.
    `labels` lists the exact sets of labels wanted; the default is all.
    Gaps are marked by None. A pause longer than `gap_ms` is a gap (all points are then read); the
    default is three times the usual spacing.
    """
    wanted = Series.objects.filter(owner=owner).order_by("name", "labels")
    if names is not None:
        wanted = wanted.filter(name__in=names)
    if labels is not None:
        wanted = wanted.filter(labels__in=[canonical(some) for some in labels])
    series = list(wanted)
    count = max(len(series), 1)
    max_points = max(min(max_points, MOST_POINTS // count), FEWEST)
    exact = min(max(EXACT * max_points, LEAST), max(MOST_READ // count, max_points))
    # First: a concurrent compaction moves their points into chunks, and none is missed
    batched = rows_between([owner], {row.pk for row in series}, start_ms, end_ms)
    chunks = Chunk.objects.filter(series__in=series)
    chunks = chunks.filter(end_ms__gte=start_ms) if start_ms is not None else chunks
    chunks = chunks.filter(start_ms__lte=end_ms) if end_ms is not None else chunks
    counts = dict(chunks.order_by().values_list("series_id").annotate(n=Sum("count")))
    long = {pk for pk, n in counts.items() if gap_ms is None and n > exact}
    rows = _read_exact(chunks.exclude(series__in=long), start_ms, end_ms)
    coarse = _read_coarse(chunks.filter(series__in=long), start_ms, end_ms) if long else {}
    for pk, more in batched.items():
        if pk in long and more:
            part = _ChunkRows(more[0][1], more[-1][1], len(more), more)
            coarse.setdefault(pk, []).append(part)
        elif more:
            rows[pk] = merged(rows.get(pk, []), more)
    # Find gaps before thinning, which widens the spacing.
    drawn = {pk: split_at_gaps(found, gap_ms or gap_of(found)) for pk, found in rows.items()}
    drawn |= {pk: split(_with_gaps(found)) for pk, found in coarse.items()}
    return [_data(row, fitted(drawn[row.pk], max_points)) for row in series if row.pk in drawn]


def labels_with(owner: str, name: str, value: str) -> list[dict[str, str]]:
    """Return the sets of labels of an owner's series in which a label has this value."""
    rows = Series.objects.filter(owner=owner).order_by().values_list("labels", flat=True).distinct()
    found = (json.loads(text) for text in rows)
    return [labels for labels in found if labels.get(name) == value]


def names(owner: str, most: int) -> list[str]:
    """Return the first names of an owner's series, in alphabetical order."""
    rows = Series.objects.filter(owner=owner).order_by("name").values_list("name", flat=True)
    return list(rows.distinct()[:most])


def history(owner: str, name: str, most: int | None = None) -> list[Row]:
    """Return all points of the series of this name without labels, by step, time and value.

    A series of more than `most` points is read from coarse rows, which keep extremes.
    """
    rows = Chunk.objects.filter(series__owner=owner, series__name=name, series__labels="{}")
    rows = rows.order_by("start_ms")  # mostly the order of the points, which then need no sorting
    column: F | Coalesce = F("data")
    if most is not None and (rows.aggregate(n=Sum("count"))["n"] or 0) > most:
        column = Coalesce("coarse", "data")
    return merged(*(unpack(bytes(data)) for data in rows.values_list(column, flat=True)))


def latest(owner: str) -> dict[str, dict[str, Any]]:
    """Return the last point of each series, by `name{label=value}`."""
    return latest_of([owner])[owner]


def latest_of(
    owners: Sequence[str], names: Collection[str] | None = None
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the last points of many owners in two queries, by owner; `names` limits the series."""
    found: dict[str, dict[str, dict[str, Any]]] = {owner: {} for owner in owners}
    rows = Series.objects.filter(owner__in=found).order_by("name", "labels")
    rows = rows if names is None else rows.filter(name__in=names)
    for owner, name, text, unit, at, value in rows.values_list(
        "owner", "name", "labels", "unit", "last_at", "last_value"
    ):
        key, labels = _key_of(name, text)
        found[owner][key] = {
            "name": name,
            "labels": labels,
            "unit": unit,
            "at": at,
            "value": value,
        }
    for owner, newest in latest_in_batches(found, names).items():
        for key, point in newest.items():
            known = found[owner].get(key)
            if known is None or known["at"] <= point["at"]:
                found[owner][key] = point
    return found


@lru_cache(maxsize=8192)  # the series of equal machines have the same names
def _key_of(name: str, text: str) -> tuple[str, dict[str, str]]:
    labels = json.loads(text)
    return series_key(name, labels), labels


def latest_sums(
    prefix: str, names: Collection[str], since_ms: int
) -> dict[str, dict[str, tuple[int, float, float]]]:
    """Return number, sum and maximum of the last values since a time, by owner and name.

    Of owners that begin with `prefix`. Two statements; the database adds up what is not in batches.
    """
    rows = Series.objects.filter(
        owner__startswith=prefix,
        name__in=names,
        last_at__gte=since_ms,
        last_value__isnull=False,
    )
    found: dict[str, dict[str, tuple[int, float, float]]] = defaultdict(dict)
    sums = rows.order_by().values_list("owner", "name")
    for owner, name, n, total, most in sums.annotate(
        n=Count("id"), total=Sum("last_value"), most=Max("last_value")
    ):
        found[owner][name] = (n, total, most)
    in_batches: dict[tuple[str, str], list[float]] = defaultdict(list)
    for owner, name, value in latest_values(prefix, names, since_ms):
        in_batches[owner, name].append(value)
    for (owner, name), values in in_batches.items():
        found[owner][name] = (len(values), sum(values), max(values))
    return found


def latest_times(owners: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """Return the time of the latest point (Unix ms) of any of these series, by owner."""
    rows = Series.objects.filter(owner__in=owners, name__in=names).order_by()
    found = dict(rows.values_list("owner").annotate(Max("last_at")))
    for owner, at, name, _labels, _value in last_batch_values(owners):
        if name in names:
            found[owner] = max(found.get(owner, 0), at)
    return found


def latest_at_least(
    owners: Sequence[str], least: Mapping[str, float], since_ms: int
) -> list[tuple[str, str, dict[str, str], float]]:
    """Return owner, name, labels and value of last points that reach the value of their name.

    Older points than `since_ms` are left out. Two statements, whatever the number of owners.
    """
    if not owners or not least:
        return []
    reached = Q()
    for name, value in least.items():
        reached |= Q(name=name, last_value__gte=value)
    rows = Series.objects.filter(
        reached, owner__in=owners, name__in=list(least), last_at__gte=since_ms
    )
    found = {
        (owner, name, labels): (at, value or 0.0)
        for owner, name, labels, at, value in rows.order_by().values_list(
            "owner", "name", "labels", "last_at", "last_value"
        )
    }
    for owner, at, name, labels, value in last_batch_values(owners):
        if name not in least or at < since_ms:
            continue
        key = (owner, name, canonical(labels))
        if key not in found or found[key][0] <= at:
            found[key] = (at, value)
    return [
        (owner, name, json.loads(labels), value)
        for (owner, name, labels), (_at, value) in found.items()
        if value >= least[name]
    ]


def last_step(owner: str) -> int | None:
    """Return the highest step of an owner's last points; None if they have no steps."""
    rows = Series.objects.filter(owner=owner)
    return rows.aggregate(step=Max("last_step"))["step"]  # type: ignore[no-any-return]


Sums = dict[int, tuple[float, int]]  # start of a period (Unix ms) -> sum and number of points


def sums_by_period(
    owners: Collection[str], name: str, *, start_ms: int, end_ms: int, period_ms: int
) -> dict[str, dict[str, Sums]]:
    """Add up the points of each series of this name by period, by owner and labels (JSON).

    Periods begin at multiples of `period_ms`. Two statements, with batches four. A series without points is left out.
    """
    rows = Chunk.objects.filter(
        series__owner__in=owners,
        series__name=name,
        series__last_at__gte=start_ms,
        end_ms__gte=start_ms,
        start_ms__lt=end_ms,
    )
    parts: dict[tuple[str, str], list[list[Row]]] = defaultdict(list)
    # Batches before chunks, as in `query`
    if Batch.objects.filter(owner__in=owners, end_ms__gte=start_ms, start_ms__lt=end_ms).exists():
        places = {
            pk: (owner, labels)
            for pk, owner, labels in Series.objects.filter(owner__in=owners, name=name).values_list(
                "id", "owner", "labels"
            )
        }
        for pk, more in rows_between(owners, places, start_ms, end_ms).items():
            parts[places[pk]].append(more)
    for owner, labels, data in rows.values_list("series__owner", "series__labels", "data"):
        parts[owner, labels].append(unpack(bytes(data)))
    found: dict[str, dict[str, Sums]] = defaultdict(dict)
    for (owner, labels), chunks in parts.items():
        # Several chunks may hold a point twice.
        points = chunks[0] if len(chunks) == 1 else merged(*chunks)
        if sums := _sums(points, start_ms, end_ms, period_ms):
            found[owner][labels] = sums
    return found


def _sums(points: Sequence[Row], start_ms: int, end_ms: int, period_ms: int) -> Sums:
    sums: Sums = {}
    for _step, at, value in points:
        if start_ms <= at < end_ms and not isnan(value):
            period = at - at % period_ms
            total, count = sums.get(period, (0.0, 0))
            sums[period] = (total + value, count + 1)
    return sums


def _read_exact(
    chunks: QuerySet[Chunk], start_ms: int | None, end_ms: int | None
) -> dict[int, list[Row]]:
    parts: dict[int, list[list[Row]]] = defaultdict(list)
    for series_id, data in chunks.values_list("series_id", "data"):
        parts[series_id].append(unpack(bytes(data)))
    return {pk: _between(merged(*some), start_ms, end_ms) for pk, some in parts.items()}


def _read_coarse(
    chunks: QuerySet[Chunk], start_ms: int | None, end_ms: int | None
) -> dict[int, list[_ChunkRows]]:
    """Return coarse rows of chunks inside the range, and all rows of the other chunks.

    Chunks at the ends of the range, and open ones, are read in full. Uses one statement, so that a
    concurrent compaction hides nothing.
    """
    at_edge = Q(coarse=None)
    at_edge |= Q(start_ms__lt=start_ms) if start_ms is not None else Q()
    at_edge |= Q(end_ms__gt=end_ms) if end_ms is not None else Q()
    found: dict[int, list[_ChunkRows]] = defaultdict(list)
    column = Case(When(at_edge, then=F("data")), default=F("coarse"))
    for pk, start, end, count, data in chunks.values_list(
        "series_id", "start_ms", "end_ms", "count", column
    ):
        found[pk].append(
            _ChunkRows(start, end, count, _between(unpack(bytes(data)), start_ms, end_ms))
        )
    return found


def _with_gaps(chunk_rows: Sequence[_ChunkRows]) -> list[Row]:
    """Merge the rows, with a NaN at each gap within and between chunks.

    Gaps that late points have filled are dropped.
    """
    rows = merged(*(s.rows for s in chunk_rows))
    if not rows or rows[0][0] != NO_STEP:
        return rows
    pause = max(3 * median((s.end - s.start) / max(s.count - 1, 1) for s in chunk_rows), 30_000)
    ordered = sorted(chunk_rows, key=lambda s: s.start)
    reach, between = ordered[0].end, []
    for chunk in ordered:
        if chunk.start - reach > pause:
            between.append(gap_after((NO_STEP, reach, 0.0)))
        reach = max(reach, chunk.end)
    rows = merged(rows, between)
    return (
        rows[:1]
        + [
            row
            for before, row, after in zip(rows, rows[1:], rows[2:], strict=False)
            if not isnan(row[2]) or after[1] - before[1] > pause
        ]
        + rows[1:][-1:]
    )


def _between(rows: list[Row], start_ms: int | None, end_ms: int | None) -> list[Row]:
    return [
        r
        for r in rows
        if (start_ms is None or r[1] >= start_ms) and (end_ms is None or r[1] <= end_ms)
    ]


def _data(series: Series, parts: Sequence[Sequence[Row]]) -> SeriesData:
    times, values, steps = columns(parts)
    return SeriesData(series.name, json.loads(series.labels), series.unit, times, values, steps)
