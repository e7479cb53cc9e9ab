"""Write and compact series with a fixed number of statements, however many there are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from math import inf, isfinite
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Count, Exists, Max, OuterRef, QuerySet

from portal.core.errors import Conflict, InvalidInput, QuotaExceeded
from portal.core.messages import Message
from portal.series.models import LABELS, Chunk, Series
from portal.series.points import NO_STEP, Point, Row, coarse, merged, pack, unpack

# Points of a chunk that is still rewritten on each append.
OPEN = 256
# Points of a chunk made by compaction.
FULL = 8192
MOST_CURVES = 10_000  # per owner
# Attempts to create series while others prune or create the same.
_ATTEMPTS = 10
_Name = tuple[str, str]
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


@transaction.atomic
def append(owner: str, points: Sequence[Point], *, org_id: UUID | None) -> None:
    """Store points of one owner, all or nothing. Idempotent: points already stored are ignored.

    Raises InvalidInput (labels too long), QuotaExceeded (too many series) and Conflict (series of
    another organization).
    """
    rows: dict[_Name, list[Row]] = defaultdict(list)
    units: dict[_Name, str] = {}
    for p in points:
        name = (p.name, canonical(p.labels) if p.labels else "{}")
        rows[name].append((NO_STEP if p.step is None else p.step, p.at_ms, float(p.value)))
        units[name] = p.unit
    if not rows:
        return
    series = _series(owner, units, org_id)
    open_chunks = (
        Chunk.objects.select_for_update()
        .filter(series__in=series.values(), is_open=True)
        .order_by("id")
    )
    heads = {c.series_id: c for c in open_chunks}
    fresh: list[Chunk] = []
    grown: list[Chunk] = []
    for name, new in rows.items():
        row = series[name]
        head = heads.get(row.pk)
        all_rows = merged(unpack(bytes(head.data)) if head else (), new)
        (grown if head else fresh).append(
            _fill_chunk(head or Chunk(series=row), all_rows, is_open=len(all_rows) < OPEN)
        )
        _set_last(row, all_rows)
    Chunk.objects.bulk_create(fresh)
    _write_chunks(grown)
    # In one statement; `bulk_update` builds a CASE tree, which takes ten times as long
    Series.objects.bulk_create(
        series.values(),
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["last_at", "last_value", "last_special", "last_step"],
    )


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
    dropped = _drop(chunks)
    _drop(rows)
    return dropped


@transaction.atomic
def delete(owner: str) -> None:
    """Delete all series of an owner."""
    ids = list(
        Series.objects.select_for_update().filter(owner=owner).order_by("id").values_list("id")
    )
    Chunk.objects.filter(series__in=[pk for (pk,) in ids]).delete()
    Series.objects.filter(id__in=[pk for (pk,) in ids]).delete()


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
    """Merge small closed chunks of the series that have the most; return the number of series."""
    crowded = (
        Chunk.objects.filter(is_open=False, count__lt=FULL // 2)
        .values("series_id")
        .annotate(n=Count("id"), last=Max("id"))
        .filter(n__gte=FULL // OPEN)
        .order_by("-n")[:most]
    )
    for entry in crowded:
        _merge(entry["series_id"])
    return len(crowded)


@transaction.atomic
def _merge(series_id: int) -> None:
    Series.objects.select_for_update().get(id=series_id)
    small = list(
        Chunk.objects.select_for_update()
        .filter(series_id=series_id, is_open=False, count__lt=FULL // 2)
        .order_by("id")[: FULL // OPEN]
    )
    rows = merged(*(unpack(bytes(c.data)) for c in small))
    made = [
        _fill_chunk(Chunk(series_id=series_id), rows[at : at + FULL], is_open=False)
        for at in range(0, len(rows), FULL)
    ]
    Chunk.objects.filter(id__in=[c.pk for c in small]).delete()
    Chunk.objects.bulk_create(made)


def _series(owner: str, units: Mapping[_Name, str], org_id: UUID | None) -> dict[_Name, Series]:
    """Return these series, created if missing, and locked so that each has only one open chunk."""
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


def _fill_chunk(chunk: Chunk, rows: list[Row], *, is_open: bool) -> Chunk:
    chunk.start_ms, chunk.end_ms = min(r[1] for r in rows), max(r[1] for r in rows)
    chunk.count, chunk.data, chunk.is_open = len(rows), pack(rows), is_open
    chunk.coarse = None if is_open else pack(coarse(rows, max(24, len(rows) // 64)))
    return chunk


def _write_chunks(chunks: Sequence[Chunk]) -> None:
    sql = (
        "UPDATE series_chunk SET start_ms=%s, end_ms=%s, count=%s, data=%s, is_open=%s, coarse=%s "
        "WHERE id=%s"
    )
    with connection.cursor() as cursor:
        cursor.executemany(sql, [_columns(chunk) for chunk in chunks])


def _columns(chunk: Chunk) -> tuple[int, int, int, bytes, bool, bytes | None, int]:
    coarse_rows = None if chunk.coarse is None else bytes(chunk.coarse)
    return (
        chunk.start_ms,
        chunk.end_ms,
        chunk.count,
        bytes(chunk.data),
        chunk.is_open,
        coarse_rows,
        chunk.pk,
    )


def _set_last(series: Series, rows: list[Row]) -> None:
    """Update the last point: the greatest by step, time and value."""
    step, at, value = rows[-1]
    last = NO_STEP if series.last_step is None else series.last_step
    known = float(series.last_special or (-inf if series.last_value is None else series.last_value))
    if (step, at) > (last, series.last_at) or (
        (step, at) == (last, series.last_at) and not value < known
    ):
        is_finite = isfinite(value)
        series.last_at, series.last_value = at, value if is_finite else None
        series.last_special = "" if is_finite else _SPECIAL[str(value)]
        series.last_step = None if step == NO_STEP else step
