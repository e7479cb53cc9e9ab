"""GPUs from the report of an agent to the capacity page, and who sees what."""

from __future__ import annotations

from datetime import timedelta

import pytest

from clusters.models import Device, Gpu, Node, Pool
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
    part = {"uuid": "MIG-1", "profile": "3g.40gb", "start": 4, "memory": 40 * GIB, "index": 0}
    report(gpu(0), gpu(1, is_mig=True, mig=[part]))
    first, second = Device.objects.order_by("index")
    assert (first.type, first.serial, first.links, first.mig) == ("h100", "1650000", 18, None)
    assert second.mig == [part] and second.driver == "570.86.15"
    seen = first.seen_at
    report(gpu(0), gpu(1))
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.seen_at, second.mig) == (seen, None)


def test_node_page_shows_mig_instances_with_memory_activity_and_job(atlas):
    parts = [
        {"uuid": f"MIG-{n}", "profile": "3g.40gb", "start": 4 * n, "memory": 40 * GIB, "index": n}
        for n in (0, 1)
    ]
    node = Node.objects.get(name="n0")
    assert Gpu.objects.filter(node=node, index=1).exists()  # no inventory since
    for part in parts:
        same = {"index": 1, "model": "NVIDIA H100 MIG 3g.40gb", "type": "mig-3g.40gb"}
        Gpu.objects.create(node=node, uuid=part["uuid"], memory=40 * GIB, **same)
    part_of = {"labels": {"gpu": "1", "mig": "1"}}
    samples = [
        on(1, "gpu.power", 1191.4),
        on(1, "gpu.sm.active", 0.66) | part_of,
        on(1, "gpu.memory.used", 7.0 * GIB) | part_of,
    ]
    report(gpu(0), gpu(1, is_mig=True, mig=parts), samples=samples)
    job = submit(atlas, atlas.ben, name="sliced")
    with platform_scope("test"):
        place = {"node": "n0", "cpus": 1, "memory": 0, "gpus": [1], "uuids": ["MIG-1"]}
        state = {"state": State.RUNNING, "started_at": clock.now(), "has_reservation": True}
        Attempt.objects.filter(job=job).update(node="n0", placement=place, **state)
    page = atlas.client(atlas.ben).get("/atlas/nodes/n0").content.decode()
    whole, _, instances = page.partition("<h2>MIG instances")
    instances = instances.partition("</table>")[0]
    assert "1 × NVIDIA H100, 2 × MIG 3g.40gb" in " ".join(whole.split())
    assert "MIG: 2 instances" in whole and "1.19 kW" in whole
    assert instances.count("MIG 3g.40gb") == 2 and instances.count(">/ 40 GiB<") == 2
    first, second = instances.split("GPU 1</a> / ")[1:]
    assert "free" in first and "sliced" not in first
    assert "sliced" in second and "7 GiB" in second and "66%" in second


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
    assert "<b>2</b> <time" in page and "H100" in page
    platform = atlas.client(atlas.dot).get("/platform/capacity")
    assert platform.status_code == 200


def test_lost_gpus_are_counted_and_found(atlas):
    report(gpu(0), gpu(1))
    report(gpu(0))
    [row] = atlas.api(atlas.ben).get("/api/v1/orgs/atlas/capacity").json()["items"]
    assert row["unhealthy"] == 1
    page = atlas.client(atlas.ben).get("/atlas/gpus?state=lost").content.decode()
    assert "n0 / 1" in page and "n0 / 0" not in page


def test_fleet_sums_up_gpus_by_model_rack_pool_and_cluster(story):
    cluster = cluster_with(gpus=2, nodes=2)
    Node.objects.filter(name="n0").update(labels={"example.com/rack": "r7"})
    Pool.objects.create(name="main", cluster=cluster, labels={"example.com/rack": "r7"})
    values = {"gpu.power": (100.0, 300.0), "gpu.temperature": (40.0, 80.0)}
    samples = [on(i, name, pair[i]) for name, pair in values.items() for i in (0, 1)]
    report(gpu(0), gpu(1), samples=[*samples, on(1, "gpu.throttled", 1.0)])
    report(gpu(0), samples=samples)  # GPU 1 is lost, and its values are still recent
    ben, dot = story.api(story.ben), story.api(story.dot, story.atlas)

    def rows(api, by):
        return api.get(f"/api/v1/orgs/atlas/fleet?by={by}").json()["items"]

    (row,) = rows(ben, "model")
    assert (row["name"], row["nodes"], row["gpus"], row["lost"]) == ("h100", 1, 2, 1)
    assert (row["power"], row["temperature"], row["hottest"]) == (400.0, 60.0, 80.0)
    assert (row["throttled"], row["sm_active"], row["utilization"]) == (1, None, None)
    assert [row["name"] for row in rows(dot, "rack")] == ["r7"]
    assert [row["name"] for row in rows(dot, "cluster")] == ["local"]
    assert [row["name"] for row in rows(dot, "pool")] == ["main"] and rows(ben, "pool") == []
    assert ben.get("/api/v1/orgs/atlas/fleet?by=color").status_code == 400
    for by in ("model", "rack", "pool", "cluster"):
        assert story.client(story.ben).get(f"/atlas/fleet?by={by}").status_code == 200
    for found, asked in ((2, "rack=r7"), (0, "rack=r1"), (2, "pool=main"), (1, "state=throttled")):
        answer = dot.get(f"/api/v1/orgs/atlas/gpus?{asked}").json()
        assert len(answer["items"]) == found, asked
    assert ben.get("/api/v1/orgs/atlas/gpus?pool=main").status_code == 400  # not granted


def test_metrics_of_one_gpu_leave_out_the_others(atlas):
    report(gpu(0), gpu(1), samples=[on(0, "gpu.power", 1.0), on(1, "gpu.power", 2.0)])
    api = atlas.api(atlas.ben)
    found = api.get("/api/v1/orgs/atlas/nodes/n0/metrics?gpu=1").json()["items"]
    assert [(one["labels"], one["values"]) for one in found] == [({"gpu": "1"}, [2.0])]
    assert not api.get("/api/v1/orgs/atlas/nodes/n0/metrics?gpu=9").json()["items"]


def test_gpu_page_says_why_clocks_are_throttled_and_what_is_measured(atlas):
    reason = {"name": "gpu.throttle", "value": 1.0, "labels": {"gpu": "0", "reason": "hw_thermal"}}
    values = {"gpu.clock.sm": 1.2e9, "gpu.pcie.sent": 2.0**30, "gpu.rows.failed": 1.0}
    samples = [on(0, name, value) for name, value in values.items()]
    report(gpu(0), samples=[*samples, on(0, "gpu.throttled", 1.0), reason])
    page = atlas.client(atlas.ben).get("/atlas/gpus/GPU-0-0").content.decode()
    assert "slowed by the hardware" in page and "1.2 GHz" in page and "1 GiB/s" in page
    assert "couldn't be replaced" in page.replace("&#x27;", "'")
    assert "share of time with any kernel" in page  # no SM activity is measured
    report(gpu(0), samples=[on(0, "gpu.throttled", 0.0), on(0, "gpu.sm.active", 0.5)])
    page = atlas.client(atlas.ben).get("/atlas/gpus/GPU-0-0").content.decode()
    assert "slowed by the hardware" not in page and "SM activity" in page
    assert "Free: no job uses this GPU." in page
    assert "share of time with any kernel" not in page
