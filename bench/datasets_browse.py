"""Measure browsing and comparing versions of a dataset with 1,000,000 files, over HTTP on PostgreSQL.

Half of the files are in one folder, half in folders of 1,000. The second version changes every
hundredth file, so every block of the tree differs. The files have 20,000 contents, whose bytes are
left out: rows say that they were uploaded. `--keep SECONDS` leaves the portal running to look at the pages.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import httpx

from bench.setting import begin, browser
from bench.table import Row, report, timed
from tests.rig.portal import EMAIL, PASSWORD
from tests.rig.processes import Folder

FILES, EACH, STEP, CALLS = 1_000_000, 1_000, 100, 20
CONTENTS = 20_000  # different ones in a version
PAGE, API = "/home/datasets/million", "/api/v1/orgs/home/datasets/million"
PAGES = ("", "/tree/flat", "/tree/flat?after=flat/0400000.jpg", "/tree/images/0123", "/versions")
MOST_PAGE, MOST_DIFF = 100, 3  # milliseconds, seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=float, default=0, metavar="SECONDS")
    keep = parser.parse_args().keep
    folder = Folder()
    try:
        seconds = fill(folder)
        with browser(folder) as client:
            pages = {page: _times(client, PAGE + page) for page in (*PAGES, "/tree/images")}
            tree = _times(client, f"{API}/tree?path=images")
            compare = _times(client, f"{PAGE}/compare?to=2", 5)
            _times(client, f"{PAGE}/compare?from=1&to=3", 5)
            changes: list[int] = []
            diff = [timed(lambda: changes.append(_diff(client))) for _ in range(3)]
            report(_rows(seconds, pages | {"REST tree": tree}, compare, diff, changes[0]))
            if keep:
                print(f"{client.base_url} {EMAIL} {PASSWORD}", flush=True)
                time.sleep(keep)
    finally:
        folder.close()
    return 0


def fill(folder: Folder) -> list[float]:
    """Create the dataset with three versions; return the seconds that each took."""
    actor = begin(folder)
    from django.db import connection

    from datasets import services
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope

    with org_scope(actor.org_id):
        row = services.create_repository(
            actor=actor, team=Team.objects.get(), kind="dataset", name="million"
        )

        def version(name: str, numbers: range) -> None:
            with connection.cursor() as cursor:  # as if each file had been uploaded
                cursor.execute(_CONTENTS, [row.org_id, row.id, name, CONTENTS - 1])
            changes = (services.Add(_path(n), _sha256(name, n % CONTENTS)) for n in numbers)
            services.commit(actor=actor, repository=row, changes=changes, message=name)

        seconds = [
            timed(lambda: version("first", range(FILES))),
            timed(lambda: version("one of a hundred", range(0, FILES, STEP))),
            timed(lambda: version("a few", range(0, FILES, FILES // 10))),
        ]
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum does within minutes
    return seconds


_CONTENTS = """
INSERT INTO datasets_content (id, org_id, repository_id, sha256, size, is_used, created_at)
SELECT gen_random_uuid(), %s, %s, encode(sha256(convert_to(%s || ' ' || n, 'UTF8')), 'hex'),
       1000 + n, true, now()
FROM generate_series(0, %s) AS n"""


def _sha256(name: str, n: int) -> str:
    return hashlib.sha256(f"{name} {n}".encode()).hexdigest()


def _path(n: int) -> str:
    if n < FILES // 2:
        return f"flat/{n:07}.jpg"
    return f"images/{(n - FILES // 2) // EACH:04}/{n:07}.jpg"


def _times(client: httpx.Client, path: str, calls: int = CALLS) -> list[float]:
    """Return milliseconds of several requests; the first is not counted."""
    client.get(path).raise_for_status()
    times = [1000 * timed(lambda: client.get(path).raise_for_status()) for _ in range(calls)]
    print(f"{path:60} p50 {statistics.median(times):6.1f}  max {max(times):6.1f} ms", flush=True)
    return times


def _diff(client: httpx.Client) -> int:
    """Read all differences of the first two versions; return their number."""
    return sum(
        len(page)
        for page in _pages(
            lambda after: client.get(
                f"{API}/diff", params={"from": "1", "to": "2", "limit": 1000, "after": after}
            )
        )
    )


def _pages(get: Callable[[str], httpx.Response]) -> Iterator[list[object]]:
    after: str | None = ""
    while after is not None:
        answer = get(after).raise_for_status().json()
        yield answer["items"]
        after = answer["next"]


def _rows(
    seconds: list[float],
    pages: dict[str, list[float]],
    compare: list[float],
    diff: list[float],
    changes: int,
) -> list[Row]:
    worst = max(pages, key=lambda page: statistics.median(pages[page]))
    p50, took = statistics.median(pages[worst]), statistics.median(diff)
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    made = ", ".join(f"{one:.0f} s" for one in seconds)
    return [
        Row(
            "browse 1,000,000 files, first page",
            "–",
            "–",
            f"p50 {p50:.0f} ms ({worst or '/'})",
            f"p50 ≤ {MOST_PAGE} ms",
            p50 <= MOST_PAGE,
            f"the slowest of {len(pages)} pages; {load}",
        ),
        Row(
            "compare versions of 1,000,000 files, 1 % changed",
            "–",
            "–",
            f"{took:.2f} s for {changes:,} changes; page p50 {statistics.median(compare):.0f} ms",
            f"≤ {MOST_DIFF} s",
            took <= MOST_DIFF and changes == FILES // STEP,
            f"all pages by REST; versions made in {made}; {load}",
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
