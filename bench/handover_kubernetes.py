"""Handing attempts over to Kubernetes, against the very same creates sent by bare connections.

On the cluster whose kubeconfig MUSTER_TEST_KUBECONFIG names; its pods wait for a node that is not there, so that only the hand-over is measured.
**Without one, against our double of its API, in a process of its own whose cluster does nothing**: then the figures are what our side costs, and
not what a real API server takes; the raw ones show how fast the double is. Ours: claimed from the database, made into a Job and its Secret,
created, and recorded. Raw: the same two objects of each job, by as many connections. They take turns.
"""

from __future__ import annotations

import http.client
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from bench.setting import begin
from bench.table import Row, report, timed
from jobs.backends.kubernetes_parts import access
from jobs.backends.kubernetes_parts.access import Access
from jobs.backends.kubernetes_parts.wire import Wire
from tests.rig.kube import is_real
from tests.rig.processes import Folder

CONNECTIONS, BATCH, ROUNDS, PATIENCE = 8, 200, 5, 60.0
PREFIX = f"bench{uuid4().hex[:8]}"
SPACE = f"{PREFIX}-raw"
NOWHERE = {"muster-bench": "nowhere"}                                 # a label that no node has
SPEC = {"run": "true", "name": "hand-over", "resources": {"cpus": 1, "memory": "1Gi"}, "policy": {"pool": "k8s", "max_runtime": "10m"}}
DOUBLE = "from tests.rig.kubernetes_double import Double; d = Double(); d.store.listeners.clear(); print(d.url, d.token, flush=True); input()"


def main() -> int:
    folder = Folder()
    double = None if is_real() else subprocess.Popen([sys.executable, "-c", DOUBLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        options = _options(double)
        actor = begin(folder)
        cluster, site = _connect(actor, options), _access(options)
        _raw_rate(site)
        _rate(actor, cluster)                                         # the namespace, connections, tables: made once
        rounds = [(_raw_rate(site), _rate(actor, cluster)) for _ in range(ROUNDS)]
        said = _clean_up(site)
    finally:
        if double:
            double.kill()
        folder.close()
    raw, ours = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(o / r for r, o in rounds)
    report([
        Row(f"hand-over to Kubernetes ({said}), {CONNECTIONS} connections", f"{raw:.0f} jobs/s by the same creates sent bare", "–",
            f"{ours:.0f} jobs/s: {ratio:.2f} of raw", "≥ 0.8 of raw, ≥ 100 jobs/s", ratio >= 0.8 and ours >= 100,
            "two objects a job; ours with claim, token, record and events"),
    ])  # fmt: skip
    return 0


def _options(double: Any) -> dict[str, Any]:
    common = {"image": "local/bash:1", "namespace_prefix": PREFIX, "node_selector": [f"{name}={value}" for name, value in NOWHERE.items()]}
    if double is None:
        return common | {"kubeconfig": Path(os.environ["MUSTER_TEST_KUBECONFIG"]).read_text()}
    url, token = double.stdout.readline().split()
    return common | {"server": url, "token": token}


def _access(options: dict[str, Any]) -> Access:
    if "kubeconfig" in options:
        return access.from_kubeconfig(options["kubeconfig"])
    return access.from_fields(options["server"], options["token"], "")


def _clean_up(site: Access) -> str:
    """Nothing of ours stays; the version of the cluster it was."""
    wire = Wire(site)
    for space in wire.get("/api/v1/namespaces")["items"]:
        if space["metadata"]["name"].startswith(PREFIX):
            wire.delete(f"/api/v1/namespaces/{space['metadata']['name']}")
    return str(wire.get("/version")["gitVersion"])


def _connect(actor: Any, options: dict[str, Any]) -> Any:
    from clusters.models import Cluster
    from jobs.clusters import backend_of, connecting
    from jobs.watch.inventory import take_inventory

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
        while handed < BATCH:                                         # what the cluster could not take is tried again
            if time.perf_counter() - began > PATIENCE:
                raise RuntimeError(f"{handed} of {BATCH} were handed over")
            time.sleep(0.02)
            handed += dispatch_cluster(cluster)
        took = time.perf_counter() - began
    return BATCH / took


def _raw_rate(site: Access) -> float:
    """In a namespace of its own: the other is only used when it is the portal's."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    _post(site, [("/api/v1/namespaces", json.dumps(space).encode())], {201, 409})
    bodies = [_bodies() for _ in range(BATCH)]
    shares = [[pair for made in bodies[n::CONNECTIONS] for pair in made] for n in range(CONNECTIONS)]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return BATCH / timed(lambda: list(pool.map(lambda share: _post(site, share, {201}), shares)))


def _bodies() -> list[tuple[str, bytes]]:
    """What the backend would send for one job like ours, as (path, body)."""
    from jobs.backends.base import Launch
    from jobs.backends.kubernetes_parts import pod

    launch = Launch(key=f"raw-{uuid4().hex}", name="hand-over", script="true", memory=1 << 30, time_limit=600, env={"PADDING": "x" * 2000})
    made = pod.build(launch, pod.Site(image="local/bash:1", selector=NOWHERE))
    strict = "?fieldValidation=Strict"
    return [(f"/apis/batch/v1/namespaces/{SPACE}/jobs{strict}", json.dumps(_there(made.job)).encode()),
            *((f"/api/v1/namespaces/{SPACE}/secrets{strict}", json.dumps(_there(thing)).encode()) for thing in made.owned)]


def _there(thing: Any) -> Any:
    return {**thing, "metadata": {**thing["metadata"], "namespace": SPACE}}


def _post(site: Access, share: list[tuple[str, bytes]], right: set[int]) -> None:
    address, tls = urlsplit(site.server), site.tls()
    host = address.hostname or ""
    link = http.client.HTTPSConnection(host, address.port, context=tls) if tls else http.client.HTTPConnection(host, address.port)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {site.token}"} if site.token else {})
    for path, body in share:
        link.request("POST", path, body, headers)
        answer = link.getresponse()
        told = answer.read()
        if answer.status not in right:
            raise RuntimeError(f"{path} answered {answer.status}: {told[:300]!r}")
    link.close()


if __name__ == "__main__":
    sys.exit(main())
