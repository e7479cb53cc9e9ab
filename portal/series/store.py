"""Write and compact series with a fixed number of statements, however many there are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from math import isfinite, isnan, nan
from statistics import fmean
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet

from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, QuotaExceeded
from portal.core.messages import Message
from portal.series.models import LABELS, Chunk, LatestBatch, Series
from portal.series.points import NO_STEP, RAW, Point, Row, coarse, encode, merged, pack, unpack

# Points from which a chunk is not appended to any more.
OPEN = 256
# Points of a chunk made by compaction.
FULL = 8192
COUNTS = ("count", "code")  # units of series whose peaks matter
MOST_CURVES = 10_000  # per owner
_IDLE_MS = 3_600_000
# Attempts to create series while others prune or create the same.
_ATTEMPTS = 10
_Name = tuple[str, str]
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


@dataclass
class _Part:
    """The new rows of one series, in order and each once."""

    name: str
    labels: str
    rows: list[Row]

    @property
    def is_long(self) -> bool:
        """Return whether it becomes a chunk of its own."""
        return len(self.rows) >= OPEN

    @cached_property
    def times(self) -> tuple[int, int]:
        at = [row[1] for row in self.rows]
        return min(at), max(at)


def append(owner: str, points: Sequence[Point], *, org_id: UUID | None) -> None:
    """Store points of one owner, all or nothing. Idempotent: points already stored are ignored.

    Raises InvalidInput (labels too long), QuotaExceeded (too many series) and Conflict (series of
    another organization).
    """
    rows: dict[_Name, list[Row]] = defaultdict(list)
    units: dict[_Name, str] = {}
    texts: dict[int, str] = {}  # by identity: points of one measurement share their labels
    for p in points:
        if (labels := texts.get(id(p.labels))) is None:
            labels = texts[id(p.labels)] = canonical(p.labels) if p.labels else "{}"
        name = (p.name, labels)
        rows[name].append((NO_STEP if p.step is None else p.step, p.at_ms, float(p.value)))
        units[name] = p.unit
    if not rows:
        return
    parts = [_Part(*name, merged(new)) for name, new in rows.items()]
    if connection.vendor == "postgresql" and _append_at_once(owner, parts):
        return
    with transaction.atomic():
        series = ensure_series(owner, units, org_id)
        if connection.vendor == "postgresql":
            _append_at_once(owner, parts)
        else:
            _append_to_locked(series, parts)


# Nothing is written unless all series exist. They are locked by id, as everywhere.
_APPEND = f"""
WITH part AS (
  SELECT name, labels, count, is_open, start_ms, end_ms, step, at, value,
    substring(%s::bytea FROM data_from FOR data_for) AS data,
    CASE WHEN coarse_for > 0 THEN substring(%s::bytea FROM coarse_from FOR coarse_for) END AS coarse
  FROM unnest(
    %s::text[], %s::text[], %s::int[], %s::bool[], %s::bigint[], %s::bigint[], %s::bigint[],
    %s::bigint[], %s::float8[], %s::int[], %s::int[], %s::int[], %s::int[]
  ) AS t(name, labels, count, is_open, start_ms, end_ms, step, at, value, data_from, data_for,
    coarse_from, coarse_for)
), known AS MATERIALIZED (
  SELECT s.id AS series_id, part.* FROM part CROSS JOIN LATERAL (
    SELECT id FROM series_series WHERE owner = %s AND name = part.name AND labels = part.labels
    OFFSET 0  -- a look-up for each, and no join with all series of the owner
  ) s
), found AS MATERIALIZED (
  SELECT s.id, known.* FROM known JOIN series_series s ON s.id = known.series_id
  ORDER BY s.id FOR NO KEY UPDATE OF s
), ready AS MATERIALIZED (
  SELECT * FROM found WHERE (SELECT count(*) FROM found) = (SELECT count(*) FROM part)
), latest AS (
  UPDATE series_series s SET
    last_at = ready.at,
    last_step = nullif(ready.step, {NO_STEP}),
    last_value = CASE WHEN ready.value NOT IN ('NaN', 'Infinity', '-Infinity') THEN ready.value END,
    last_special = CASE WHEN ready.value IN ('NaN', 'Infinity', '-Infinity') THEN ready.value::text
      ELSE '' END
  FROM ready
  WHERE s.id = ready.id AND (
    (ready.step, ready.at) > (coalesce(s.last_step, {NO_STEP}), s.last_at)
    OR (ready.step, ready.at) = (coalesce(s.last_step, {NO_STEP}), s.last_at) AND (
      s.last_special = 'NaN' OR s.last_value IS NULL AND s.last_special = ''
      OR ready.value <> 'NaN' AND ready.value >= coalesce(
        s.last_value, nullif(s.last_special, '')::float8)
    )
  )
), stored AS (
  INSERT INTO series_chunk AS c (series_id, start_ms, end_ms, count, is_open, data, coarse)
  SELECT id, start_ms, end_ms, count, is_open, data, coarse FROM ready
  ON CONFLICT (series_id) WHERE is_open DO UPDATE SET
    start_ms = least(c.start_ms, excluded.start_ms),
    end_ms = greatest(c.end_ms, excluded.end_ms),
    count = c.count + excluded.count,
    is_open = c.count + excluded.count < {OPEN},
    data = c.data || substring(excluded.data FROM {len(RAW) + 1})
)
SELECT count(*) FROM ready"""  # noqa: S608  (numbers of this module)


def _append_at_once(owner: str, parts: Sequence[_Part]) -> bool:
    """Append in one statement; return False, with nothing written, if a series is missing."""
    chunks = [_new_chunk(part) for part in parts]
    data = [bytes(chunk.data) for chunk in chunks]
    thin = [b"" if chunk.coarse is None else bytes(chunk.coarse) for chunk in chunks]
    last = [part.rows[-1] for part in parts]
    with connection.cursor() as cursor:
        cursor.execute(
            _APPEND,
            [
                b"".join(data),
                b"".join(thin),
                [part.name for part in parts],
                [part.labels for part in parts],
                [chunk.count for chunk in chunks],
                [chunk.is_open for chunk in chunks],
                [chunk.start_ms for chunk in chunks],
                [chunk.end_ms for chunk in chunks],
                [row[0] for row in last],
                [row[1] for row in last],
                [row[2] for row in last],
                *_slices(data),
                *_slices(thin),
                owner,
            ],
        )
        return bool(cursor.fetchone()[0])


def _slices(pieces: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """Return where each of the joined pieces begins, from 1, and its length."""
    lengths = [len(piece) for piece in pieces]
    return [1 + end - n for end, n in zip(accumulate(lengths), lengths, strict=True)], lengths


def _append_to_locked(series: Mapping[_Name, Series], parts: Sequence[_Part]) -> None:
    """Append to locked series, for databases without PostgreSQL's arrays."""
    heads = {c.series_id: c for c in Chunk.objects.filter(series__in=series.values(), is_open=True)}
    fresh: list[Chunk] = []
    for part in parts:
        row, chunk = series[part.name, part.labels], _new_chunk(part)
        head = heads.get(row.pk) if chunk.is_open else None
        if head is None:
            chunk.series = row
            fresh.append(chunk)
        else:
            head.start_ms = min(head.start_ms, chunk.start_ms)
            head.end_ms = max(head.end_ms, chunk.end_ms)
            head.count += chunk.count
            head.is_open = head.count < OPEN
            head.data = bytes(head.data) + chunk.data[len(RAW) :]
        _set_last(row, part.rows[-1])
    Chunk.objects.bulk_create(fresh)
    update_rows(Chunk, heads.values(), ["start_ms", "end_ms", "count", "is_open", "data"])
    update_rows(Series, series.values(), ["last_at", "last_value", "last_special", "last_step"])


def update_rows(model: type[Model], rows: Collection[Any], fields: Sequence[str]) -> None:
    """Update rows in one statement; `bulk_update` builds a CASE tree, which takes ten times as long."""
    model._default_manager.bulk_create(
        rows, update_conflicts=True, unique_fields=["id"], update_fields=fields
    )


def _new_chunk(part: _Part) -> Chunk:
    """Return the rows as a chunk that is packed if it is long, and else open and raw."""
    if part.is_long:
        return _packed(Chunk(), part.rows)
    start, end = part.times
    return Chunk(start_ms=start, end_ms=end, count=len(part.rows), data=RAW + encode(part.rows))


def canonical(labels: Mapping[str, str]) -> str:
    """Return labels as canonical JSON, which identifies a series. Raises InvalidInput."""
    text = json.dumps(labels, sort_keys=True, separators=(",", ":"))
    if len(text) > LABELS:
        raise InvalidInput.at(
            "labels",
            f"are {len(text)} characters as JSON; {LABELS} are allowed, in which a character "
            "outside ASCII counts as six",
        )
    return text


def packed_chunks(series_id: int, rows: list[Row], step_ms: int = 0) -> list[Chunk]:
    """Return rows as packed chunks, which are not stored yet."""
    return [
        _packed(Chunk(series_id=series_id, step_ms=step_ms), rows[at : at + FULL])
        for at in range(0, len(rows), FULL)
    ]


def downsample(
    before_ms: int, step_ms: int, *, prefix: str, most: int = 500, wait_ms: int = 86_400_000
) -> int:
    """Replace points before a time by one per period, the mean; of counts the highest.

    Of owners that begin with `prefix`, for series that have `wait_ms` of such points. The point is
    in the middle of its period. Returns the number of series; at most `most`.
    """
    due = Chunk.objects.filter(
        step_ms=0, end_ms__lt=before_ms - wait_ms, series__owner__startswith=prefix
    )
    found = list(due.order_by().values_list("series_id", flat=True).distinct()[:most])
    for series_id in found:
        _downsample(series_id, before_ms, step_ms)
    return len(found)


@transaction.atomic
def _downsample(series_id: int, before_ms: int, step_ms: int) -> None:
    series = Series.objects.select_for_update().filter(id=series_id).first()
    chunks = list(
        Chunk.objects.select_for_update()
        .filter(series_id=series_id, step_ms=0, end_ms__lt=before_ms)
        .order_by("id")
    )
    rows = merged(*(unpack(bytes(c.data)) for c in chunks))
    is_count = series is not None and series.unit in COUNTS
    periods: dict[int, list[float]] = defaultdict(list)
    for step, at, value in rows:
        if step == NO_STEP and isfinite(value):
            periods[at - at % step_ms].append(value)
    made = [
        (NO_STEP, at + step_ms // 2, max(values) if is_count else fmean(values))
        for at, values in sorted(periods.items())
    ]
    Chunk.objects.filter(id__in=[c.pk for c in chunks]).delete()
    # By the calendar, so that a chunk does not keep points that are due to be deleted.
    for _, some in groupby(made, key=lambda row: row[1] // (FULL * step_ms)):
        Chunk.objects.bulk_create(packed_chunks(series_id, list(some), step_ms))


def prune(before_ms: int, *, kept: Sequence[str] = ()) -> int:
    """Delete chunks that end before, and empty series; return the number of chunks.

    Series of owners that begin with one of `kept` stay.
    """
    chunks = Chunk.objects.filter(end_ms__lt=before_ms)
    rows = Series.objects.filter(
        ~Exists(Chunk.objects.filter(series=OuterRef("pk"))), last_at__lt=before_ms
    )
    for start in kept:
        chunks = chunks.exclude(series__owner__startswith=start)
        rows = rows.exclude(owner__startswith=start)
    LatestBatch.objects.filter(at_ms__lt=before_ms).delete()
    dropped = _drop(chunks)
    _drop(rows)
    return dropped


def _drop(doomed: QuerySet[Any]) -> int:
    """Delete in batches, locking rows by id as everywhere.

    Rows locked by others are left for the next run.
    """
    dropped, model = 0, doomed.model
    while True:
        with transaction.atomic():
            ids = list(
                doomed.select_for_update(skip_locked=True, of=("self",))
                .order_by("id")
                .values_list("id", flat=True)[:1000]
            )
            model._default_manager.filter(id__in=ids).delete()
        dropped += len(ids)
        if len(ids) < 1000:
            return dropped


def compact(most: int = 200) -> int:
    """Pack raw chunks, and merge small ones where there are many; return the number of series.

    A chunk that is still open is packed if its last point is an hour old and that saves space.
    """
    idle = Q(is_open=True, count__gte=OPEN // 4, end_ms__lt=clock.now_ms() - _IDLE_MS)
    raw = Chunk.objects.filter(idle | Q(is_open=False), coarse=None)
    found = list(raw.order_by().values_list("series_id", flat=True).distinct()[:most])
    for series_id in found:
        _merge(series_id, idle | Q(is_open=False), coarse=None)
    small = {"is_open": False, "count__lt": FULL // 2}
    crowded = (
        Chunk.objects.filter(**small)
        .values_list("series_id", "step_ms")
        .annotate(n=Count("id"))
        .filter(n__gte=FULL // OPEN)
        .order_by("-n")[:most]
    )
    for series_id, step_ms, _n in crowded:
        _merge(series_id, **small, step_ms=step_ms)
    return len({*found, *(series_id for series_id, *_ in crowded)})


@transaction.atomic
def _merge(series_id: int, *which: Q, **more: Any) -> None:
    """Replace these chunks of a series by large ones; at most 32 at a time, the oldest first."""
    Series.objects.select_for_update().filter(id=series_id).first()
    chunks = list(
        Chunk.objects.select_for_update()
        .filter(*which, series_id=series_id, **more)
        .order_by("id")[: FULL // OPEN]
    )
    rows = merged(*(unpack(bytes(c.data)) for c in chunks))
    step_ms = chunks[0].step_ms if chunks else 0
    Chunk.objects.filter(id__in=[c.pk for c in chunks]).delete()
    Chunk.objects.bulk_create(packed_chunks(series_id, rows, step_ms))


def ensure_series(
    owner: str, units: Mapping[_Name, str], org_id: UUID | None
) -> dict[_Name, Series]:
    """Return these series, locked, and created if missing."""
    for _ in range(_ATTEMPTS):
        found = _locked(owner, units)
        if not (missing := units.keys() - found.keys()):
            return found
        _check_series_limit(owner, len(missing))
        Series.objects.bulk_create(
            [
                Series(
                    owner=owner, name=name, labels=labels, unit=units[name, labels], org_id=org_id
                )
                for name, labels in sorted(missing)
            ],
            ignore_conflicts=True,
        )
    raise Conflict(Message("These series already exist and belong to another organization."))


def _locked(owner: str, wanted: Collection[_Name]) -> dict[_Name, Series]:
    rows = Series.objects.filter(
        owner=owner,
        name__in={name for name, _ in wanted},
        labels__in={labels for _, labels in wanted},
    )
    return {
        (s.name, s.labels): s
        for s in rows.select_for_update().order_by("id")
        if (s.name, s.labels) in wanted
    }


def _check_series_limit(owner: str, more: int) -> None:
    known = Series.objects.filter(owner=owner).count()
    if known + more > MOST_CURVES:
        raise QuotaExceeded(
            Message(
                "There are already {known} series here; {more} more would exceed the limit of "
                "{MOST_CURVES}. A name or label that changes each time (a step, a process, a "
                "file) creates a new series.",
                known=f"{known:,}",
                more=f"{more:,}",
                MOST_CURVES=f"{MOST_CURVES:,}",
            )
        )


def _packed(chunk: Chunk, rows: list[Row]) -> Chunk:
    times = [row[1] for row in rows]
    chunk.start_ms, chunk.end_ms = min(times), max(times)
    chunk.count, chunk.data, chunk.is_open = len(rows), pack(rows), False
    chunk.coarse = pack(coarse(rows, max(24, len(rows) // 64)))
    return chunk


def _set_last(series: Series, row: Row) -> None:
    """Update the last point: the greatest by step, time and value. NaN is less than all numbers."""
    step, at, value = row
    last = NO_STEP if series.last_step is None else series.last_step
    known = float(series.last_special or (nan if series.last_value is None else series.last_value))
    if (step, at) > (last, series.last_at) or (
        (step, at) == (last, series.last_at) and (isnan(known) or value >= known)
    ):
        is_finite = isfinite(value)
        series.last_at, series.last_value = at, value if is_finite else None
        series.last_special = "" if is_finite else _SPECIAL[str(value)]
        series.last_step = None if step == NO_STEP else step
