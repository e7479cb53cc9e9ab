"""Handing attempts over to Kubernetes, against the very same creates sent by bare connections.

**Against our double of its API, in a process of its own whose cluster does nothing**: a real one cannot be had from packages. So the figures
are what our side costs, and not what a real API server takes; the raw ones show how fast the double is. Ours: claimed from the database, made
into a Job and its Secret, created, and recorded. Raw: the same two objects of each job, by as many connections. They take turns.
"""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from bench.setting import begin
from bench.table import Row, report
from tests.rig.processes import Folder

CONNECTIONS, BATCH, ROUNDS = 8, 200, 5
SPACE = "raw-jobs"
SPEC = {"run": "true", "name": "hand-over", "resources": {"cpus": 1, "memory": "1Gi"}, "policy": {"pool": "k8s", "max_runtime": "10m"}}
DOUBLE = "from tests.rig.kubernetes_double import Double; d = Double(); d.store.listeners.clear(); print(d.url, d.token, flush=True); input()"


def main() -> int:
    folder = Folder()
    double = subprocess.Popen([sys.executable, "-c", DOUBLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url, token = double.stdout.readline().split()  # type: ignore[union-attr]  # a pipe, as asked
        actor = begin(folder)
        cluster = _connect(actor, url, token)
        _raw_rate(url, token)
        _rate(actor, cluster)                                         # the namespace, connections, tables: made once
        rounds = [(_raw_rate(url, token), _rate(actor, cluster)) for _ in range(ROUNDS)]
    finally:
        double.kill()
        folder.close()
    raw, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(o / r for r, o in rounds)
    report([
        Row(f"hand-over to Kubernetes (our double of its API), {CONNECTIONS} connections", f"{raw:.0f} jobs/s by the same creates sent bare", "–",
            f"{ours:.0f} jobs/s: {ratio:.2f} of raw", "≥ 0.8 of raw, ≥ 100 jobs/s", ratio >= 0.8 and ours >= 100,
            "two objects a job; ours with claim, token, record and events"),
    ])  # fmt: skip
    return 0


def _connect(actor: Any, url: str, token: str) -> Any:
    from clusters.models import Cluster
    from jobs.clusters import backend_of, connecting
    from jobs.watch.inventory import take_inventory

    options = {"server": url, "token": token, "image": "local/bash:1"}
    cluster = connecting.connect_cluster(actor=replace(actor, is_operator=True), name="k8s", backend="kubernetes", options=options)
    take_inventory(cluster, backend_of(cluster))
    return Cluster.objects.get(id=cluster.id)


def _rate(actor: Any, cluster: Any) -> float:
    from jobs import services
    from jobs.dispatch import dispatch_cluster
    from jobs.spec import parse_mapping
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope, platform_scope

    with org_scope(actor.org_id):
        team = Team.objects.get()
        for _ in range(BATCH):
            services.submit_job(actor=actor, team=team, spec=parse_mapping(SPEC))
    with platform_scope("bench"):
        began = time.perf_counter()
        handed = dispatch_cluster(cluster)
        took = time.perf_counter() - began
    if handed != BATCH:
        raise RuntimeError(f"{handed} of {BATCH} were handed over")
    return BATCH / took


def _raw_rate(url: str, token: str) -> float:
    """In a namespace of its own: the other is only used when it is the portal's."""
    _post(url, token, [("/api/v1/namespaces", json.dumps({"kind": "Namespace", "metadata": {"name": SPACE}}).encode())], {201, 409})
    bodies = [_bodies() for _ in range(BATCH)]
    shares = [[pair for made in bodies[n::CONNECTIONS] for pair in made] for n in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return BATCH / _timed(lambda: list(pool.map(lambda share: _post(url, token, share, {201}), shares)))


def _bodies() -> list[tuple[str, bytes]]:
    """What the backend would send for one job like ours, as (path, body)."""
    from jobs.backends.base import Launch
    from jobs.backends.kubernetes_parts import pod

    launch = Launch(key=f"raw-{uuid4().hex}", name="hand-over", script="true", memory=1 << 30, time_limit=600, env={"PADDING": "x" * 2000})
    made = pod.build(launch, pod.Site(image="local/bash:1"))
    strict = "?fieldValidation=Strict"
    return [(f"/apis/batch/v1/namespaces/{SPACE}/jobs{strict}", json.dumps(made.job).encode()),
            *((f"/api/v1/namespaces/{SPACE}/secrets{strict}", json.dumps(thing).encode()) for thing in made.owned)]


def _post(url: str, token: str, share: list[tuple[str, bytes]], right: set[int]) -> None:
    address = urlsplit(url)
    link = http.client.HTTPConnection(address.hostname or "", address.port)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    for path, body in share:
        link.request("POST", path, body, headers)
        answer = link.getresponse()
        told = answer.read()
        if answer.status not in right:
            raise RuntimeError(f"{path} answered {answer.status}: {told[:300]!r}")
    link.close()


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
