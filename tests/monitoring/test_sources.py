"""GPU measurements of dcgm-exporters and of a Prometheus: set up, read, shown, and their faults."""

from __future__ import annotations

import json
import subprocess
import time
from datetime import timedelta

import pytest

from clusters.models import Device, Node
from monitoring.metrics.ingest import ingest
from monitoring.models import TelemetrySource
from monitoring.sources import reading
from monitoring.sources.dcgm import reports_of, samples_of_text
from portal import series
from portal.core import clock
from portal.core.models import Event
from tests.jobs.stage import cluster_with
from tests.rig.dcgm import Exporters, labels_of, line, text_of
from tests.rig.processes import Folder, program
from tests.rig.prometheus import start_prometheus
from workspaces.tenancy.scope import platform_scope

DAY = 86_400


@pytest.fixture
def exporters():
    found = Exporters()
    yield found
    found.close()


@pytest.fixture
def atlas(story):
    cluster_with(gpus=2, nodes=2)
    return story


def owner(name="n0"):
    return f"node:{Node.objects.get(name=name).id.hex}"


def latest(name="n0"):
    return {key: row["value"] for key, row in series.latest(owner(name)).items()}


def read_now():
    """Read every source, whether it is due or not."""
    TelemetrySource.objects.update(due_at=clock.now() - timedelta(seconds=1))
    return reading.read_due()


def test_operator_adds_exporters_and_everybody_sees_their_gpus(atlas, exporters):
    exporters.texts |= {f"/n{n}/metrics": text_of(f"n{n}") for n in (0, 1)}
    form = {
        "name": "dcgm-main",
        "cluster": "local",
        "kind": "dcgm",
        "urls": exporters.url + "/{node}/metrics",
        "interval": "30",
    }
    dot = atlas.client(atlas.dot)
    tested = dot.post("/platform/telemetry", form | {"do": "test"}).content.decode()
    assert "550.54.15" in tested and "gpu.tensor.active" in tested
    assert not TelemetrySource.objects.exists() and not Device.objects.exists()
    assert dot.post("/platform/telemetry", form | {"do": "add"}).status_code == 302
    assert reading.read_due() == 1 and reading.read_due() == 0  # once per interval
    assert b"reading" in dot.get("/platform/telemetry/dcgm-main").content
    rows = atlas.api(atlas.ben).get("/api/v1/orgs/atlas/gpus").json()["items"]
    assert [(r["node"], r["index"], r["type"], r["power"]) for r in rows] == [
        (node, index, "h100", 512.5) for node in ("n0", "n1") for index in (0, 1)
    ]
    assert (rows[0]["sm_active"], rows[0]["driver"]) == (0.81, "550.54.15")
    assert rows[0]["memory"] == 81_920 << 20
    values = latest()
    assert values["gpu.utilization{gpu=0}"] == 0.97
    assert values["gpu.throttle{gpu=0,reason=hw_thermal}"] == 1
    assert not any(key.startswith("gpu.ecc") for key in values)  # the driver has no value

    del exporters.texts["/n1/metrics"]
    exporters.texts["/n0/metrics"] = "<html>"
    read_now()
    row = atlas.api(atlas.dot).get("/api/v1/telemetry-sources/dcgm-main").json()
    assert "2 of 2" not in row["problem"] and "1 of 2" in row["problem"]
    assert "404" in row["problem"]


def test_source_of_malformed_text_is_a_problem_and_stores_nothing(atlas, exporters):
    exporters.texts["/metrics"] = 'DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="x" 1\n'
    add(atlas, exporters.url + "/metrics")
    read_now()
    assert "text format" in TelemetrySource.objects.get().problem
    assert latest() == {}


def add(story, urls, kind="dcgm", **more):
    body = {"name": "one", "cluster": "local", "kind": kind, "urls": urls, **more}
    return story.api(story.dot).post(
        "/api/v1/telemetry-sources", body, content_type="application/json"
    )


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"urls": "ftp://x/metrics"}, "urls"),
        ({"urls": "http://user:word@x/metrics"}, "urls"),
        ({"urls": "http://x/{host}"}, "urls"),
        ({"urls": "http://[::1/"}, "urls"),
        ({"urls": "http://x/metrics", "token": "secret"}, "urls"),  # sent without encryption
        ({"urls": "http://x http://y", "kind": "prometheus"}, "urls"),
        ({"urls": "http://x", "kind": "prometheus", "matchers": 'a="b"} or up{'}, "matchers"),
        ({"urls": "http://x", "matchers": 'job="dcgm"'}, "matchers"),
        ({"urls": "http://x", "interval": 1}, "interval"),
        ({"urls": "http://x", "name": "A b"}, "name"),
    ],
)
def test_invalid_settings_are_refused_by_field(atlas, given, field):
    answer = add(atlas, **{"urls": "http://x", **given})
    assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == field
    assert not TelemetrySource.objects.exists()


def test_redirect_is_not_followed_and_no_answer_is_shown(atlas, exporters):
    exporters.texts["/inner"] = text_of("n0")
    exporters.moved["/metrics"] = f"{exporters.url}/inner"
    add(atlas, exporters.url + "/metrics")
    read_now()
    assert "302" in TelemetrySource.objects.get().problem and latest() == {}


def test_token_is_sealed_and_never_returned(atlas):
    made = add(atlas, "https://n0.invalid/metrics", token="the-word")
    row = TelemetrySource.objects.get()
    assert made.json()["has_token"] and reading.token_of(row) == "the-word"
    assert b"the-word" not in bytes(row.secret) and "the-word" not in made.content.decode()
    assert "the-word" not in str(list(Event.objects.values_list("data", flat=True)))


def test_token_is_not_sent_to_another_host_unless_it_is_given_again(atlas):
    here = "/api/v1/telemetry-sources/one"
    add(atlas, "https://n0.invalid/metrics", token="the-word")
    dot = atlas.api(atlas.dot)

    def change(**body):
        return dot.patch(here, body, content_type="application/json")

    for url in ("https://evil.invalid/metrics", "https://n0.invalid:444/metrics"):
        answer = change(urls=f"https://n0.invalid/metrics {url}")
        assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "token"
    form = {"urls": "https://evil.invalid/metrics", "interval": "30", "do": "change"}
    page = atlas.client(atlas.dot).post("/platform/telemetry/one", form)
    assert "enter the token again" in page.content.decode()
    assert TelemetrySource.objects.get().urls == "https://n0.invalid/metrics"

    assert change(urls="https://N0.invalid/other").status_code == 200  # the same host
    assert change(urls="https://new.invalid/", token="another").status_code == 200
    assert reading.token_of(TelemetrySource.objects.get()) == "another"
    assert change(urls="https://last.invalid/", token="").json()["has_token"] is False


def test_list_of_exporters_finds_nodes_by_host_and_names_others(atlas, exporters):
    exporters.texts |= {"/a": text_of("n0.hall.example"), "/b": text_of("elsewhere")}
    add(atlas, f"{exporters.url}/a\n{exporters.url}/b")
    read_now()
    row = TelemetrySource.objects.get()
    assert (row.nodes, row.unknown, row.problem) == (1, ["elsewhere"], "")
    assert latest()["gpu.power{gpu=1}"] == 512.5


def test_mig_instances_and_shared_gpus_are_read_once(atlas, exporters):
    parts = [{"GPU_I_ID": str(n), "GPU_I_PROFILE": "3g.40gb"} for n in (1, 2)]
    shared = {"GPU_I_ID": "1", "GPU_I_PROFILE": "3g.40gb", "pod": "second"}
    exporters.texts["/metrics"] = "".join(
        text_of("n0", 1, labels, DCGM_FI_DEV_FB_FREE=1024, DCGM_FI_DEV_FB_USED=1024)
        for labels in (*parts, shared)
    )
    add(atlas, exporters.url + "/metrics")
    read_now()
    values = latest()
    assert values["gpu.sm.active{gpu=0,mig=2}"] == 0.81 and values["gpu.power{gpu=0}"] == 512.5
    assert "gpu.power{gpu=0,mig=1}" not in values
    device = Device.objects.get()
    assert [(part["profile"], part["memory"]) for part in device.mig] == [
        ("3g.40gb", 3072 << 20)
    ] * 2


def test_new_xid_is_one_event_with_its_meaning(atlas, exporters):
    add(atlas, exporters.url + "/metrics")
    for code in (0, 79, 79, 0, 79):
        exporters.texts["/metrics"] = text_of("n0", 1, DCGM_FI_DEV_XID_ERRORS=code)
        read_now()
        time.sleep(0.002)  # points of one millisecond are one point
    events = list(Event.objects.filter(kind="node.xid"))
    assert [event.data["code"] for event in events] == [79, 79]
    assert "bus" in events[0].data["meaning"] and events[0].data["action"] == "drain"
    page = atlas.client(atlas.ben).get("/atlas/gpus/GPU-n0-0").content.decode()
    assert "XID 79" in page


def test_node_with_an_agent_is_left_to_it_until_the_agent_is_silent(atlas, exporters):
    exporters.texts["/metrics"] = text_of("n0", 1)
    add(atlas, exporters.url + "/metrics")
    gpu = {"index": 0, "uuid": "GPU-n0-0", "model": "NVIDIA H100", "memory": 80 << 30}
    sample = {"name": "gpu.power", "value": 99.0, "labels": {"gpu": "0"}}
    body = {"node": "n0", "samples": [sample], "facts": {"gpus": [gpu | {"serial": "165001"}]}}
    ingest({**body, "at": clock.now_ms()})
    read_now()
    assert latest() == {"gpu.power{gpu=0}": 99.0}
    with clock.frozen(clock.now() + timedelta(minutes=5)):
        read_now()
    assert latest()["gpu.power{gpu=0}"] == 512.5
    assert Device.objects.get().serial == "165001"  # the exporter does not know it


def test_prometheus_is_read_with_its_own_times_and_its_history(atlas, exporters, monkeypatch):
    """Read a real Prometheus, which has two days of history and scrapes exporters now."""
    monkeypatch.setattr(reading, "LAG_MS", 0)
    exporters.texts["/metrics"] = text_of("n0", 1)
    now = int(time.time())
    past = [
        line("DCGM_FI_DEV_GPU_UTIL", labels_of("n0", 0, job="dcgm"), 40 + n % 2 * 20, f" {at}")
        for n, at in enumerate(range(now - 2 * DAY, now - 3600, 150))
    ]
    folder = Folder()
    try:
        target = {"targets": [exporters.url.removeprefix("http://")]}
        server = start_prometheus(
            folder,
            [{"job_name": "dcgm", "static_configs": [target], "honor_labels": True}],
            past=past,
        )
        wait_for_samples(server)
        assert add(atlas, server.url, "prometheus", matchers='job="dcgm"').status_code == 201
        assert read_now() == 1
        values = latest()
        assert values["gpu.power{gpu=0}"] == 512.5 and Device.objects.get().uuid == "GPU-n0-0"
        (scraped,) = server.values("timestamp(DCGM_FI_DEV_POWER_USAGE)")
        point = series.latest(owner())["gpu.power{gpu=0}"]
        assert abs(point["at"] / 1000 - float(scraped["value"][1])) < 5

        since = (clock.now() - timedelta(days=3)).isoformat()
        path = "/api/v1/telemetry-sources/one/history"
        dot = atlas.api(atlas.dot)
        asked = dot.post(path, {"since": since}, content_type="application/json").json()
        assert asked["history"]["until"] - asked["history"]["from"] > 2 * DAY * 1000
        for _ in range(3):
            read_now()
        assert TelemetrySource.objects.get().fill_until is None
        (curve,) = series.query(owner(), names=["gpu.utilization"], end_ms=(now - 3600) * 1000)
        known = [value for value in curve.values if value is not None]
        assert curve.times[0] < (now - 1.9 * DAY) * 1000
        assert min(known) >= 0.4 and max(known) <= 0.6 and len(known) > 300
    finally:
        folder.close()


def wait_for_samples(server):
    from tests.rig.processes import wait_until

    wait_until(lambda: server.values("DCGM_FI_DEV_POWER_USAGE"), "Prometheus has scraped")


def test_unreachable_prometheus_is_a_problem_that_names_why(atlas):
    add(atlas, "http://127.0.0.1:1", "prometheus")
    read_now()
    assert "refused" in TelemetrySource.objects.get().problem.lower()
    page = atlas.client(atlas.dot).get("/platform/telemetry/one").content.decode()
    assert "failing" in page


def test_parser_reads_only_known_fields():
    text = text_of("n0", 1) + 'DCGM_FI_UNKNOWN{gpu="0"} 1\nother{gpu="0" broken\n'
    report = reports_of(samples_of_text(text, 5))["n0"]
    assert {point.at_ms for point in report.points.values()} == {5}
    assert ("gpu.memory.temperature{gpu=0}", 5) in report.points


def test_impossible_values_of_an_exporter_are_left_out():
    labels = '{gpu="0",UUID="GPU-1"}'
    text = f"DCGM_FI_DEV_GPU_UTIL{labels} -5\nDCGM_FI_DEV_POWER_USAGE{labels} 1e12\n"
    report = reports_of(samples_of_text(text + f"DCGM_FI_DEV_GPU_TEMP{labels} 40\n", 5), "n0")["n0"]
    assert [point.name for point in report.points.values()] == ["gpu.temperature"]


def test_metrics_of_the_portal_are_valid_and_scraped_by_prometheus(atlas, live_server, exporters):
    exporters.texts["/metrics"] = text_of("n0")
    add(atlas, exporters.url + "/metrics")
    read_now()
    token = atlas.token(atlas.dot, atlas.atlas)
    text = atlas.api(atlas.dot, atlas.atlas).get("/metrics").content
    checked = subprocess.run(
        [program("promtool"), "check", "metrics"], input=text, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    folder = Folder()
    try:
        host = live_server.url.removeprefix("http://")
        server = start_prometheus(
            folder,
            [
                {
                    "job_name": "muster",
                    "static_configs": [{"targets": [host]}],
                    "authorization": {"credentials": token},
                }
            ],
        )
        from tests.rig.processes import wait_until

        wait_until(lambda: server.values("muster_gpus"), "Prometheus has scraped the portal")
        assert sum(float(row["value"][1]) for row in server.values("muster_gpus")) == 4
        (lost,) = server.values('muster_devices{state="ready"}')
        assert (lost["metric"]["model"], lost["value"][1]) == ("h100", "2")
        (up,) = server.values("muster_telemetry_source_up")
        assert up["value"][1] == "1"
    finally:
        folder.close()


def test_metrics_count_what_waits_and_who_is_measured(atlas):
    with platform_scope("test"):
        text = atlas.api(atlas.dot, atlas.atlas).get("/metrics").content.decode()
    assert 'muster_nodes{cluster="local",state="ready"} 2.0' in text
    assert 'muster_nodes_measured{cluster="local"} 0.0' in text


def prometheus(result):
    return json.dumps({"status": "success", "data": {"result": result}})


@pytest.mark.parametrize(
    "result",
    [
        [1],
        [{"metric": 7}],
        [{"metric": {}, "values": [1]}],
        [{"metric": {}, "values": [["x", "1"]]}],
        [{"metric": {}, "values": [["1e400", {}]]}],
    ],
)
def test_strange_answer_of_a_prometheus_is_a_problem_and_stops_no_source(atlas, exporters, result):
    exporters.texts |= {"/api/v1/query": prometheus(result), "/metrics": text_of("n0", 1)}
    add(atlas, exporters.url, "prometheus")
    add(atlas, exporters.url + "/metrics", name="two")
    assert read_now() == 2
    problems = dict(TelemetrySource.objects.values_list("name", "problem"))
    assert latest()["gpu.power{gpu=0}"] == 512.5 and problems["two"] == ""
    assert problems["one"] or result[0] == {"metric": {}, "values": [["1e400", {}]]}


def test_times_that_were_not_asked_for_are_left_out(atlas, exporters, monkeypatch):
    monkeypatch.setattr(reading, "LAG_MS", 0)
    now = clock.now_ms() / 1000
    values = [[at, "7"] for at in (-5, 1, now - 5, now + 9e5, 1e18)]
    exporters.texts["/api/v1/query"] = prometheus(
        [{"metric": labels_of("n0", 0), "values": values}]
    )
    add(atlas, exporters.url, "prometheus")
    read_now()
    (curve,) = series.query(owner(), names=["gpu.power"])
    assert curve.times == [round((now - 5) * 1000)]


def test_hostile_exporter_harms_only_its_own_node(atlas, exporters):
    many = {"gpu": "0", "UUID": "GPU-x", "Hostname": "n0"}
    exporters.texts["/n0/metrics"] = "".join(
        line("DCGM_FI_DEV_FB_USED", many | {"GPU_I_ID": str(n), "UUID": f"U{n}"}, 1) + "\n"
        for n in range(20_000)
    ) + line("DCGM_FI_DEV_POWER_USAGE", many | {"gpu": "9" * 600}, 1)
    exporters.texts["/n1/metrics"] = text_of("n1", 1)
    add(atlas, exporters.url + "/{node}/metrics")
    started = time.monotonic()
    read_now()
    assert time.monotonic() - started < 20
    assert latest("n1")["gpu.power{gpu=0}"] == 512.5
    assert Device.objects.filter(node__name="n0").count() <= 64
    broken = 'DCGM_FI_DEV_GPU_TEMP{gpu="0",\t=x="n"} 35\n'
    exporters.texts["/n0/metrics"] = broken
    read_now()
    assert "text format" in TelemetrySource.objects.get().problem


def test_answer_that_is_too_large_is_a_problem(atlas, exporters, monkeypatch):
    monkeypatch.setattr(reading, "EXPORTED", 1000)
    exporters.texts["/metrics"] = text_of("n0", 8)
    add(atlas, exporters.url + "/metrics")
    read_now()
    assert "too large" in TelemetrySource.objects.get().problem or "larger" in (
        TelemetrySource.objects.get().problem
    )
    assert latest() == {}
