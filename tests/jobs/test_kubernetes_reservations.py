"""Granted pools on a double of Kubernetes: taints of nodes, and quota of a minimal Kueue."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from clusters.backends import backend_of
from clusters.models import Cluster, PoolReservation
from clusters.services import pool_requests as service
from clusters.services.inventory import take_inventory
from clusters.services.pools import create_pool, grant_pool
from clusters.tasks import run_pool_requests
from jobs import services
from jobs.models import Job
from monitoring.what_if import what_if
from portal.core import clock
from schedulers.kubernetes import names, queues
from schedulers.spec import parse_mapping
from schedulers.states import State, Wait
from tests.jobs.kubernetes_site import Site
from workspaces.tenancy.scope import org_scope, platform_scope


def pool_of(site: Site, partition: str = "") -> Cluster:
    """Make a pool of the cluster that North of another organization may use."""
    dot = site.story.actor(site.story.dot)
    take_inventory(site.cluster, backend_of(site.cluster))
    pool = create_pool(actor=dot, cluster=site.cluster, name="h100", partition=partition)
    with platform_scope("test"):
        grant_pool(actor=dot, pool=pool, team=site.story.north)
    return site.cluster


def approved(site: Site, gpus: int) -> tuple[Any, Any]:
    """Return an approved request of Vision, and what the operator was told before."""
    story = site.story
    dot = story.actor(story.dot, story.atlas)
    with org_scope(story.atlas.id):
        row = service.request_pool(
            actor=story.actor(story.ben),
            org=story.atlas,
            team=story.vision,
            gpu_type="h100",
            gpus=gpus,
            ends_at=clock.now() + timedelta(days=3),
        )
        [effect] = what_if(dot, row)
        row = service.decide(do="approve", actor=dot, request_id=row.id, pool="h100")
    run_pool_requests()
    return row, effect.reservation


def submit(site: Site, team: Any, run: str = "sleep 60") -> Job:
    story = site.story
    person, org = (story.cyd, story.borealis) if team == story.north else (story.ada, story.atlas)
    spec = {"run": run, "resources": {"accelerators": "h100:1"}, "policy": {"grace": "1s"}}
    with org_scope(org.id):
        return services.submit_job(actor=story.actor(person), team=team, spec=parse_mapping(spec))


def state(job: Job) -> State:
    with platform_scope("test"):
        return State(Job.objects.get(id=job.id).state)


def reason(job: Job) -> Wait:
    with platform_scope("test"):
        return Wait(Job.objects.get(id=job.id).wait)


def give_back(site: Site, row: Any) -> PoolReservation:
    with org_scope(site.story.atlas.id):
        service.decide(do="return", actor=site.story.actor(site.story.ben), request_id=row.id)
    run_pool_requests()
    with platform_scope("test"):
        return PoolReservation.objects.get(id=row.reservation_id)


def test_taint_keeps_others_out_until_the_gpus_are_returned(site):
    pool_of(site)
    store = site.double.store
    [node] = store.all("nodes", "")
    foreign = {"key": "site", "value": "x", "effect": "PreferNoSchedule"}
    store.update(
        "nodes", "", node["metadata"]["name"], lambda n: n["spec"].update(taints=[foreign])
    )
    row, said = approved(site, 1)
    name = row.reservation.name
    assert said.text.startswith("Labels and taints node ") and said.gpus > 1
    [node] = store.all("nodes", "")
    assert node["metadata"]["labels"][names.POOL] == name
    assert foreign in node["spec"]["taints"] and len(node["spec"]["taints"]) == 2
    take_inventory(site.cluster, backend_of(site.cluster))
    with platform_scope("test"):
        assert PoolReservation.objects.get().state == "active"
        assert not site.cluster.nodes.get().is_drained
    other, own = submit(site, site.story.north, "true"), submit(site, site.story.vision, "true")
    site.until(lambda: state(own) == State.SUCCEEDED)
    assert state(other) == State.SUBMITTED
    site.until(lambda: reason(other) == Wait.RESERVED)
    store.update(
        "nodes", "", node["metadata"]["name"], lambda n: n["spec"].update(taints=[foreign])
    )
    run_pool_requests()  # somebody removed the taint
    [node] = store.all("nodes", "")
    assert len(node["spec"]["taints"]) == 2
    assert give_back(site, row).state == "ended"
    [node] = store.all("nodes", "")
    assert node["spec"]["taints"] == [foreign] and names.POOL not in node["metadata"]["labels"]
    site.until(lambda: state(other) == State.SUCCEEDED)


@pytest.fixture
def queued(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A queue of two GPUs for everybody, kept for teams by quota."""
    monkeypatch.setattr(queues, "WORKLOADS_FOR", 0.0)
    monkeypatch.setattr(queues, "VERSION_FOR", 0.0)
    monkeypatch.setattr(queues, "QUEUES_FOR", 0.0)
    site.double.kueue.install(gpu=2)
    site.double.store.objects["localqueues", "muster-borealis-north", "gpu"] = {
        "metadata": {"name": "gpu", "namespace": "muster-borealis-north"},
        "spec": {"clusterQueue": "gpu"},
    }
    config = {**site.cluster.config, "exclusive_pools": "kueue"}
    Cluster.objects.filter(id=site.cluster.id).update(config=config)
    site.cluster.refresh_from_db()
    pool_of(site, "gpu")
    return site


def test_quota_moves_to_a_queue_of_the_team_and_back(queued):
    places = queued.double.kueue.places
    row, said = approved(queued, 1)
    name = row.reservation.name
    assert said.text == (
        f"Moves the quota of 1 GPU from the queue gpu to a queue of vision alone ({name})."
    )
    assert places == {"gpu": 1, name: 1}
    run_pool_requests()
    assert places == {"gpu": 1, name: 1}  # taken once
    theirs = [submit(queued, queued.story.north) for _ in range(2)]
    own = [submit(queued, queued.story.vision) for _ in range(2)]
    one_of_each = [State.SUBMITTED, State.RUNNING]
    queued.until(
        lambda: all(sorted(state(job) for job in jobs) == one_of_each for jobs in (theirs, own))
    )
    store = queued.double.store
    [left] = [q for q in store.all("localqueues", "") if q["metadata"]["name"] == name]
    store.remove("localqueues", left["metadata"]["namespace"], name)
    run_pool_requests()
    assert name in {q["metadata"]["name"] for q in store.all("localqueues", "")}
    assert give_back(queued, row).state == "ended"
    assert places == {"gpu": 2}
    # One runs on in the team's former queue, two fit into that of the pool
    queued.until(lambda: sum(state(job) == State.RUNNING for job in (*theirs, *own)) == 3)
