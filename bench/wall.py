"""Measure the node page and the GPU wall end to end, with 2,000 nodes of 8 GPUs, on PostgreSQL."""

from __future__ import annotations

import sys
import time

from bench.setting import begin, browser, make_nodes
from bench.table import Row, report
from tests.rig.processes import Folder

NODES, GPUS, CALLS = 2_000, 8, 60


def main() -> int:
    folder = Folder()
    try:
        begin(folder)
        _fill()
        page, wall, size = _measure(folder)
    finally:
        folder.close()
    report(
        [
            Row(
                "node page, 2,000 nodes × 8 GPUs",
                "–",
                "–",
                f"p95 {page:.0f} ms",
                "p95 ≤ 150 ms",
                page <= 150,
                "50 nodes a page",
            ),
            Row(
                "GPU wall, all 16,000 GPUs",
                "–",
                "–",
                f"p95 {wall:.0f} ms, {size / 1024:.0f} KiB",
                "p95 ≤ 150 ms",
                wall <= 150,
                "one answer, drawn on one canvas",
            ),
        ]
    )
    return 0


def _fill() -> None:
    from django.db import connection

    from clusters.models import Cluster

    cluster = Cluster.objects.create(name="big", backend="large")
    make_nodes(cluster, NODES, GPUS)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _measure(folder: Folder) -> tuple[float, float, int]:
    with browser(folder) as client:

        def size_of(path: str) -> int:
            answer = client.get(path)
            assert answer.status_code == 200, answer.content[:300]
            return len(answer.content)

        page, wall = (
            _p95(lambda path=path: size_of(path))
            for path in ("/home/nodes", "/api/v1/orgs/home/wall")
        )  # type: ignore[misc]
        return page, wall, size_of("/api/v1/orgs/home/wall")


def _p95(call) -> float:  # type: ignore[no-untyped-def]
    """Return the 95th percentile in milliseconds."""
    for _ in range(5):
        call()
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)[int(CALLS * 0.95) - 1]


if __name__ == "__main__":
    sys.exit(main())
