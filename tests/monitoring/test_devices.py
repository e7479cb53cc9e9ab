"""GPUs from the report of an agent to the capacity page, and who sees what."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Device, Node
from jobs.models import Attempt
from monitoring.metrics.ingest import ingest
from portal.core import clock
from schedulers.states import State
from tests.jobs.stage import GIB, cluster_with, submit
from workspaces.tenancy.scope import platform_scope


def gpu(index=0, **more):
    return {
        "index": index,
        "uuid": f"GPU-0-{index}",
        "model": "NVIDIA H100 80GB HBM3",
        "memory": 80 * GIB,
        "compute": "9.0",
        "serial": f"165000{index}",
        "pci": "00000000:18:00.0",
        "numa": 0,
        "links": 18,
        "is_mig": False,
        "mig": [],
        **more,
    }


def report(*gpus, samples=(), events=(), driver="570.86.15"):
    facts = {"driver": driver, "gpus": list(gpus)}
    body = {"node": "n0", "at": clock.now_ms(), "facts": facts}
    return ingest({**body, "samples": list(samples), "events": list(events)})


def on(index, name, value):
    return {"name": name, "value": value, "labels": {"gpu": str(index)}}


@pytest.fixture
def atlas(story):
    cluster_with(gpus=2)
    return story


def test_report_describes_devices_and_their_partition(atlas):
    part = {"uuid": "MIG-1", "profile": "3g.40gb", "start": 4, "memory": 40 * GIB}
    report(gpu(0), gpu(1, is_mig=True, mig=[part]))
    first, second = Device.objects.order_by("index")
    assert (first.type, first.serial, first.links, first.mig) == ("h100", "1650000", 18, None)
    assert second.mig == [part] and second.driver == "570.86.15"
    seen = first.seen_at
    report(gpu(0), gpu(1))
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.seen_at, second.mig) == (seen, None)


def test_device_that_is_no_longer_reported_is_lost_and_comes_back(atlas):
    report(gpu(0), gpu(1))
    report(gpu(0))
    assert list(Device.objects.filter(is_lost=True).values_list("index", flat=True)) == [1]
    report()  # the driver is being upgraded
    assert Device.objects.filter(is_lost=True).count() == 1
    report(gpu(0), gpu(1))
    assert not Device.objects.filter(is_lost=True).exists()


def test_unchanged_report_reads_no_devices(atlas, django_assert_num_queries):
    from monitoring.metrics.ingest import _store_facts

    facts = {"driver": "570.86.15", "gpus": [gpu(0)]}
    _store_facts(Node.objects.get(), facts)
    node = Node.objects.get()
    with django_assert_num_queries(0):
        _store_facts(node, facts)


def test_malformed_devices_are_left_out(atlas):
    report(
        "text",
        {"uuid": "GPU-x"},
        gpu(0, uuid="a\x00b"),
        {**gpu(1), "index": "one"},
        gpu(2, memory=2**80),
        gpu(3, serial={"a": 1}, numa=True, links=-1, is_mig=True, mig=["x", {"uuid": ""}]),
        *(gpu(4, uuid=f"GPU-{n}") for n in range(200)),
    )
    kept = Device.objects.get(index=3)
    assert (kept.serial, kept.numa, kept.links, kept.mig) == ("", None, None, [])
    assert Device.objects.count() <= 64


def test_members_see_devices_with_use_and_only_their_jobs(atlas):
    report(
        gpu(0),
        gpu(1),
        samples=[on(0, "gpu.power", 512.0), on(0, "gpu.sm.active", 0.87)],
    )
    job = submit(atlas, atlas.ben, name="mine")
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(
            state=State.RUNNING,
            node="n0",
            started_at=clock.now(),
            placement={"node": "n0", "cpus": 1, "memory": 0, "gpus": [0], "uuids": ["GPU-0-0"]},
        )
    rows = atlas.api(atlas.ben).get("/api/v1/orgs/atlas/gpus").json()["items"]
    assert [(r["index"], r["power"], [j["number"] for j in r["jobs"]]) for r in rows] == [
        (0, 512.0, [1]),
        (1, None, []),
    ]
    assert (rows[0]["sm_active"], rows[0]["serial"]) == (0.87, "")
    dot = atlas.api(atlas.dot, atlas.atlas).get("/api/v1/orgs/atlas/gpus/GPU-0-0").json()
    assert dot["serial"] == "1650000"
    strange = atlas.api(atlas.cyd, atlas.borealis).get("/api/v1/orgs/borealis/gpus/GPU-0-0").json()
    assert (strange["jobs"], strange["past_jobs"]) == ([], [])


def test_ended_jobs_and_errors_are_the_history_of_a_gpu(atlas):
    report(
        gpu(0),
        gpu(1),
        events=[{"kind": "xid", "gpu": 1, "code": 79, "meaning": "off the bus", "action": "drain"}],
    )
    job = submit(atlas, atlas.ben, name="ended")
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(
            state=State.FAILED,
            node="n0",
            finished_at=clock.now(),
            placement={"node": "n0", "cpus": 1, "memory": 0, "gpus": [1], "uuids": ["GPU-0-1"]},
        )
    client = atlas.client(atlas.ben)
    page = client.get("/atlas/gpus/GPU-0-1").content.decode()
    assert "ended" in page and "XID 79" in page and "off the bus" in page
    other = client.get("/atlas/gpus/GPU-0-0").content.decode()
    assert "XID 79" not in other and "No jobs on this GPU" in other
    stranger = atlas.client(atlas.cyd).get("/borealis/gpus/GPU-0-1").content.decode()
    assert "No jobs on this GPU" in stranger
    assert client.get("/atlas/gpus/GPU-9").status_code == 404


def test_capacity_tells_what_is_free_now_and_next(atlas):
    job = submit(
        atlas,
        resources={"accelerators": {"h100": 2}},
        policy={"max_runtime": "2h"},
    )
    with platform_scope("test"):
        Attempt.objects.filter(job=job).update(
            state=State.RUNNING,
            node="n0",
            started_at=clock.now() - timedelta(hours=1),
            has_reservation=True,
            placement={
                "node": "n0",
                "cpus": 1000,
                "memory": 0,
                "gpus": [0, 1],
                "uuids": ["GPU-0-0", "GPU-0-1"],
            },
        )
    [row] = atlas.api(atlas.ben).get("/api/v1/orgs/atlas/capacity").json()["items"]
    assert (row["type"], row["total"], row["free"], row["allocated"]) == ("h100", 2, 0, 2)
    [end] = row["next_free"]
    assert end["gpus"] == 2 and end["at"] > clock.now().isoformat()[:19]
    page = atlas.client(atlas.ben).get("/atlas/capacity").content.decode()
    assert "2 in" in page and "h100" in page
    platform = atlas.client(atlas.dot).get("/platform/capacity")
    assert platform.status_code == 200


def test_lost_gpus_are_counted_and_found(atlas):
    report(gpu(0), gpu(1))
    report(gpu(0))
    [row] = atlas.api(atlas.ben).get("/api/v1/orgs/atlas/capacity").json()["items"]
    assert row["unhealthy"] == 1
    page = atlas.client(atlas.ben).get("/atlas/gpus?state=lost").content.decode()
    assert "n0 / 1" in page and "n0 / 0" not in page
