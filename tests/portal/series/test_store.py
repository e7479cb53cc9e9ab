"""The series store returns each stored point once, keeps gaps, and thins to extremes."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.series.models import Chunk, Series
from portal.series.points import NO_STEP, Point, merged, pack, thinned, unpack
from portal.series.reading import latest, query
from portal.series.store import FULL, OPEN, append, compact, prune

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
OWNER = "attempt:" + "a" * 32
T0 = 1_700_000_000_000
ROWS = st.lists(st.tuples(st.integers(-1, 50), st.integers(0, 10**6), st.floats()), max_size=60)


def points(values, *, name="loss", start=T0, steps=False, labels=None) -> list[Point]:
    """Return points one second apart."""
    return [
        Point(name, labels or {}, start + n * 1000, v, n if steps else None)
        for n, v in enumerate(values)
    ]


def one(**more):
    found = query(OWNER, **more)
    assert len(found) == 1
    return found[0]


def test_query_returns_stored_points():
    append(OWNER, points([3.0, 2.5, 2.0], steps=True), org_id=None)
    curve = one()
    assert (curve.name, curve.values, curve.steps) == ("loss", [3.0, 2.5, 2.0], [0, 1, 2])
    assert curve.times == [T0, T0 + 1000, T0 + 2000]


def test_append_twice_stores_points_once():
    batch = points(range(300), steps=True)
    for part in (batch[:200], batch[100:], batch):
        append(OWNER, part, org_id=None)
    assert one(max_points=1000).values == [float(n) for n in range(300)]


def test_late_point_is_sorted_into_place():
    batch = points([1.0, 2.0, 3.0])
    append(OWNER, [batch[0], batch[2]], org_id=None)
    append(OWNER, [batch[1]], org_id=None)
    assert one().values == [1.0, 2.0, 3.0]


def test_series_are_distinct_by_name_labels_and_owner():
    per_gpu = points([1.0], labels={"gpu": "0"}) + points([2.0], labels={"gpu": "1"})
    append(OWNER, per_gpu + points([3.0], name="x"), org_id=None)
    append("node:b", points([4.0]), org_id=None)
    assert [(c.name, c.labels, c.values) for c in query(OWNER)] == [
        ("loss", {"gpu": "0"}, [1.0]),
        ("loss", {"gpu": "1"}, [2.0]),
        ("x", {}, [3.0]),
    ]
    assert [c.values for c in query("node:b")] == [[4.0]]
    assert [c.name for c in query(OWNER, names=["x"])] == ["x"]


def test_query_returns_only_the_requested_range():
    append(OWNER, points(range(1000)), org_id=None)
    curve = one(start_ms=T0 + 300_000, end_ms=T0 + 302_000)
    assert curve.values == [300.0, 301.0, 302.0]


def test_query_shows_pause_as_gap():
    append(OWNER, points([1.0] * 5) + points([2.0] * 5, start=T0 + 600_000), org_id=None)
    assert one().values == [1.0] * 5 + [None] + [2.0] * 5


def test_query_shows_short_pause_as_gap_only_on_request():
    append(OWNER, points([1.0] * 5) + points([2.0] * 5, start=T0 + 20_000), org_id=None)
    assert None not in one().values
    assert one(gap_ms=5000).values == [1.0] * 5 + [None] + [2.0] * 5


def test_series_with_steps_has_no_gap():
    batch = points([1.0] * 6, steps=True)
    append(OWNER, [*batch, Point("loss", {}, T0 + 10**8, 2.0, 6)], org_id=None)
    assert None not in one().values


def test_query_returns_none_for_nan_and_infinity():
    append(OWNER, points([1.0, math.nan, math.inf, 2.0], steps=True), org_id=None)
    assert one().values == [1.0, None, None, 2.0]


def test_append_nan_twice_stores_it_once():
    for _ in range(2):
        append(OWNER, points([math.nan, 1.0]), org_id=None)
    assert one().values == [None, 1.0]


def test_latest_is_the_last_point_despite_late_points():
    append(OWNER, points([1.0, 2.0, 9.0], labels={"gpu": "0"}), org_id=None)
    append(OWNER, points([5.0], labels={"gpu": "0"}, start=T0 - 10_000), org_id=None)
    found = latest(OWNER)
    assert found.keys() == {"loss{gpu=0}"}
    assert (found["loss{gpu=0}"]["value"], found["loss{gpu=0}"]["at"]) == (9.0, T0 + 2000)


def test_latest_after_trailing_nan_is_none():
    append(OWNER, points([1.0, math.nan], steps=True), org_id=None)
    assert latest(OWNER)["loss"]["value"] is None


def test_thinning_keeps_extremes_and_ends():
    values = [random.Random(n).random() for n in range(20_000)]
    values[7777], values[12_345] = 99.0, -99.0
    append(OWNER, points(values), org_id=None)
    curve = one(max_points=600)
    assert len(curve.values) <= 650
    assert max(curve.values) == 99.0 and min(curve.values) == -99.0
    assert curve.times == sorted(curve.times)
    assert curve.times[-1] == T0 + 19_999_000


def test_compaction_does_not_change_query_results():
    for at in range(0, FULL + 3 * OPEN, OPEN):
        append(OWNER, points(range(at, at + OPEN), start=T0 + at * 1000), org_id=None)
    before, chunks = one(max_points=10**6), Chunk.objects.count()
    assert compact() == 1
    assert Chunk.objects.count() < chunks / 4
    assert one(max_points=10**6) == before and len(before.values) == FULL + 3 * OPEN
    assert compact() == 0


def test_append_after_compaction_is_merged():
    for at in range(0, FULL, OPEN):
        append(OWNER, points(range(at, at + OPEN), start=T0 + at * 1000), org_id=None)
    compact()
    append(OWNER, points([7.0], start=T0 + FULL * 1000), org_id=None)
    assert one(max_points=10**6).values[-2:] == [float(FULL - 1), 7.0]


def test_prune_deletes_old_chunks_only():
    for at in range(0, 4 * OPEN, OPEN):
        append(OWNER, points(range(at, at + OPEN), start=T0 + at * 1000), org_id=None)
    assert prune(T0 + 2 * OPEN * 1000) == 2
    assert one(max_points=10**6).values[0] == 2.0 * OPEN


def test_append_of_many_series_takes_few_queries(django_assert_max_num_queries):
    batch = [p for n in range(100) for p in points([1.0, 2.0], name=f"m{n}")]
    with django_assert_max_num_queries(20):
        append(OWNER, batch, org_id=None)
    with django_assert_max_num_queries(20):
        append(OWNER, [Point(p.name, {}, p.at_ms + 5000, p.value) for p in batch], org_id=None)
    assert Series.objects.count() == 100 and len(query(OWNER)) == 100


@given(rows=ROWS)
@settings(deadline=None)
def test_pack_and_unpack_round_trip(rows):
    rows = [(NO_STEP if step < 0 else step, at, value) for step, at, value in rows]
    assert repr(unpack(pack(rows))) == repr(rows)


@given(first=ROWS, second=ROWS)
@settings(deadline=None)
def test_merging_is_commutative_and_idempotent(first, second):
    both = merged(first, second)
    assert sorted(map(repr, both)) == sorted(map(repr, merged(second, first)))
    assert repr(merged(both, first)) == repr(both)


@given(
    values=st.lists(st.floats(allow_nan=False), min_size=1, max_size=400), most=st.integers(2, 100)
)
@settings(deadline=None)
def test_thinning_keeps_extremes_order_and_last_point(values, most):
    rows = [(NO_STEP, n, value) for n, value in enumerate(values)]
    kept = thinned(rows, most)
    assert set(kept) <= set(rows) and [r[1] for r in kept] == sorted(r[1] for r in kept)
    assert len(kept) <= max(most, 3) and kept[-1] == rows[-1]
    assert min(r[2] for r in kept) == min(values) and max(r[2] for r in kept) == max(values)
