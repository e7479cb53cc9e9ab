"""Batches: values of many series of one owner at the same times, stored in one row.

A batch is the header, the ids of its series, its times, and the values of one series after the
other, as 64-bit numbers; NaN is a value that is missing. Compressed with zstd.
"""

from __future__ import annotations

import struct
from array import array
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, repeat
from math import isnan, nan
from operator import itemgetter
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import zstandard
from django.db import connection, transaction
from django.db.models import Min, Q, Sum

from portal.core import clock
from portal.core.errors import InvalidInput
from portal.series.models import Batch, Chunk, LatestBatch, Series
from portal.series.points import NO_STEP, Row, codec, merged, series_key
from portal.series.store import FULL, canonical, ensure_series, packed_chunks, update_rows

MOST_KNOWN = 4096  # owners whose series a process remembers
_HEAD = struct.Struct("<II")
_IDLE_MS = 2 * 3_600_000
_known: OrderedDict[tuple[str, bytes], array[int]] = OrderedDict()


class BatchColumn(NamedTuple):
    """One series of a batch; None is a value that is missing."""

    name: str
    labels: dict[str, str]
    unit: str
    values: Sequence[float | None]


@dataclass(frozen=True)
class BatchRows:
    """A batch as read."""

    ids: array[int]
    times: array[int]
    values: array[float]

    def rows(self, wanted: Collection[int]) -> Iterator[tuple[int, list[Row]]]:
        """Yield the points of each wanted series."""
        count = len(self.times)
        for place, pk in enumerate(self.ids):
            if pk in wanted:
                values = self.values[place * count : (place + 1) * count]
                rows = list(zip(repeat(NO_STEP), self.times, values, strict=False))
                yield pk, [row for row in rows if not isnan(row[2])]


def append_batch(
    owner: str, times: Sequence[int], columns: Sequence[BatchColumn], *, org_id: UUID | None = None
) -> None:
    """Store values of one owner at increasing times (Unix ms). One statement on PostgreSQL.

    Raises InvalidInput (malformed or too long labels), QuotaExceeded and Conflict.
    """
    if not times or not columns:
        return
    if any(len(column.values) != len(times) for column in columns):
        raise InvalidInput.at("columns", "each needs one value per time")
    named = [[column.name, column.labels, column.unit] for column in columns]
    described = orjson.dumps(named)
    ids = _ids(owner, described, columns, org_id, max(times))
    values = array("d")
    for column in columns:
        values.extend([nan if value is None else value for value in column.values])
    raw = _HEAD.pack(len(ids), len(times)) + b"".join(
        part.tobytes() for part in (ids, array("q", times), values)
    )
    last = [column.values[-1] for column in columns]
    compressor = codec(zstandard.ZstdCompressor)
    latest = compressor.compress(b'{"series":%b,"values":%b}' % (described, orjson.dumps(last)))
    start, end = min(times), max(times)
    _store(
        [owner, start, end, len(times), compressor.compress(raw)],
        [owner, end, latest],
    )


_INSERT = (
    "INSERT INTO series_batch (owner, start_ms, end_ms, count, data) VALUES (%s, %s, %s, %s, %s)"
)
_REPLACE = (
    "INSERT INTO series_latestbatch AS l (owner, at_ms, data) VALUES (%s, %s, %s) "
    "ON CONFLICT (owner) DO UPDATE SET at_ms = excluded.at_ms, data = excluded.data "
    "WHERE excluded.at_ms >= l.at_ms"
)


def _store(batch: list[Any], latest: list[Any]) -> None:
    """Insert a batch and replace the latest one of its owner, both or none."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"WITH stored AS ({_INSERT}) {_REPLACE}", [*batch, *latest])
            return
        with transaction.atomic():
            cursor.execute(_INSERT, batch)
            cursor.execute(_REPLACE, latest)


def _ids(
    owner: str, described: bytes, columns: Sequence[BatchColumn], org_id: UUID | None, at: int
) -> array[int]:
    key = (owner, sha256(described).digest())  # the names may be long
    if (found := _known.get(key)) is not None:
        _known.move_to_end(key)
        return found
    names = [(column.name, canonical(column.labels)) for column in columns]
    if len(set(names)) < len(names):
        raise InvalidInput.at("columns", "name a series twice")
    units = {name: column.unit for name, column in zip(names, columns, strict=True)}
    with transaction.atomic():
        rows = ensure_series(owner, units, org_id)
        # Series without chunks are otherwise pruned.
        Series.objects.filter(id__in=[row.pk for row in rows.values()], last_at=0).update(
            last_at=at
        )
    ids = array("q", [rows[name].pk for name in names])
    _known[key] = ids
    while len(_known) > MOST_KNOWN:
        _known.popitem(last=False)
    return ids


def decoded(data: bytes) -> BatchRows:
    """Return the contents of a batch."""
    raw = codec(zstandard.ZstdDecompressor).decompress(data)
    series, count = _HEAD.unpack_from(raw)
    ids, times, values = array("q"), array("q"), array("d")
    at = _HEAD.size
    for part, size in ((ids, series), (times, count), (values, series * count)):
        part.frombytes(raw[at : at + 8 * size])
        at += 8 * size
    return BatchRows(ids, times, values)


def rows_between(
    owners: Collection[str], wanted: Collection[int], start_ms: int | None, end_ms: int | None
) -> dict[int, list[Row]]:
    """Return the points of these series that are still in batches. One statement."""
    batches = Batch.objects.filter(owner__in=owners)
    batches = batches.filter(end_ms__gte=start_ms) if start_ms is not None else batches
    batches = batches.filter(start_ms__lte=end_ms) if end_ms is not None else batches
    found: dict[int, list[Row]] = defaultdict(list)
    for data in batches.order_by("end_ms").values_list("data", flat=True):
        for pk, rows in decoded(bytes(data)).rows(wanted):
            found[pk] += rows
    return {
        pk: [
            row
            for row in merged(rows)
            if (start_ms is None or row[1] >= start_ms) and (end_ms is None or row[1] <= end_ms)
        ]
        for pk, rows in found.items()
    }


def latest_in_batches(
    owners: Collection[str], names: Collection[str] | None = None
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the last values of owners with batches, by owner and `name{label=value}`."""
    return {
        owner: {
            series_key(name, labels): {
                "name": name,
                "labels": labels,
                "unit": unit,
                "at": at,
                "value": value,
            }
            for (name, labels, unit), value in zip(*_latest(bytes(data)), strict=True)
            if value is not None and (names is None or name in names)
        }
        for owner, at, data in LatestBatch.objects.filter(owner__in=owners).values_list()
    }


def latest_values(
    prefix: str, names: Collection[str], since_ms: int
) -> Iterator[tuple[str, str, float]]:
    """Yield owner, name and last value of series in batches, of owners that begin with `prefix`."""
    rows = LatestBatch.objects.filter(owner__startswith=prefix, at_ms__gte=since_ms)
    for owner, _at, data in rows.values_list():
        for (name, _labels, _unit), value in zip(*_latest(bytes(data)), strict=True):
            if name in names and value is not None:
                yield owner, name, value


def last_batch_values(
    owners: Collection[str],
) -> Iterator[tuple[str, int, str, dict[str, str], float]]:
    """Yield owner, time, name, labels and last value of the series in batches of these owners."""
    for owner, at, data in LatestBatch.objects.filter(owner__in=owners).values_list():
        for (name, labels, _unit), value in zip(*_latest(bytes(data)), strict=True):
            if value is not None:
                yield owner, at, name, labels, value


def _latest(data: bytes) -> tuple[list[Any], list[float | None]]:
    found = orjson.loads(codec(zstandard.ZstdDecompressor).decompress(data))
    return found["series"], found["values"]


def compact_batches(most: int = 200) -> int:
    """Turn the batches of owners that have enough of them into chunks; return the number of owners.

    Enough is half a full chunk per series, so that these are not merged again.
    """
    old = clock.now_ms() - _IDLE_MS
    owners = (
        Batch.objects.values_list("owner")
        .annotate(n=Sum("count"), first=Min("start_ms"))
        .filter(Q(n__gte=FULL // 2) | Q(first__lt=old))
        .order_by("first")[:most]
    )
    for owner, _n, _first in owners:
        _compact(owner)
    return len(owners)


@transaction.atomic
def _compact(owner: str) -> None:
    batches = list(
        Batch.objects.select_for_update(skip_locked=True).filter(owner=owner).order_by("end_ms")
    )
    columns: dict[int, list[tuple[array[int], array[float]]]] = defaultdict(list)
    for batch in batches:
        found = decoded(bytes(batch.data))
        count = len(found.times)
        for place, pk in enumerate(found.ids):
            columns[pk].append((found.times, found.values[place * count : (place + 1) * count]))
    series = {
        row.pk: row
        for row in Series.objects.select_for_update().filter(id__in=list(columns)).order_by("id")
    }
    chunks: list[Chunk] = []
    for pk, row in series.items():
        times, values = (chain.from_iterable(some) for some in zip(*columns[pk], strict=True))
        rows = list(zip(repeat(NO_STEP), times, values, strict=False))
        if any(map(isnan, map(itemgetter(2), rows))):  # a missing value
            rows = [row for row in rows if not isnan(row[2])]
        rows = merged(rows)
        if rows:
            chunks += packed_chunks(pk, rows)
            if rows[-1][1] >= row.last_at:
                row.last_at, row.last_value, row.last_special = rows[-1][1], rows[-1][2], ""
    Chunk.objects.bulk_create(chunks)
    update_rows(Series, series.values(), ["last_at", "last_value", "last_special"])
    Batch.objects.filter(id__in=[batch.pk for batch in batches]).delete()


def delete_batches(owner: str) -> None:
    """Delete all batches of an owner."""
    Batch.objects.filter(owner=owner).delete()
    LatestBatch.objects.filter(owner=owner).delete()
    for key in [key for key in _known if key[0] == owner]:
        del _known[key]
