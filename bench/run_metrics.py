"""Measure runs on PostgreSQL: batches of metrics, histories, bytes per point, and a search.

Raw limit: the same bytes inserted as they are, in one statement for each batch.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.setting import begin
from bench.table import Row, report
from tests.rig.processes import Folder

BATCH, BATCHES, RUNS, KEYS = 1000, 100, 10_000, 10


def main() -> int:
    folder = Folder()
    try:
        actor = begin(folder)
        from workspaces.tenancy.scope import org_scope

        with org_scope(actor.org_id):
            for part in (_searching, _reading, _writing):
                report(part(actor))
    finally:
        folder.close()
    return 0


def _run(actor: Any) -> Any:
    from experiments import services
    from workspaces.models import Team

    experiment = services.default_experiment(actor=actor, team=Team.objects.get())
    return services.create_run(actor=actor, experiment=experiment)


def _writing(actor: Any) -> list[Row]:
    from django.db import connection

    from experiments import services
    from portal.series import Point

    def batches(keys: int) -> list[list[Point]]:
        steps = BATCH // keys
        return [
            [
                Point(
                    f"train/metric_{k}",
                    {},
                    10**12 + (n * steps + s) * 100,
                    random.random(),
                    s + n * steps,
                )
                for s in range(steps)
                for k in range(keys)
            ]
            for n in range(BATCHES)
        ]

    def rate(keys: int) -> float:
        run, given = _run(actor), batches(keys)[: 10 if keys == BATCH else None]
        services.log_batch(actor=actor, run=run, metrics=given[0])
        start = time.perf_counter()
        for batch in given[1:]:
            services.log_batch(actor=actor, run=run, metrics=batch)
        return (len(given) - 1) * BATCH / (time.perf_counter() - start)

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE raw (data bytea)")
        start = time.perf_counter()
        for _ in range(BATCHES):
            cursor.execute("INSERT INTO raw VALUES (%s)", [random.randbytes(24 * BATCH)])
        raw = BATCHES * BATCH / (time.perf_counter() - start)
    few, some, many = rate(1), rate(10), rate(BATCH)
    return [
        Row(
            "metrics of a run, batches of 1,000 of one key",
            f"{raw:,.0f} points/s as plain bytes",
            "–",
            f"{few:,.0f} points/s",
            "≥ 150,000 points/s",
            few >= 150_000,
            f"10 keys: {some:,.0f}; 1,000 keys: {many:,.0f} points/s",
        )
    ]


def _reading(actor: Any) -> list[Row]:
    from django.db import connection

    from experiments import selectors, services
    from portal import series
    from portal.series import Point
    from portal.series.models import Series

    run = _run(actor)
    for n in range(100):
        points = [
            Point("loss", {}, 10**12 + i * 100, 1 / (i + 1) + random.random() / 100, i)
            for i in range(n * 1000, n * 1000 + 1000)
        ]
        services.log_batch(actor=actor, run=run, metrics=points)
    series.compact()
    [pk] = Series.objects.filter(owner=run.series_owner).values_list("id", flat=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_column_size(data) + coalesce(pg_column_size(coarse), 0)) "
            "FROM series_chunk WHERE series_id = %s",
            [pk],
        )
        size = cursor.fetchone()[0] / 100_000
    full = _median(lambda: selectors.metric_history(run, "loss"))
    chart = _median(lambda: series.query(run.series_owner, max_points=1000))
    return [
        Row(
            "100,000 points of a metric: chart of 1,000, and all",
            "–",
            "–",
            f"p50 {chart:.0f} ms; all {full:.0f} ms",
            "p50 ≤ 50 ms for the chart",
            chart <= 50,
        ),
        Row(
            "bytes per point after compaction",
            "24 as plain numbers",
            "–",
            f"{size:.1f}",
            "≤ 20",
            size <= 20,
        ),
    ]


def _searching(actor: Any) -> list[Row]:
    from django.db import connection

    from experiments import run_keys, search, selectors
    from experiments.models import Run
    from portal.core.ids import uuid7
    from portal.series.models import Series

    first = _run(actor)
    ids = [uuid7() for _ in range(RUNS)]
    Run.objects.bulk_create(
        [
            Run(
                id=pk,
                org_id=first.org_id,
                experiment_id=first.experiment_id,
                team_id=first.team_id,
                owner_id=first.owner_id,
                name=f"run {n}",
                started_ms=n,
                series_owner=f"run:{pk.hex}",
                params={f"p{k}": str(random.randrange(100)) for k in range(KEYS)},
            )
            for n, pk in enumerate(ids)
        ],
        batch_size=1000,
    )
    Series.objects.bulk_create(
        [
            Series(
                owner=f"run:{pk.hex}", name=f"m{k}", org_id=first.org_id, last_value=random.random()
            )
            for pk in ids
            for k in range(KEYS)
        ],
        batch_size=5000,
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")

    def page() -> None:
        rows = selectors.visible_runs(actor).filter(experiment_id=first.experiment_id)
        rows = search.search_runs(
            rows, "metrics.m1 < 0.5 and params.p2 != '7'", ["metrics.m3 DESC"]
        )
        found, token = search.page_of(rows.select_related("experiment", "owner"), limit=1000)
        assert len(found) == 1000
        assert token
        assert len(selectors.last_metrics(found)) == 1000

    took = _median(page, 15)
    best = _median(lambda: run_keys.read_best_results([first.experiment]), 15)
    return [
        Row(
            "best result of an experiment with 10,000 runs",
            "–",
            "–",
            f"p50 {best:.0f} ms",
            "≤ 100 ms",
            best <= 100,
        ),
        Row(
            "search: 1,000 of 10,000 runs, filtered and sorted, with their metrics",
            "–",
            "–",
            f"p50 {took:.0f} ms",
            "≤ 300 ms",
            took <= 300,
        ),
    ]


def _median(call: Callable[[], object], times: int = 30) -> float:
    """Return the median in milliseconds."""
    call()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) * 1000)
    return statistics.median(found)


if __name__ == "__main__":
    sys.exit(main())
