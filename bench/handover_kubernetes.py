"""Submit attempts to Kubernetes, compared with the same create requests on plain connections.

Uses the cluster of the kubeconfig in MUSTER_TEST_KUBECONFIG; its pods select a node that does not
exist, so only the submission is measured. **Without a kubeconfig it uses our test double of the
API, in its own process**: the figures then show the cost of our side, not of a real API server.

Ours: claim from the database, build a Job and its Secret, create both, record the result. Raw:
create the same two objects on as many connections. Both take turns. The double runs once on any core
and once on its own core (`bench/sides.py`).
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from bench.handover import launches
from bench.setting import begin
from bench.sides import TOO_FEW, Pace, Round, Sides, can_part, compared, costs
from bench.table import Row, report
from schedulers.kubernetes import access
from schedulers.kubernetes.access import Access
from schedulers.kubernetes.client import Client
from tests.rig.kube import is_real
from tests.rig.processes import Folder

CONNECTIONS, BATCH, ROUNDS, PATIENCE = 8, 200, 5, 60.0
PREFIX = f"bench{uuid4().hex[:8]}"
SPACE = f"{PREFIX}-raw"
NOWHERE = {"muster-bench": "nowhere"}  # a label that no node has
SPEC = {
    "run": "true",
    "name": "hand-over",
    "resources": {"cpus": 1, "memory": "1Gi"},
    "policy": {"pool": "k8s", "max_runtime": "10m"},
}
DOUBLE = """
from tests.rig.kubernetes_double import Double
double = Double()
double.store.listeners.clear()
print(double.url, double.token, flush=True)
input()
"""


def main() -> int:
    folder = Folder()
    double = (
        None
        if is_real()
        else subprocess.Popen(
            [sys.executable, "-c", DOUBLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
    )
    try:
        options = _options(double)
        actor = begin(folder)
        cluster, site = _connect(actor, options), _access(options)
        sides = Sides.of(folder, [double.pid] if double else [os.getpid()])
        _raw_pace(sides, site, actor)
        _pace(sides, actor, cluster)  # warm up: namespace, connections, tables
        together, apart = _rounds(sides, site, actor, cluster), []
        if double and can_part():
            with sides.apart():
                apart = _rounds(sides, site, actor, cluster)
        message = _clean_up(site)
    finally:
        if double:
            double.kill()
        folder.close()
    report(
        [
            _row(
                message,
                together,
                f"; {costs(together)}" if double else "",
                f"; {TOO_FEW}" if double and not apart else "",
            ),
            *(
                [_row(f"{message}, on a core of its own", apart, f"; {costs(apart)}")]
                if apart
                else []
            ),
        ]
    )
    return 0


def _rounds(sides: Sides, site: Access, actor: Any, cluster: Any) -> list[Round]:
    return [(_raw_pace(sides, site, actor), _pace(sides, actor, cluster)) for _ in range(ROUNDS)]


def _row(which: str, rounds: list[Round], *more: str) -> Row:
    raw, ours, ratio = compared(rounds)
    return Row(
        f"hand-over to Kubernetes ({which}), {CONNECTIONS} connections",
        f"{raw:.0f} jobs/s by the same creates sent bare",
        "–",
        f"{ours:.0f} jobs/s: {ratio:.2f} of raw",
        "≥ 0.8 of raw, ≥ 100 jobs/s",
        ratio >= 0.8 and ours >= 100,
        "two objects a job; ours with claim, token, record and events" + "".join(more),
    )


def _options(double: Any) -> dict[str, Any]:
    common = {
        "image": "local/bash:1",
        "namespace_prefix": PREFIX,
        "node_selector": [f"{name}={value}" for name, value in NOWHERE.items()],
    }
    if double is None:
        return common | {"kubeconfig": Path(os.environ["MUSTER_TEST_KUBECONFIG"]).read_text()}
    url, token = double.stdout.readline().split()
    return common | {"server": url, "token": token}


def _access(options: dict[str, Any]) -> Access:
    if "kubeconfig" in options:
        return access.from_kubeconfig(options["kubeconfig"])
    return access.from_fields(options["server"], options["token"], "")


def _clean_up(site: Access) -> str:
    """Delete everything we created and return the cluster's version."""
    wire = Client(site)
    for space in wire.get("/api/v1/namespaces")["items"]:
        if space["metadata"]["name"].startswith(PREFIX):
            wire.delete(f"/api/v1/namespaces/{space['metadata']['name']}")
    return str(wire.get("/version")["gitVersion"])


def _connect(actor: Any, options: dict[str, Any]) -> Any:
    from clusters.backends import backend_of
    from clusters.models import Cluster
    from clusters.services import connections
    from clusters.services.inventory import take_inventory

    cluster = connections.connect_cluster(
        actor=replace(actor, is_operator=True), name="k8s", backend="kubernetes", options=options
    )
    take_inventory(cluster, backend_of(cluster))
    return Cluster.objects.get(id=cluster.id)


def _pace(sides: Sides, actor: Any, cluster: Any) -> Pace:
    from jobs import services
    from schedulers.spec import parse_mapping
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope, platform_scope

    with org_scope(actor.org_id):
        team = Team.objects.get()
        for _ in range(BATCH):
            services.submit_job(actor=actor, team=team, spec=parse_mapping(SPEC))
    with platform_scope("bench"):
        return sides.pace(lambda: _dispatch(cluster), BATCH)


def _dispatch(cluster: Any) -> None:
    """Retry what the cluster deferred."""
    from jobs.dispatch.claims import dispatch_cluster

    until, handed = time.monotonic() + PATIENCE, dispatch_cluster(cluster)
    while handed < BATCH:
        if time.monotonic() > until:
            raise RuntimeError(f"{handed} of {BATCH} were handed over")
        time.sleep(0.02)
        handed += dispatch_cluster(cluster)


def _raw_pace(sides: Sides, site: Access, actor: Any) -> Pace:
    """Use a separate namespace, since the other must belong to the portal."""
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}
    _post(site, [("/api/v1/namespaces", json.dumps(space).encode())], {201, 409})
    bodies = [_bodies(launch) for launch in launches(actor, SPEC, BATCH)]
    shares = [
        [pair for made in bodies[n::CONNECTIONS] for pair in made] for n in range(CONNECTIONS)
    ]
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return sides.pace(
            lambda: list(pool.map(lambda share: _post(site, share, {201}), shares)), BATCH
        )


def _bodies(launch: Any) -> list[tuple[str, bytes]]:
    """Return the requests that the backend would send for this job, as (path, body)."""
    from schedulers.kubernetes import pod

    made = pod.build(launch, pod.KubernetesSettings(image="local/bash:1", selector=NOWHERE))
    strict = "?fieldValidation=Strict"
    return [
        (f"/apis/batch/v1/namespaces/{SPACE}/jobs{strict}", json.dumps(_there(made.job)).encode()),
        *(
            (f"/api/v1/namespaces/{SPACE}/secrets{strict}", json.dumps(_there(thing)).encode())
            for thing in made.owned
        ),
    ]


def _there(thing: Any) -> Any:
    return {**thing, "metadata": {**thing["metadata"], "namespace": SPACE}}


def _post(site: Access, share: list[tuple[str, bytes]], right: set[int]) -> None:
    address, tls = urlsplit(site.server), site.tls()
    host = address.hostname or ""
    link = (
        http.client.HTTPSConnection(host, address.port, context=tls)
        if tls
        else http.client.HTTPConnection(host, address.port)
    )
    headers = {"Content-Type": "application/json"} | (
        {"Authorization": f"Bearer {site.token}"} if site.token else {}
    )
    for path, body in share:
        link.request("POST", path, body, headers)
        answer = link.getresponse()
        content = answer.read()
        if answer.status not in right:
            raise RuntimeError(f"{path} answered {answer.status}: {content[:300]!r}")
    link.close()


if __name__ == "__main__":
    sys.exit(main())
