"""Measure an idle portal, and the time from start to the sign-in page, in both modes.

The server stack's figures include its PostgreSQL and Redis. Raw limit: a minimal Django process that
returns one text. There is no peer whose stack is small enough to be installed for the comparison.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import httpx

from bench.idle import MIB, Sample, sample_tree
from bench.table import Row, report
from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder, wait_until
from tests.rig.redis import start_redis

_QUIET = 15.0  # seconds after the start before "idle" begins
_BARE = """
import django, os, signal
from django.conf import settings
settings.configure(ROOT_URLCONF=__name__, SECRET_KEY="x", ALLOWED_HOSTS=["*"])
django.setup()
from django.http import HttpResponse
from django.urls import path
urlpatterns = [path("", lambda request: HttpResponse("ok"))]
from django.core.wsgi import get_wsgi_application
get_wsgi_application()
signal.pause()
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    seconds = parser.parse_args().seconds
    bare = _bare()
    rows = []
    for mode, limit in (("embedded", 200), ("server", 300)):
        folder = Folder()
        try:
            rows += _measure(folder, mode, limit, seconds, bare)
        finally:
            folder.close()
    report(rows)
    return 0


def _measure(folder: Folder, mode: str, limit: int, seconds: float, bare: str) -> list[Row]:
    postgres = start_postgres(folder) if mode == "server" else None
    redis = start_redis(folder) if mode == "server" else None
    portal = Portal(folder, postgres.url if postgres else "", redis.url if redis else "")
    first = _first_page(portal)
    portal.stop()
    again = _first_page(portal)
    assert portal.process is not None
    roots = [
        portal.process.pid,
        *([postgres.pid] if postgres else []),
        *([redis.pid] if redis else []),
    ]
    time.sleep(_QUIET)
    before, began = _looks(roots), time.monotonic()
    time.sleep(seconds)
    after, elapsed = _looks(roots), time.monotonic() - began
    pss = sum(one.pss for one in after) / MIB
    cpu = 100 * (sum(one.seconds for one in after) - sum(one.seconds for one in before)) / elapsed
    count = sum(one.processes for one in after)
    portal.stop()
    what = f"{count} processes" + (", PostgreSQL and Redis among them" if postgres else "")
    return [
        Row(
            f"idle, {mode}",
            bare,
            "–",
            f"{pss:.0f} MiB PSS, {cpu:.2f} % of a core",
            f"≤ {limit} MiB, ≤ 1 %",
            pss <= limit and cpu <= 1,
            what,
        ),
        Row(
            f"sign-in page after start, {mode}",
            "–",
            "–",
            f"{first:.1f} s fresh, {again:.1f} s again",
            "≤ 3 s",
            max(first, again) <= 3,
        ),
    ]


def _first_page(portal: Portal) -> float:
    """Return seconds from the command to the sign-in page."""
    began = time.monotonic()
    portal.start()
    wait_until(
        lambda: httpx.get(f"{portal.url}/accounts/login/", timeout=5).status_code == httpx.codes.OK,
        "sign-in",
    )
    return time.monotonic() - began


def _looks(roots: list[int]) -> list[Sample]:
    return [sample_tree(root) for root in roots]


def _bare() -> str:
    with subprocess.Popen([sys.executable, "-c", _BARE]) as process:
        time.sleep(2)
        size = sample_tree(process.pid).pss / MIB
        process.kill()
    return f"{size:.0f} MiB: bare Django, one process"


if __name__ == "__main__":
    sys.exit(main())
