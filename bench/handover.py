"""Submit attempts to Slurm, compared with direct requests to slurmrestd on as many connections.

The nodes of a real Slurm are drained, so jobs stay in its queue and only the submission is measured.
Ours: claim from the database, build the request, submit, record the result. Raw: the same bodies on
plain connections. Both take turns, because slurmctld slows down as its queue grows. Once on any
core, and once with the cluster on its own core (`bench/sides.py`).

Latency: one job at a time on an idle queue, from before the claim until it is recorded, minus the
median of a plain submission.
"""

from __future__ import annotations

import http.client
import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from bench.setting import begin
from bench.sides import TOO_FEW, Pace, Round, Sides, can_part, compared, costs
from bench.table import Row, report, timed
from tests.rig.processes import Folder
from tests.rig.slurm import Slurm, start_slurm

CONNECTIONS, BATCH, ROUNDS, SINGLES = 8, 200, 5, 100
SPEC = {
    "run": "true",
    "name": "hand-over",
    "resources": {"cpus": 1, "memory": "1Gi"},
    "policy": {"pool": "hpc", "max_runtime": "10m"},
}


def main() -> int:
    folder = Folder()
    try:
        slurm = start_slurm(folder, accounting=False)
        actor = begin(folder)
        as_the_worker()
        cluster = connect(actor, slurm)
        slurm.run(
            "scontrol", "update", f"nodename={','.join(slurm.nodes)}", "state=drain", "reason=bench"
        )
        sides = Sides.of(folder)
        together = _rounds(sides, slurm, cluster, actor)
        direct = statistics.median(_raw_single(slurm, actor, cluster) for _ in range(SINGLES))
        added = sorted(_single(actor, cluster) - direct for _ in range(SINGLES))
        apart = []
        if can_part():
            with sides.apart():
                apart = _rounds(sides, slurm, cluster, actor)
    finally:
        folder.close()
    p50, p99 = added[SINGLES // 2] * 1000, added[SINGLES * 99 // 100] * 1000
    report(
        [
            _row("", together, "" if apart else f"; {TOO_FEW}"),
            *([_row(", the cluster on a core of its own", apart)] if apart else []),
            Row(
                "latency that the hand-over adds, one job",
                f"{direct * 1000:.0f} ms for a direct submission",
                "–",
                f"p50 {p50:.0f} ms, p99 {p99:.0f} ms",
                "p50 ≤ 50 ms, p99 ≤ 250 ms",
                p50 <= 50 and p99 <= 250,
            ),
        ]
    )
    return 0


def _rounds(sides: Sides, slurm: Slurm, cluster: Any, actor: Any) -> list[Round]:
    return [
        (_raw_pace(sides, slurm, actor, cluster), _pace(sides, actor, cluster))
        for _ in range(ROUNDS)
    ]


def _row(where: str, rounds: list[Round], more: str = "") -> Row:
    raw, ours, ratio = compared(rounds)
    return Row(
        f"hand-over to Slurm, {CONNECTIONS} connections{where}",
        f"{raw:.0f} jobs/s by slurmrestd asked directly",
        "–",
        f"{ours:.0f} jobs/s: {ratio:.2f} of raw",
        "≥ 0.8 of raw",
        ratio >= 0.8,
        f"ours with claim, token, record and events; {costs(rounds)}{more}",
    )


def as_the_worker() -> None:
    """Warm up the submitting process."""
    import gc

    from portal.process.parts import collect_seldom

    collect_seldom()
    gc.freeze()


def connect(actor: Any, slurm: Slurm) -> Any:
    from clusters.backends import backend_of
    from clusters.models import Cluster
    from clusters.services import connections
    from clusters.services.inventory import take_inventory

    spool = slurm.work / "spool"
    spool.mkdir()
    spool.chmod(0o1777)
    options = {
        "spool": str(spool),
        "user": slurm.user,
        "rest_url": slurm.rest_url,
        "rest_key": slurm.jwt_key.read_text(),
    }
    cluster = connections.connect_cluster(
        actor=replace(actor, is_operator=True), name="hpc", backend="slurm", options=options
    )
    take_inventory(cluster, backend_of(cluster))
    return Cluster.objects.get(id=cluster.id)


def _submit(actor: Any, count: int) -> None:
    from jobs import services
    from schedulers.spec import parse_mapping
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope

    with org_scope(actor.org_id):
        team = Team.objects.get()
        for _ in range(count):
            services.submit_job(actor=actor, team=team, spec=parse_mapping(SPEC))


def _pace(sides: Sides, actor: Any, cluster: Any) -> Pace:
    _submit(actor, BATCH)
    return sides.pace(lambda: _dispatch(cluster, BATCH), BATCH)


def _single(actor: Any, cluster: Any) -> float:
    """Measure one job from its claim until it is recorded."""
    from jobs.dispatch.claims import claim_due
    from tests.jobs.stage import hand_over
    from workspaces.tenancy.scope import platform_scope

    _submit(actor, 1)
    with platform_scope("bench"):
        return timed(lambda: hand_over(claim_due(cluster.id)))  # type: ignore[arg-type]  it is due


def _dispatch(cluster: Any, count: int) -> None:
    from jobs.dispatch.claims import dispatch_cluster
    from workspaces.tenancy.scope import platform_scope

    with platform_scope("bench"):
        handed = dispatch_cluster(cluster)
    if handed != count:
        raise RuntimeError(f"{handed} of {count} were handed over")


def launches(actor: Any, spec: dict[str, Any], count: int) -> list[Any]:
    """Return the launches of `count` such jobs, with the same variables and separate keys."""
    from jobs.dispatch.launch import rehearsal_launch
    from schedulers.spec import parse_mapping
    from workspaces.models import Team
    from workspaces.tenancy.scope import org_scope

    with org_scope(actor.org_id):
        launch = rehearsal_launch(None, Team.objects.get(), actor, parse_mapping(spec))
    return [replace(launch, key=f"raw-{uuid4().hex}") for _ in range(count)]


def _bodies(actor: Any, cluster: Any, count: int) -> list[bytes]:
    """Return the requests that the backend would send for `count` jobs."""
    from clusters.backends import backend_of
    from schedulers.slurm.request import build_request
    from schedulers.slurm.rest import job_body
    from schedulers.slurm.script import batch_script

    site = backend_of(cluster).site  # type: ignore[attr-defined]  it is Slurm's
    return [
        json.dumps(
            {
                "job": job_body(build_request(launch, site), 38),
                "script": batch_script(launch, f"{site.spool}/{launch.key}", uuid4().hex),
            }
        ).encode()
        for launch in launches(actor, SPEC, count)
    ]


def _raw_pace(sides: Sides, slurm: Slurm, actor: Any, cluster: Any) -> Pace:
    bodies = _bodies(actor, cluster, BATCH)
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        return sides.pace(
            lambda: list(
                pool.map(lambda n: _post_all(slurm, bodies[n::CONNECTIONS]), range(CONNECTIONS))
            ),
            BATCH,
        )


def _raw_single(slurm: Slurm, actor: Any, cluster: Any) -> float:
    body = _bodies(actor, cluster, 1)
    return timed(lambda: _post_all(slurm, body))


def _post_all(slurm: Slurm, bodies: list[bytes]) -> None:
    from schedulers.slurm.rest import signed

    address = urlsplit(slurm.rest_url)
    headers = {
        "X-SLURM-USER-NAME": slurm.user,
        "X-SLURM-USER-TOKEN": signed(slurm.jwt_key.read_bytes(), slurm.user, int(time.time())),
        "Content-Type": "application/json",
    }
    link = http.client.HTTPConnection(address.hostname or "", address.port)
    for body in bodies:
        link.request("POST", "/slurm/v0.0.38/job/submit", body, headers)
        answer = link.getresponse()
        content = answer.read()
        if answer.status != http.client.OK or b'"job_id"' not in content:
            raise RuntimeError(f"slurmrestd answered {answer.status}: {content[:300]!r}")
    link.close()


if __name__ == "__main__":
    sys.exit(main())
