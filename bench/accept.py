"""Measure accepting jobs over HTTP in one web process, and PostgreSQL's rate of one-row commits.

The database is durable (fsync on). Only the web process runs, so that only accepting is measured.
There is no peer: the raw column is the maximum for any portal that does one INSERT per job.
"""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context

import httpx
import psycopg

from bench.table import Row, report
from tests.rig.environment import ROOT
from tests.rig.portal import Portal
from tests.rig.postgres import start_postgres
from tests.rig.processes import Folder, free_port, is_listening, wait_until
from tests.rig.redis import start_redis

CLIENTS, SECONDS, ARRAY = 8, 8.0, 1000
BODY = {"team": "default", "spec": {"name": "accept", "run": "true"}}


def main() -> int:
    folder = Folder()
    try:
        postgres, redis = start_postgres(folder), start_redis(folder)
        portal = Portal(folder, postgres.url, redis.url, settings={"MUSTER_API_RATE": "100000000"})
        token = _prepare(portal)
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute("CREATE TABLE raw_commit (id bigserial PRIMARY KEY, body jsonb)")
        raw_one = _rate(_commit, 1, postgres.url)
        raw = _rate(_commit, CLIENTS, postgres.url)
        port = free_port()
        serve = [sys.executable, str(ROOT / "manage.py"), "serve", "--only", "web"]
        folder.start(
            "web", [*serve, "--host", "127.0.0.1", "--port", str(port)], env=portal.environment
        )
        wait_until(lambda: is_listening(port), "the web process listens")
        _rate(_submit, 2, (port, token), seconds=1.0)
        one = _rate(_submit, 1, (port, token))
        ours = _rate(_submit, CLIENTS, (port, token))
        array = _array(port, token)
    finally:
        folder.close()
    limit = f"{raw:.0f} one-row commits/s with {CLIENTS} connections ({raw_one:.0f} with one)"
    reached = (
        f"{ours:.0f} jobs/s with {CLIENTS} clients ({one:.0f} with one): {ours / raw:.2f} of raw"
    )
    call = f"{array * 1000:.0f} ms (median of 9)"
    report(
        [
            Row(
                "durable accept over HTTP, one web process",
                limit,
                "–",
                reached,
                "≥ 0.15 of raw",
                ours >= 0.15 * raw,
            ),
            Row(f"an array of {ARRAY:,} in one call", "–", "–", call, "≤ 50 ms", array <= 0.05),
        ]
    )
    return 0


def _prepare(portal: Portal) -> str:
    """Run the stack until its node is known, so that requests can be judged; return a token."""
    portal.start()
    token = portal.token()
    with httpx.Client(base_url=portal.url, headers={"Authorization": f"Bearer {token}"}) as client:
        wait_until(
            lambda: client.get("/api/v1/orgs/home/nodes").json().get("items"), "a node is known", 30
        )
    portal.stop()
    return token


def _rate(
    work: Callable[..., int], clients: int, what: object, *, seconds: float = SECONDS
) -> float:
    """Run `work(what, seconds)` in that many processes; return the total per second."""
    with get_context("spawn").Pool(clients) as pool:
        counts = pool.starmap(work, [(what, seconds)] * clients)
    return sum(counts) / seconds


def _commit(url: str, seconds: float) -> int:
    count, text = 0, json.dumps(BODY)
    with psycopg.connect(url, autocommit=True) as connection:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.execute("INSERT INTO raw_commit (body) VALUES (%s)", [text])
            count += 1
    return count


def _submit(where: tuple[int, str], seconds: float) -> int:
    post, count, end = _poster(*where), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        post(BODY)
        count += 1
    return count


def _poster(port: int, token: str) -> Callable[[object], None]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(body: object) -> None:
        connection.request("POST", "/api/v1/orgs/home/jobs", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in {200, 201}:
            raise RuntimeError(f"{answer.status}: {text[:300]!r}")

    return post


def _array(port: int, token: str) -> float:
    body = {"team": "default", "spec": {"name": "array", "run": "true", "array": {"size": ARRAY}}}
    post, times = _poster(port, token), []
    for _ in range(9):
        began = time.perf_counter()
        post(body)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


if __name__ == "__main__":
    sys.exit(main())
