"""Telemetry of nodes is kept for a year, downsampled; that of jobs for 90 days; runs' metrics stay."""

from __future__ import annotations

import pytest

from monitoring.tasks import DAY_MS, compact
from portal import series
from portal.core import clock
from portal.series.points import Point

pytestmark = pytest.mark.django_db
OWNERS = ("node:" + "a" * 32, "attempt:" + "b" * 32, "job:" + "c" * 32)


def test_nodes_are_downsampled_and_everything_is_deleted_in_its_time(settings):
    settings.MUSTER_TELEMETRY_RAW_DAYS = 10
    now = clock.now_ms()
    for owner in OWNERS:
        for days in (400, 200, 50, 1):
            start = now - days * DAY_MS
            points = [Point("x", {}, start + n * 1000, float(n)) for n in range(600)]
            series.append(owner, points, org_id=None)
    compact()

    def ages(owner):
        [found] = series.query(owner, max_points=5000)
        return {
            round((now - at) / DAY_MS): sum(
                abs(t - at) < DAY_MS and v is not None
                for t, v in zip(found.times, found.values, strict=True)
            )
            for at in found.times
        }

    node, attempt, job = map(ages, OWNERS)
    assert set(node) == {200, 50, 1} and node[1] == 600 and node[200] in (2, 3)
    assert set(attempt) == {50, 1} and attempt[50] == 600
    assert set(job) == {400, 200, 50, 1}
    compact()
    assert ages(OWNERS[0]) == node
