"""What charts of a page's own values draw."""

from __future__ import annotations

from datetime import UTC, datetime

from portal.core import clock
from portal.web.charts import Curve, chart_of, expected_charts


def test_chart_ends_now_and_keeps_gaps():
    times, values = [0, 3600, 10_800, 14_400, 18_000], [1.0, 2.0, 3.0, 4.0, 5.0]
    with clock.frozen(datetime.fromtimestamp(15_000, UTC)):
        found = chart_of(times, Curve("a", values), unit="W", step=3600)
        coming = chart_of(times, Curve("a", values, kind="forecast"))
    assert found["times"] == [0, 3600, 7200, 10_800, 14_400]
    assert found["series"][0]["values"] == [1.0, 2.0, None, 3.0, 4.0]
    assert coming["times"] == times


def test_expected_charts_join_train_and_validation():
    names = ["loss", "val_loss", "train/acc", "val/acc", "lr"]
    assert [len(keys) for keys in expected_charts(names)] == [2, 2, 0]
    assert [len(keys) for keys in expected_charts(["loss"], runs=3)] == [3]
