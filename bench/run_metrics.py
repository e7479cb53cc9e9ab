"""Measure runs over HTTP beside MLflow's own server, on the same PostgreSQL.

Both servers run with their defaults, MLflow's with users and a cache of their passwords. They take turns
within each measurement, so that the ratio holds on a busy machine.
"""

from __future__ import annotations

import base64
import itertools
import os
import random
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson
import psycopg

from bench.setting import begin
from bench.table import Row, report
from tests.rig.mlflow import MLFLOW_PASSWORD, MLFLOW_USER, start_mlflow_server
from tests.rig.portal import Portal
from tests.rig.processes import Folder

CLIENTS, ROUNDS, SECONDS = 8, 3, 4
BATCH, KEYS = 1000, 10  # metrics of a batch and of a run
RUNS, PAGE = 10_000, 1000
POINTS, DRAWN = 100_000, 1000


@dataclass(frozen=True)
class Server:
    """One of the two servers: the address of its API, the credentials, and its database."""

    url: str
    authorization: str
    database: str

    def send(self, connection: HTTPConnection, method: str, path: str, data: Any = None) -> bytes:
        """Send a request to a path below the API. Raises RuntimeError unless it succeeds."""
        target = f"{urlsplit(self.url).path}/{path}"
        headers = {"Authorization": self.authorization, "Content-Type": "application/json"}
        body = None
        if method == "GET":
            target += f"?{urlencode(data or {})}"
        else:
            body = orjson.dumps(data)
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        found = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{method} {target}: {answer.status} {found[:500]!r}")
        return found

    @contextmanager
    def connected(self) -> Iterator[HTTPConnection]:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=120)
        try:
            yield connection
        finally:
            connection.close()

    def new_run(self) -> str:
        with self.connected() as connection:
            found = self.send(connection, "POST", "runs/create", {"experiment_id": "0"})
        return str(orjson.loads(found)["run"]["info"]["run_id"])


Both = tuple[Server, Server]  # MLflow's, ours
Request = tuple[str, dict[str, Any]]  # path, body


def main() -> int:
    folder = Folder()
    try:
        actor = begin(folder)
        database, redis = os.environ["MUSTER_DATABASE_URL"], os.environ["MUSTER_REDIS_URL"]
        settings = {"MUSTER_HOME": os.environ["MUSTER_HOME"], "MUSTER_API_RATE": "100000000"}
        portal = Portal(folder, database, redis, settings=settings)
        portal.start()
        mlflow = start_mlflow_server(folder, database, workers=4)
        basic = base64.b64encode(f"{MLFLOW_USER}:{MLFLOW_PASSWORD}".encode()).decode()
        both = (
            Server(f"{mlflow}/api/2.0/mlflow", f"Basic {basic}", _database(database, "mlflow")),
            Server(
                f"{portal.url}/mlflow/home/api/2.0/mlflow", f"Bearer {portal.token()}", database
            ),
        )
        from workspaces.tenancy.scope import org_scope

        with org_scope(actor.org_id):
            report(_writing(both))
            report(_history(both))
            report(_search(both, actor))
        portal.stop()
    finally:
        folder.close()
    return 0


def _database(url: str, name: str) -> str:
    """Return the URL of the database that the rig has made for MLflow's runs."""
    with psycopg.connect(url) as connection:
        [row] = connection.execute(
            "SELECT datname FROM pg_database WHERE datname ~ %s", [f"^{name}_[0-9a-f]+$"]
        ).fetchall()
    return f"{url.rsplit('/', 1)[0]}/{row[0]}"


# --- Writing ---


def _writing(both: Both) -> list[Row]:
    return [
        _rates(both, "log-batch of 1,000 metrics, 8 clients", _batches, BATCH, 20),
        _rates(both, "log-metric, one a request, 8 clients", _single_metrics, 1, 3),
    ]


def _batches(run_id: str) -> Iterator[Request]:
    steps = BATCH // KEYS
    for n in itertools.count():
        metrics = [
            {"key": f"train/m{key}", "value": random.random(), "timestamp": at, "step": step}
            for step in range(n * steps, n * steps + steps)
            for at in [10**12 + step * 100]
            for key in range(KEYS)
        ]
        yield "runs/log-batch", {"run_id": run_id, "metrics": metrics}


def _single_metrics(run_id: str) -> Iterator[Request]:
    for step in itertools.count():
        point = {"key": "loss", "value": random.random(), "timestamp": 10**12 + step, "step": step}
        yield "runs/log-metric", {"run_id": run_id, **point}


def _rates(
    both: Both, what: str, requests: Callable[[str], Iterator[Request]], points: int, times: int
) -> Row:
    rounds = [[_rate(server, requests) * points for server in both] for _ in range(ROUNDS)]
    theirs, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(ours / theirs for theirs, ours in rounds)
    return Row(
        what,
        "–",
        f"{theirs:,.0f} points/s",
        f"{ours:,.0f} points/s, {ratio:.1f} ×",
        f"≥ {times} × the peer",
        ratio >= times,
        _load(),
    )


def _rate(server: Server, requests: Callable[[str], Iterator[Request]]) -> float:
    """Return the requests a second of all clients, each of which logs to a run of its own."""
    done, errors = [0] * CLIENTS, list[Exception]()
    runs = [server.new_run() for _ in range(CLIENTS)]
    end = time.perf_counter() + SECONDS

    def client(n: int) -> None:
        try:
            with server.connected() as connection:
                for path, data in requests(runs[n]):
                    server.send(connection, "POST", path, data)
                    done[n] += 1
                    if time.perf_counter() > end:
                        return
        except Exception as error:
            errors.append(error)

    start = time.perf_counter()
    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(done) / (time.perf_counter() - start)


# --- Reading ---


def _history(both: Both) -> list[Row]:
    from portal import series
    from portal.series.models import Chunk

    runs = [server.new_run() for server in both]
    with both[1].connected() as connection:
        for start in range(0, POINTS, BATCH):
            metrics = [
                {"key": "loss", "value": random.random(), "timestamp": 10**12 + n, "step": n}
                for n in range(start, start + BATCH)
            ]
            data = {"run_id": runs[1], "metrics": metrics}
            both[1].send(connection, "POST", "runs/log-batch", data)
    with psycopg.connect(both[0].database, autocommit=True) as database:
        database.execute("TRUNCATE metrics")
        database.execute(
            "INSERT INTO metrics (key, value, timestamp, step, is_nan, run_uuid) "
            f"SELECT 'loss', random(), 1000000000000 + n, n, false, '{runs[0]}' "
            f"FROM generate_series(0, {POINTS - 1}) n"
        )
    Chunk.objects.exclude(series__owner=f"run:{runs[1]}").delete()  # of the runs before
    while series.compact():
        pass
    sizes = (
        _bytes_per_point(both[0], "metrics", "count(*)"),
        _bytes_per_point(both[1], "series_chunk", "sum(count)"),
    )
    full = _alternately(
        both,
        lambda n: ("GET", "metrics/get-history", {"run_id": runs[n], "metric_key": "loss"}),
    )
    drawn = _alternately(
        both,
        lambda n: (
            "GET",
            "metrics/get-history-bulk-interval",
            {"run_ids": runs[n], "metric_key": "loss", "max_results": DRAWN},
        ),
    )
    curve = _curve(both[1], runs[1])
    return [
        Row(
            "bytes per point on disk, with indexes",
            "24 as plain numbers",
            f"{sizes[0]:.0f}",
            f"{sizes[1]:.1f}",
            "≤ 20",
            sizes[1] <= 20,
        ),
        _compared("whole history of 100,000 points", full, 5),
        Row(
            "history of 100,000 points, down-sampled to 1,000",
            "–",
            f"p50 {drawn[0]:.0f} ms",
            f"p50 {curve:.0f} ms; by MLflow's route {drawn[1]:.0f} ms",
            "p50 ≤ 50 ms",
            curve <= 50,
            _load(),
        ),
    ]


def _bytes_per_point(server: Server, table: str, count: str) -> float:
    with psycopg.connect(server.database, autocommit=True) as connection:
        connection.execute(f"VACUUM FULL {table}")  # type: ignore[arg-type]
        [size] = connection.execute(
            f"SELECT pg_total_relation_size('{table}') / (SELECT {count} FROM {table})::float"  # type: ignore[arg-type]
        ).fetchone() or [0.0]
    return float(size)


def _curve(server: Server, run_id: str) -> float:
    """Return the median in ms of the REST API, from which the charts of the pages come."""
    root = urlsplit(server.url)
    rest = Server(
        f"{root.scheme}://{root.netloc}/api/v1/orgs/home/runs",
        server.authorization,
        server.database,
    )
    with rest.connected() as connection:
        return _median(
            lambda: rest.send(
                connection, "GET", f"{run_id}/metrics", {"names": "loss", "max_points": DRAWN}
            )
        )


def _search(both: Both, actor: Any) -> list[Row]:
    _fill_ours(actor)
    _fill_theirs(both[0])
    found = _alternately(
        both,
        lambda n: (
            "POST",
            "runs/search",
            {
                "experiment_ids": ["0"],
                "filter": "metrics.m1 < 0.5 and params.p2 != '7'",
                "order_by": ["metrics.m3 DESC"],
                "max_results": PAGE,
            },
        ),
        lambda answer: (
            len(answer["runs"]) == PAGE and len(answer["runs"][0]["data"]["params"]) == KEYS
        ),
    )
    return [_compared("search: 1,000 of 10,000 runs, filtered and sorted", found, 5)]


def _fill_ours(actor: Any) -> None:
    from django.db import connection

    from experiments import services
    from experiments.models import Run
    from portal.core.ids import uuid7
    from portal.series.models import Series
    from workspaces.models import Team

    experiment = services.default_experiment(actor=actor, team=Team.objects.get())
    ids = [uuid7() for _ in range(RUNS)]
    Run.objects.bulk_create(
        [
            Run(
                id=pk,
                org_id=actor.org_id,
                experiment=experiment,
                team_id=experiment.team_id,
                owner_id=actor.user_id,
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
                owner=f"run:{pk.hex}", name=f"m{k}", org_id=actor.org_id, last_value=random.random()
            )
            for pk in ids
            for k in range(KEYS)
        ],
        batch_size=5000,
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _fill_theirs(server: Server) -> None:
    values = {
        "runs (run_uuid, name, source_type, source_name, entry_point_name, user_id, status, "
        "start_time, lifecycle_stage, artifact_uri, experiment_id)": "md5('run' || n), 'run ' || n, "
        "'LOCAL', '', '', 'admin', 'FINISHED', n, 'active', 'mlflow-artifacts:/0/' || n, 0",
        "tags (key, value, run_uuid)": "'mlflow.runName', 'run ' || n, md5('run' || n)",
        "params (key, value, run_uuid)": "'p' || k, floor(random() * 100)::text, md5('run' || n)",
        "latest_metrics (key, value, timestamp, step, is_nan, run_uuid)": "'m' || k, random(), n, 0, "
        "false, md5('run' || n)",
    }
    with psycopg.connect(server.database, autocommit=True) as connection:
        for table, columns in values.items():
            each = (
                f", generate_series(0, {KEYS - 1}) k"
                if "'m' ||" in columns or "'p' ||" in columns
                else ""
            )
            connection.execute(
                f"INSERT INTO {table} SELECT {columns} FROM generate_series(1, {RUNS}) n{each}"  # type: ignore[arg-type]
            )
        connection.execute("ANALYZE")


def _alternately(
    both: Both,
    request: Callable[[int], tuple[str, str, dict[str, Any]]],
    is_right: Callable[[Any], bool] = bool,
) -> list[float]:
    """Return the medians in milliseconds of both servers, which take turns."""
    took: Sequence[list[float]] = ([], [])
    for turn in range(8):
        for n, server in enumerate(both):
            with server.connected() as connection:
                start = time.perf_counter()
                answer = server.send(connection, *request(n))
                seconds = time.perf_counter() - start
            if not is_right(orjson.loads(answer)):
                raise RuntimeError(f"{server.url} answers {answer[:500]!r}")
            if turn:  # the first one warms up
                took[n].append(seconds * 1000)
    return [statistics.median(each) for each in took]


def _median(call: Callable[[], object], times: int = 15) -> float:
    call()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append((time.perf_counter() - start) * 1000)
    return statistics.median(found)


def _compared(what: str, found: Sequence[float], times: int) -> Row:
    theirs, ours = found
    return Row(
        what,
        "–",
        f"p50 {theirs:.0f} ms",
        f"p50 {ours:.0f} ms, 1/{theirs / ours:.1f}",
        f"≤ 1/{times} of the peer",
        ours * times <= theirs,
        _load(),
    )


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


if __name__ == "__main__":
    sys.exit(main())
