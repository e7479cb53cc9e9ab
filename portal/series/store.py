"""Writing and reading curves, a handful of queries for any number of series."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Max, Q

from portal.series.models import Chunk, Series
from portal.series.points import NO_STEP, Point, Row, SeriesData, broken, columns, gap_of, merged, pack, thinned, unpack

OPEN = 256          # points of a chunk that is still rewritten at each append
FULL = 8192         # points of a chunk that compaction makes
_Name = tuple[str, str]


@transaction.atomic
def append(owner: str, points: Sequence[Point], *, org_id: UUID | None) -> None:
    """Store points of one owner; those that are there already add nothing, so a batch may be sent again."""
    rows: dict[_Name, list[Row]] = defaultdict(list)
    units: dict[_Name, str] = {}
    for p in points:
        name = (p.name, json.dumps(p.labels, sort_keys=True, separators=(",", ":")))
        rows[name].append((NO_STEP if p.step is None else p.step, p.at_ms, float(p.value)))
        units[name] = p.unit
    if not rows:
        return
    series = _series(owner, rows, units, org_id)
    heads = {c.series_id: c for c in Chunk.objects.select_for_update().filter(series__in=series.values(), is_open=True)}
    fresh: list[Chunk] = []
    grown: list[Chunk] = []
    for name, new in rows.items():
        row = series[name]
        head = heads.get(row.pk)
        all_rows = merged(unpack(bytes(head.data), head.count) if head else (), new)
        (grown if head else fresh).append(_fill(head or Chunk(series=row), all_rows))
        _set_last(row, all_rows)
    Chunk.objects.bulk_create(fresh)
    _write_chunks(grown)
    Series.objects.bulk_update(series.values(), ["last_at", "last_value", "last_step"], batch_size=100)


def query(owner: str, *, names: Sequence[str] | None = None, start_ms: int | None = None, end_ms: int | None = None,
          max_points: int = 600, gap_ms: int | None = None) -> list[SeriesData]:
    """The owner's curves between two times, thinned so that extremes survive, with None where there is a gap."""
    wanted = Series.objects.filter(owner=owner).order_by("name", "labels")
    if names is not None:
        wanted = wanted.filter(name__in=names)
    series = list(wanted)
    chunks = Chunk.objects.filter(series__in=series)
    chunks = chunks.filter(end_ms__gte=start_ms) if start_ms is not None else chunks
    chunks = chunks.filter(start_ms__lte=end_ms) if end_ms is not None else chunks
    parts: dict[int, list[list[Row]]] = defaultdict(list)
    for chunk in chunks:
        parts[chunk.series_id].append(unpack(bytes(chunk.data), chunk.count))
    return [_data(row, _between(merged(*parts[row.pk]), start_ms, end_ms), max_points, gap_ms) for row in series if parts[row.pk]]


def latest(owner: str) -> dict[str, dict[str, Any]]:
    """The last point of each curve, by `name{label=value}`."""
    return latest_of([owner])[owner]


def latest_of(owners: Sequence[str]) -> dict[str, dict[str, dict[str, Any]]]:
    """The same for many owners in one query, by owner; empty for those without curves."""
    found: dict[str, dict[str, dict[str, Any]]] = {owner: {} for owner in owners}
    for row in Series.objects.filter(owner__in=found).order_by("name", "labels"):
        labels = json.loads(row.labels)
        inner = ",".join(f"{k}={v}" for k, v in sorted(labels.items()))
        found[row.owner][f"{row.name}{{{inner}}}" if inner else row.name] = {
            "name": row.name, "labels": labels, "unit": row.unit, "at": row.last_at, "value": row.last_value}
    return found


def prune(before_ms: int) -> int:
    """Drop chunks that end before; how many."""
    return Chunk.objects.filter(end_ms__lt=before_ms).delete()[0]


def compact(most: int = 200) -> int:
    """Merge the small closed chunks of the series that have most of them; how many series were done."""
    crowded = (Chunk.objects.filter(is_open=False, count__lt=FULL // 2).values("series_id")
               .annotate(n=Count("id"), last=Max("id")).filter(n__gte=FULL // OPEN).order_by("-n")[:most])
    for entry in crowded:
        _merge(entry["series_id"])
    return len(crowded)


@transaction.atomic
def _merge(series_id: int) -> None:
    small = list(Chunk.objects.select_for_update().filter(
        series_id=series_id, is_open=False, count__lt=FULL // 2).order_by("start_ms")[:FULL // OPEN])
    rows = merged(*(unpack(bytes(c.data), c.count) for c in small))
    made = [_fill(Chunk(series_id=series_id), rows[at:at + FULL]) for at in range(0, len(rows), FULL)]
    for chunk in made:
        chunk.is_open = False
    Chunk.objects.filter(id__in=[c.pk for c in small]).delete()
    Chunk.objects.bulk_create(made)


def _series(owner: str, rows: Iterable[_Name], units: dict[_Name, str], org_id: UUID | None) -> dict[_Name, Series]:
    """The rows of these curves, made where missing."""
    wanted = set(rows)

    def known() -> dict[_Name, Series]:
        any_of = Q(name__in={name for name, _ in wanted})
        return {(s.name, s.labels): s for s in Series.objects.filter(any_of, owner=owner) if (s.name, s.labels) in wanted}

    found = known()
    if missing := wanted - found.keys():
        Series.objects.bulk_create([Series(owner=owner, name=name, labels=labels, unit=units[name, labels], org_id=org_id)
                                    for name, labels in sorted(missing)], ignore_conflicts=True)
        found = known()
    return found


def _fill(chunk: Chunk, rows: list[Row]) -> Chunk:
    chunk.start_ms, chunk.end_ms = min(r[1] for r in rows), max(r[1] for r in rows)
    chunk.count, chunk.data, chunk.is_open = len(rows), pack(rows), len(rows) < OPEN
    return chunk


def _write_chunks(chunks: Sequence[Chunk]) -> None:
    sql = "UPDATE series_chunk SET start_ms=%s, end_ms=%s, count=%s, data=%s, is_open=%s WHERE id=%s"
    with connection.cursor() as cursor:
        cursor.executemany(sql, [(c.start_ms, c.end_ms, c.count, bytes(c.data), c.is_open, c.pk) for c in chunks])


def _set_last(series: Series, rows: list[Row]) -> None:
    step, at, value = rows[-1]
    if at >= series.last_at:
        series.last_at, series.last_value = at, value if isfinite(value) else None
        series.last_step = None if step == NO_STEP else step


def _between(rows: list[Row], start_ms: int | None, end_ms: int | None) -> list[Row]:
    return [r for r in rows if (start_ms is None or r[1] >= start_ms) and (end_ms is None or r[1] <= end_ms)]


def _data(series: Series, rows: list[Row], most: int, gap_ms: int | None) -> SeriesData:
    """Gaps are found before thinning, which widens the spacing."""
    parts = broken(rows, gap_ms or gap_of(rows))
    thin = [thinned(part, max(most * len(part) // len(rows), 2)) for part in parts]
    times, values, steps = columns(thin)
    return SeriesData(series.name, json.loads(series.labels), series.unit, times, values, steps)
