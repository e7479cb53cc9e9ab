"""Batches are read like other points, before and after compaction; old points are downsampled."""

from __future__ import annotations

import math
import random

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from portal import series
from portal.core.errors import InvalidInput
from portal.series import batches
from portal.series.models import Batch, Chunk, LatestBatch, Series
from portal.series.points import NO_STEP, PACKED, Point, merged, pack, unpack
from tests.rig.seeds import examples

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NODE, OTHER = "node:" + "a" * 32, "node:" + "b" * 32
T0 = 1_700_000_000_000
POWER, TEMPERATURE = "gpu.power{gpu=0}", "gpu.temperature{gpu=0}"


@pytest.fixture(autouse=True)
def fresh():
    batches._known.clear()  # ids of series that a test has rolled back


def send(first, count=10, owner=NODE, **columns):
    """Send `count` seconds of values from second `first`."""
    times = [T0 + n * 1000 for n in range(first, first + count)]
    given = columns or {"power": [float(n) for n in range(first, first + count)]}
    series.append_batch(
        owner,
        times,
        [series.BatchColumn(f"gpu.{name}", {"gpu": "0"}, "W", v) for name, v in given.items()],
    )


def values(**more):
    found = {one.name: one.values for one in series.query(NODE, max_points=9000, **more)}
    return found.get("gpu.power")


def test_batches_are_read_and_missing_values_are_left_out():
    send(0)
    send(10, power=[None, *range(11, 20)], temperature=[None] * 9 + [50.0])
    assert values() == [float(n) for n in [*range(10), *range(11, 20)]]
    assert values(start_ms=T0 + 5_000, end_ms=T0 + 12_000) == [5.0, 6.0, 7.0, 8.0, 9.0, 11.0, 12.0]
    last = series.latest(NODE)
    assert (last[POWER]["value"], last[POWER]["at"]) == (19.0, T0 + 19_000)
    assert (last[TEMPERATURE]["value"], last[TEMPERATURE]["labels"]) == (50.0, {"gpu": "0"})
    assert series.latest_sums("node:", ["gpu.power"], T0) == {NODE: {"gpu.power": (1, 19.0, 19.0)}}


def test_repeated_and_late_batches_add_nothing_twice():
    for first in (0, 10, 0):
        send(first)
    assert values() == [float(n) for n in range(20)]
    assert series.latest(NODE)[POWER]["value"] == 19.0  # not that of the late one


def test_batches_and_single_points_are_one_curve():
    series.append(NODE, [Point("gpu.power", {"gpu": "0"}, T0 - 1000, -1.0, unit="W")], org_id=None)
    send(0)
    assert values() == [-1.0, *(float(n) for n in range(10))]
    sums = series.sums_by_period(
        [NODE], "gpu.power", start_ms=T0, end_ms=T0 + 20_000, period_ms=5_000
    )
    assert list(sums[NODE]['{"gpu":"0"}'].values()) == [(10.0, 5), (35.0, 5)]


@pytest.mark.parametrize("table", ["series_batch", "series_chunk"])
def test_compaction_between_two_reads_hides_no_point(monkeypatch, table):
    monkeypatch.setattr(batches, "FULL", 20)
    compacted = []

    def compact_after(execute, sql, *more):
        found = execute(sql, *more)
        if f'FROM "{table}"' in sql and not compacted:
            compacted.append(table)
            batches.compact_batches()
        return found

    def total():
        sums = series.sums_by_period(
            [NODE], "gpu.power", start_ms=T0, end_ms=T0 + 20_000, period_ms=20_000
        )
        return [pair for by_labels in sums.values() for pair in by_labels['{"gpu":"0"}'].values()]

    for read, wanted in ((values, [float(n) for n in range(20)]), (total, [(190.0, 20)])):
        series.delete(NODE)
        send(0, 20)
        compacted.clear()
        with connection.execute_wrapper(compact_after):
            assert read() == wanted
        assert compacted


def test_compaction_keeps_every_value_and_the_last(monkeypatch):
    monkeypatch.setattr(batches, "FULL", 80)
    for first in range(0, 50, 10):
        send(first)
    before = values()
    assert batches.compact_batches() == 1 and batches.compact_batches() == 0
    assert not Batch.objects.exists() and Chunk.objects.count() == 1
    assert values() == before == [float(n) for n in range(50)]
    row = Series.objects.get()
    assert (row.last_at, row.last_value) == (T0 + 49_000, 49.0)
    send(50)
    assert values() == [float(n) for n in range(60)]
    assert series.latest(NODE)[POWER]["value"] == 59.0


def test_few_batches_are_compacted_when_they_are_old():
    send(0)
    assert batches.compact_batches() == 1  # T0 is long ago
    assert values() == [float(n) for n in range(10)]


def test_long_history_with_recent_batches_is_drawn_from_coarse_rows():
    points = [
        Point("gpu.power", {"gpu": "0"}, T0 - (9000 - n) * 1000, float(n % 7), unit="W")
        for n in range(9000)
    ]
    series.append(NODE, points, org_id=None)
    send(0, power=[100.0 + n for n in range(10)])
    [curve] = series.query(NODE, max_points=300)
    assert curve.values[-1] == 109.0 and len(curve.values) <= 300


def test_malformed_batches_are_refused_and_owners_kept_apart():
    with pytest.raises(InvalidInput):
        send(0, power=[1.0])
    with pytest.raises(InvalidInput):
        series.append_batch(
            NODE,
            [T0],
            [series.BatchColumn("a", {}, "", [1.0]), series.BatchColumn("a", {}, "", [2.0])],
        )
    assert not Series.objects.exists()
    send(0)
    send(0, owner=OTHER)
    series.delete(NODE)
    assert values() is None and series.latest(NODE) == {}
    assert Batch.objects.count() == LatestBatch.objects.count() == 1
    send(0)
    assert values() == [float(n) for n in range(10)]  # created again


def test_downsampling_keeps_means_and_the_peaks_of_counts():
    hour = 3_600_000
    for name, unit in (("gpu.power", "W"), ("gpu.ecc.corrected", "count")):
        points = [
            Point(name, {}, T0 - T0 % hour + n * 1000, float(n % 10), unit=unit)
            for n in range(7200)
        ]
        series.append(NODE, points, org_id=None)
    start = T0 - T0 % hour
    assert series.downsample(start + hour, 300_000, prefix="node:", wait_ms=0) == 0  # one chunk
    assert series.downsample(start + 3 * hour, 300_000, prefix="job:", wait_ms=0) == 0
    assert series.downsample(start + 3 * hour, 300_000, prefix="node:", wait_ms=0) == 2
    assert series.downsample(start + 3 * hour, 300_000, prefix="node:", wait_ms=0) == 0
    power, errors = sorted(series.query(NODE), key=lambda one: one.unit)
    assert power.values == [4.5] * 24 and errors.values == [9.0] * 24
    assert power.times[0] == start + 150_000
    assert set(Chunk.objects.values_list("step_ms", flat=True)) == {300_000}


def test_measured_and_downsampled_chunks_are_not_merged_into_one():
    for part in range(40):
        points = [Point("x", {}, T0 + (part * 256 + n) * 1000, 1.0) for n in range(256)]
        series.append(NODE, points, org_id=None)
    series.downsample(T0 + 9 * 256_000, 300_000, prefix="node:", wait_ms=0)
    series.compact()
    steps = list(Chunk.objects.values_list("step_ms", flat=True))
    assert sorted(set(steps)) == [0, 300_000] and len(steps) < 34


ROWS = st.lists(
    st.tuples(
        st.one_of(st.just(NO_STEP), st.integers(-(2**53), 2**53)),  # as the API takes them
        st.integers(-(2**61), 2**61),
        st.one_of(
            st.floats(),
            st.integers(-(2**52), 2**52).map(float),
            st.integers(-(10**6), 10**6).map(lambda n: n / 100),
        ),
    ),
    max_size=60,
)


@settings(deadline=None, max_examples=examples(200))
@given(ROWS)
def test_packed_rows_are_exact(rows):
    rows = merged(rows)
    found = unpack(pack(rows))
    assert [r[:2] for r in found] == [r[:2] for r in rows]
    for (*_, a), (*_, b) in zip(found, rows, strict=True):
        assert a == b or (math.isnan(a) and math.isnan(b))
        assert math.copysign(1, a) == math.copysign(1, b) or math.isnan(a)


def test_measurements_take_less_than_three_bytes():
    rng = random.Random(1)
    kinds = {
        "utilization": lambda n: round(min(max(rng.gauss(0.9, 0.04), 0), 1), 2),
        "power": lambda n: round(rng.gauss(600, 8), 1),
        "activity": lambda n: round(rng.gauss(0.8, 0.03), 4),
        "memory": lambda n: float((61_000 + n // 100) << 20),
    }
    for name, measure in kinds.items():
        rows = [(NO_STEP, T0 + n * 1000 + rng.randint(-3, 3), measure(n)) for n in range(4096)]
        data = pack(rows)
        assert unpack(data) == rows and data.startswith(PACKED)
        assert len(data) / len(rows) < 3, name


def test_pruning_deletes_what_compaction_made_of_batches():
    send(0)
    batches.compact_batches()
    series.prune(T0 + 60_000)
    assert series.latest(NODE) == {} and not Series.objects.exists()
    assert not LatestBatch.objects.exists()


def test_thresholds_are_compared_with_the_last_values_of_batches():
    series.append(NODE, [Point("gpu.power", {"gpu": "0"}, T0 - 1000, 500.0, unit="W")], org_id=None)
    assert series.latest_times([NODE], ["gpu.power"]) == {NODE: T0 - 1000}
    assert len(series.latest_at_least([NODE], {"gpu.power": 9.0}, T0 - 5000)) == 1
    send(0)
    assert series.latest_times([NODE], ["gpu.power"]) == {NODE: T0 + 9000}
    assert series.latest_at_least([NODE], {"gpu.power": 10.0}, T0 - 5000) == []
    found = (NODE, "gpu.power", {"gpu": "0"}, 9.0)
    assert series.latest_at_least([NODE], {"gpu.power": 9.0}, T0 - 5000) == [found]
    assert series.latest_at_least([NODE], {"gpu.power": 9.0}, T0 + 9001) == []
