"""Measure the first and the last page of a list of a million jobs, end to end.

The client keeps its connection.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from bench.setting import begin, browser
from bench.table import Row, report
from tests.rig.processes import Folder

JOBS, CALLS = 1_000_000, 60


def main() -> int:
    folder = Folder()
    try:
        actor = begin(folder)
        _fill(actor)
        raw, first, last, failed = _measure(folder)
    finally:
        folder.close()
    report(
        [
            Row(
                "job list with 1,000,000 jobs, first page of 50",
                f"{raw:.1f} ms for the same rows by SQL alone",
                "–",
                f"p50 {first:.1f} ms",
                "p50 ≤ 10 ms",
                first <= 10,
            ),
            Row(
                "the last page against the first",
                "–",
                "–",
                f"{last / first:.2f} × ({last:.1f} ms); state=failed {failed:.1f} ms",
                "≤ 1.5 ×",
                last <= 1.5 * first,
                "no count is made; pages are by key",
            ),
        ]
    )
    return 0


def _fill(actor) -> None:  # type: ignore[no-untyped-def]
    from django.db import connection

    from jobs import services
    from schedulers.spec import parse_mapping
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope

    with org_scope(actor.org_id):
        services.submit_job(
            actor=actor, team=Team.objects.get(), spec=parse_mapping({"run": "true", "name": "job"})
        )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(quote_ident(column_name), ',') FROM information_schema.columns "
            "WHERE table_name = 'jobs_job' "
            "AND column_name NOT IN ('id', 'number', 'state', 'name')"
        )
        columns = cursor.fetchone()[0]
        cursor.execute(
            f"INSERT INTO jobs_job (id, number, state, name, {columns}) SELECT "
            "gen_random_uuid(), n + 1, 70 + n %% 3, 'job-' || n, "
            f"{columns} FROM jobs_job, generate_series(1, %s) AS n",
            [JOBS],
        )
        cursor.execute("ANALYZE jobs_job")


def _measure(folder: Folder) -> tuple[float, float, float, float]:
    from django.db import connection

    from workspaces.models import Organization

    org = Organization.objects.get()

    def sql() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT * FROM jobs_job WHERE org_id = %s ORDER BY number DESC LIMIT 51", [org.id]
            )
            cursor.fetchall()

    with browser(folder) as client:

        def page(query: str) -> Callable[[], object]:
            def call() -> object:
                answer = client.get(f"/api/v1/orgs/home/jobs?limit=50{query}")
                assert answer.status_code == 200 and answer.json()["items"]
                return answer

            return call

        return _p50(sql), _p50(page("")), _p50(page("&cursor=n51")), _p50(page("&state=failed"))


def _p50(call: Callable[[], object]) -> float:
    """Return milliseconds."""
    for _ in range(5):
        call()
    times = []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
