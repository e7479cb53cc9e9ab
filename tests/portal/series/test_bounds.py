"""Many, long, sparse or invalid series: cost and results are bounded, errors explained."""

from __future__ import annotations

import random
import threading
from itertools import permutations
from math import isnan

import pytest
from django.db import connections
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.core.errors import InvalidInput, QuotaExceeded
from portal.series import reading, store
from portal.series.models import Chunk, Series
from portal.series.points import NO_STEP, Point, fitted, gap_of, split_at_gaps
from portal.series.reading import _ChunkRows, _with_gaps, latest, query
from portal.series.store import FULL, OPEN, append, compact, prune

OWNER = "attempt:" + "a" * 32
T0 = 1_700_000_000_000
DAY = 86_400_000


def points(count, *, name="loss", start=T0, every=1000, step=None, labels=None) -> list[Point]:
    """Return points whose values are their numbers, from `step` on."""
    return [
        Point(name, labels or {}, start + n * every, float(n), None if step is None else step + n)
        for n in range(count)
    ]


def one(**more):
    (found,) = query(OWNER, **more)
    return found


@pytest.fixture
def unpacked(monkeypatch) -> list[int]:
    """Record how many points each chunk that a query unpacked has."""
    counts: list[int] = []

    def counting(data: bytes):
        rows = unpack(data)
        counts.append(len(rows))
        return rows

    unpack = reading.unpack
    monkeypatch.setattr(reading, "unpack", counting)
    return counts


@pytest.mark.django_db
def test_append_with_too_long_labels_is_refused():
    with pytest.raises(InvalidInput, match="labels: are 1018 characters as JSON; 500 are allowed"):
        append(OWNER, [*points(1), Point("x", {"k": "v" * 1010}, T0, 1.0)], org_id=None)
    assert not Series.objects.exists()
    append(OWNER, [Point("x", {"k": "v" * 492}, T0, 1.0)], org_id=None)
    assert one().labels == {"k": "v" * 492}


@pytest.mark.django_db
def test_latest_is_the_highest_step_despite_late_lower_steps():
    append(OWNER, points(OPEN, step=100), org_id=None)
    append(OWNER, points(3, step=5, start=T0 + DAY), org_id=None)
    assert latest(OWNER)["loss"]["value"] == OPEN - 1
    append(OWNER, points(1, step=100 + OPEN, start=T0 + 1), org_id=None)
    assert (latest(OWNER)["loss"]["value"], latest(OWNER)["loss"]["at"]) == (0.0, T0 + 1)


@pytest.mark.django_db
@pytest.mark.parametrize("most", [10, 60, 600])
def test_query_of_many_gaps_keeps_max_points_and_longest_gaps(most):
    batch, at = [], T0
    for n in range(4000):
        at += 10**7 if n in (500, 3500) else 200_000 if n % 4 == 0 else 1000
        batch.append(Point("loss", {}, at, float(n)))
    append(OWNER, batch, org_id=None)
    curve = one(max_points=most)
    assert len(curve.times) <= most
    if most > 20:
        breaks = [
            (curve.values[n - 1], curve.values[n + 1])
            for n, v in enumerate(curve.values)
            if v is None
        ]
        assert (499.0, 500.0) in breaks and (3499.0, 3500.0) in breaks
    assert max(v for v in curve.values if v is not None) == 3999.0 and 0.0 in curve.values


@pytest.mark.django_db
def test_query_of_long_series_keeps_extremes_gaps_and_ends(unpacked):
    values = [random.Random(n).random() for n in range(100_000)]
    values[44_444], values[77_777] = 99.0, -99.0
    for at in range(0, len(values), FULL):
        pause = 0 if at < 5 * FULL else DAY
        append(
            OWNER,
            [
                Point("loss", {}, T0 + n * 1000 + pause + (DAY if n >= 70_000 else 0), v)
                for n, v in enumerate(values[at : at + FULL], at)
            ],
            org_id=None,
        )
    curve = one(max_points=600)
    assert sum(unpacked) < 5000 and len(curve.times) <= 600
    assert (
        max(v for v in curve.values if v is not None) == 99.0
        and min(v for v in curve.values if v is not None) == -99.0
    )
    assert curve.times == sorted(curve.times) and curve.times[-1] == T0 + 99_999_000 + 2 * DAY
    edges = [
        at - T0
        for n, v in enumerate(curve.values)
        if v is None
        for at in (curve.times[n - 1], curve.times[n + 1])
    ]
    assert edges == pytest.approx(
        [5 * FULL * 1000, 5 * FULL * 1000 + DAY, 70_000_000 + DAY, 70_000_000 + 2 * DAY], abs=10**6
    )


@pytest.mark.django_db
def test_query_of_long_range_is_exact_at_its_ends(unpacked):
    for at in range(0, 8 * FULL, FULL):
        append(OWNER, points(FULL, start=T0 + at * 1000), org_id=None)
    curve = one(start_ms=T0 + 1_234_000, end_ms=T0 + 60_000_000, max_points=600)
    assert curve.times[0] >= T0 + 1_234_000 and curve.times[-1] == T0 + 60_000_000
    assert sum(unpacked) < 3 * FULL


@pytest.mark.django_db
def test_series_of_a_query_share_a_limit_of_points(unpacked, monkeypatch):
    for name in ("a", "b", "c", "d"):
        append(OWNER, points(2 * FULL, name=name), org_id=None)
    monkeypatch.setattr(reading, "MOST_POINTS", 2000)
    monkeypatch.setattr(reading, "MOST_READ", 4000)
    found = query(OWNER, max_points=1_000_000_000)
    assert [100 < len(curve.times) <= 500 for curve in found] == [True] * 4
    assert sum(unpacked) < 4 * FULL / 2
    assert [curve.values[-1] for curve in found] == [2 * FULL - 1.0] * 4


@pytest.mark.django_db
def test_long_history_is_read_coarsely_beyond_a_limit(unpacked):
    append(OWNER, points(2 * FULL, step=0), org_id=None)
    assert len(reading.history(OWNER, "loss", 2 * FULL)) == 2 * FULL
    coarse = reading.history(OWNER, "loss", 2 * FULL - 1)
    assert len(coarse) < FULL and coarse[-1][2] == 2 * FULL - 1


@pytest.mark.django_db
def test_late_points_fill_a_gap_of_a_long_series():
    for at in (0, 2, 4, 6):
        append(OWNER, points(FULL, start=T0 + at * FULL * 1000), org_id=None)
    assert one().values.count(None) == 3
    for at in (1, 3, 5):
        append(OWNER, points(FULL, start=T0 + at * FULL * 1000), org_id=None)
    assert one().values.count(None) == 0


def test_gaps_are_found_independent_of_chunk_order():
    stretches = [
        _ChunkRows(at, at + 9_000, 10, [(NO_STEP, at + n * 1000, 0.0) for n in range(10)])
        for at in (0, 100_000, 200_000)
    ]
    for order in permutations(stretches):
        assert sum(isnan(row[2]) for row in _with_gaps(order)) == 2


@pytest.mark.django_db
def test_long_series_with_steps_has_no_gap():
    for at in range(0, 3 * FULL, FULL):
        append(OWNER, points(FULL, step=at, start=T0 + at * DAY), org_id=None)
    curve = one()
    assert (
        None not in curve.values
        and curve.steps == sorted(curve.steps)
        and curve.steps[-1] == 3 * FULL - 1
    )


@pytest.mark.django_db
def test_series_limit_refuses_new_but_accepts_known_series(monkeypatch):
    monkeypatch.setattr(store, "MOST_CURVES", 5)
    append(OWNER, [p for n in range(5) for p in points(1, name=f"m{n}")], org_id=None)
    with pytest.raises(
        QuotaExceeded, match="already 5 series here; 1 more would exceed the limit of 5"
    ):
        append(OWNER, [*points(2, name="m0"), *points(1, name="m5")], org_id=None)
    append(OWNER, points(2, name="m0"), org_id=None)
    append("node:b", points(1, name="m5"), org_id=None)
    assert [len(c.times) for c in query(OWNER)] == [2, 1, 1, 1, 1]


@pytest.mark.django_db
def test_prune_deletes_empty_series():
    append(OWNER, points(3), org_id=None)
    append(OWNER, points(3, name="young", start=T0 + DAY), org_id=None)
    assert prune(T0 + DAY) == 1
    assert [s.name for s in Series.objects.all()] == ["young"] and latest(OWNER).keys() == {"young"}
    append(OWNER, points(3), org_id=None)
    assert len(query(OWNER)) == 2


@pytest.mark.django_db(transaction=True)
def test_concurrent_appends_prune_and_compact_lose_nothing():
    names, errors = [f"m{n}" for n in range(30)], []

    def write(seed: int) -> None:
        try:
            for turn in range(12):
                order = random.Random(seed * 100 + turn).sample(names, len(names))
                append(
                    OWNER,
                    [
                        p
                        for name in order
                        for p in points(20, name=name, start=T0 + (seed * 12 + turn) * 20_000)
                    ],
                    org_id=None,
                )
                if seed == 0:
                    prune(T0 - DAY)
                    compact()
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [len(c.times) for c in query(OWNER, max_points=10**6)] == [4 * 12 * 20] * 30
    assert Chunk.objects.filter(is_open=True).count() <= 30


STRETCHES = st.lists(
    st.tuples(st.integers(1, 200_000), st.floats(allow_nan=False)), min_size=1, max_size=300
)


@given(steps=STRETCHES, most=st.integers(6, 200))
@settings(deadline=None)
def test_fitted_series_is_bounded_and_keeps_extremes_and_end(steps, most):
    rows, at = [], 0
    for wait, value in steps:
        at += wait
        rows.append((NO_STEP, at, value))
    parts = fitted(split_at_gaps(rows, gap_of(rows)), most)
    kept = [row for part in parts for row in part]
    assert (
        len(kept) + len(parts) - 1 <= most
        and kept[-1] == rows[-1]
        and kept == sorted(kept, key=lambda r: r[1])
    )
    assert {min(r[2] for r in kept), max(r[2] for r in kept)} == {
        min(r[2] for r in rows),
        max(r[2] for r in rows),
    }
