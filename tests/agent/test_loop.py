from __future__ import annotations

import logging
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families

from muster_agent import exposition
from muster_agent.collector import Collector
from muster_agent.config import Config
from muster_agent.gpus import GpuSampler
from muster_agent.loop import Agent
from muster_agent.nvml import Driver
from muster_agent.sample import Json
from tests.agent.nvml_double import Clock, Device, Nvml
from tests.agent.portal_server import Portal

SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def run() -> Iterator[Callable[[Agent], Agent]]:
    started: list[Agent] = []

    def start(agent: Agent) -> Agent:
        agent.start()
        started.append(agent)
        return agent

    yield start
    for agent in started:
        agent.stop()
        assert agent._thread is not None
        assert not agent._thread.is_alive()


def quick(jobs_dir: Path | None = None, **given: object) -> Config:
    return Config(node="n1", jobs_dir=jobs_dir, busy_interval=0.05, idle_interval=0.2, **given)  # type: ignore[arg-type]


def test_agent_with_a_sink_passes_every_batch_to_it(run, wait_for):
    batches: list[Json] = []
    run(Agent(quick(), sink=batches.append))
    wait_for(lambda: len(batches) >= 3)
    last = batches[-1]
    assert last["node"] == "n1"
    assert {"cpu.utilization", "memory.used", "disk.used", "net.rx"} <= {
        s["name"] for s in last["samples"]
    }
    assert len({batch["batch"] for batch in batches}) == len(batches)
    assert [b["at"] for b in batches] == sorted(b["at"] for b in batches)
    assert last["facts"]["cpus"] >= 1
    assert "no GPU" in last["facts"]["note"]


def test_agent_batch_contains_running_jobs(run, wait_for, spawn, state_of, jobs_dir):
    state_of("muster-a", spawn(SLEEP).pid)
    batches: list[Json] = []
    run(Agent(quick(jobs_dir), sink=batches.append))
    wait_for(lambda: len(batches) >= 2)
    [job] = batches[1]["jobs"]
    assert job["key"] == "muster-a"
    assert {"cpu.used", "memory.used", "processes"} <= {s["name"] for s in job["samples"]}


def test_agent_collects_more_often_while_a_job_runs(run, wait_for, spawn, state_of, jobs_dir):
    config, batches = Config(jobs_dir=jobs_dir, busy_interval=0.05, idle_interval=600), []
    run(Agent(config, sink=batches.append))
    wait_for(lambda: len(batches) == 1)
    state_of("muster-a", spawn(SLEEP).pid)
    wait_for(lambda: len(batches) >= 5)


def test_agent_without_a_sink_sends_to_the_portal(run, wait_for, tmp_path):
    portal = Portal()
    try:
        run(Agent(quick(url=portal.url, token="mst_right", spool_dir=tmp_path / "spool")))
        wait_for(lambda: len(portal.taken) >= 3)
        assert portal.taken[-1]["node"] == "n1"
        assert portal.taken[-1]["facts"]["clock_skew"] == pytest.approx(0, abs=1.5)
    finally:
        portal.close()


def test_agent_sink_error_drops_the_batch_and_continues(run, wait_for, caplog):
    seen: list[Json] = []

    def sink(body: Json) -> None:
        seen.append(body)
        raise RuntimeError("database is locked")

    with caplog.at_level(logging.ERROR, "muster.agent"):
        run(Agent(quick(), sink=sink))
        wait_for(lambda: len(seen) >= 3)
    assert "cannot hand over the batch" in caplog.text


NEED_NO_PAST = {"cpu.load1", "memory.total", "memory.used", "disk.used", "disk.total"}
PARTS = ["cpu", "load", "memory", "disk_rates", "network", "rdma"]


@pytest.mark.parametrize("part", PARTS)
def test_collector_failed_metric_does_not_affect_the_others(part):
    collector = Collector(Config())
    original = getattr(collector._host, part)
    own = {s.name for s in original()}

    def broken() -> Iterator[None]:
        raise KeyError("x")
        yield

    setattr(collector._host, part, broken)
    body = collector.collect()
    assert {s["name"] for s in body["samples"]} >= NEED_NO_PAST - own
    assert "cannot be measured" in body["facts"]["note"]
    setattr(collector._host, part, original)
    assert "cannot be measured" not in collector.collect()["facts"]["note"]


@pytest.mark.parametrize("part", ["gpus", "jobs"])
def test_collector_without_gpus_or_jobs_keeps_host_metrics(part):
    def broken() -> None:
        raise RuntimeError("boom")

    parts = {part: SimpleNamespace(measure=broken, has_running=broken, take_events=list)}
    collector = Collector(Config(), **parts)
    body = collector.collect()
    assert "boom" in body["facts"]["note"]
    assert any(s["name"] == "memory.used" for s in body["samples"])
    assert collector.has_running() is False


def test_collector_repeated_failure_is_logged_once(caplog):
    collector = Collector(Config(), gpus=SimpleNamespace(measure=lambda: 1 / 0, take_events=list))
    with caplog.at_level(logging.WARNING, "muster.agent"):
        for _ in range(5):
            collector.collect()
    assert caplog.text.count("division by zero") == 1


def test_agent_sink_error_is_logged_once_per_outage(caplog):
    troubles: list[OSError | None] = [
        OSError(28, "full"),
        OSError(28, "full"),
        OSError(28, "full"),
        None,
        OSError(28, "full"),
    ]

    def sink(body: Json) -> None:
        if trouble := troubles.pop(0):
            raise trouble

    agent = Agent(quick(), sink=sink)
    with caplog.at_level(logging.ERROR, logger="muster.agent"):
        for expected in (1, 1, 1, 1, 2):
            agent.tick()
            assert [r.getMessage() for r in caplog.records] == [
                "cannot hand over the batch"
            ] * expected


def test_agent_stop_ends_the_loop_at_once(wait_for):
    stop, batches = threading.Event(), []
    agent = Agent(Config(idle_interval=600, busy_interval=600), sink=batches.append, stop=stop)
    agent.start()
    wait_for(lambda: batches)
    stop.set()
    wait_for(lambda: not agent._thread.is_alive(), seconds=2)


def test_agent_facts_list_the_gpus():
    nvml = Nvml(Device("GPU-a"), Device("GPU-b"))
    agent = Agent(
        quick(),
        sink=print,
        collector=Collector(quick(), gpus=GpuSampler(Driver(lambda: nvml, Clock()))),
    )
    agent.collector.collect()
    facts = agent.facts()
    assert [(g["index"], g["uuid"], g["model"], g["memory"], g["mig"]) for g in facts["gpus"]] == [
        (0, "GPU-a", "NVIDIA H100 80GB HBM3", 80 << 30, []),
        (1, "GPU-b", "NVIDIA H100 80GB HBM3", 80 << 30, []),
    ]
    assert (facts["driver"], facts["cuda"], facts["gpus"][0]["compute"]) == (
        "570.86.15",
        "12.8",
        "9.0",
    )
    assert facts["arch"] == os.uname().machine


def scrape(port: int, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        return str(answer.read().decode())


def test_exposition_shows_the_newest_batch_with_units():
    agent = Agent(quick(), sink=lambda body: None)
    agent.tick()
    server = exposition.serve(agent, "127.0.0.1:0")
    try:
        text = scrape(server.server_address[1])
        assert 'muster_memory_total_bytes{node="n1"} ' in text
        assert "# TYPE muster_memory_total_bytes gauge" in text
        with pytest.raises(urllib.error.HTTPError, match="404"):
            scrape(server.server_address[1], "/secret")
        agent.last_at -= 60
        assert scrape(server.server_address[1]) == "", "an old batch is a gap"
    finally:
        server.shutdown()
        server.server_close()


def test_exposition_labels_parse_with_the_prometheus_parser():
    odd = 'a"b\\c\nd'
    sample = {"name": "disk.used", "labels": {"path": odd}, "value": 1.5, "unit": "bytes"}
    body = {"node": "n1", "samples": [sample], "jobs": [{"key": "muster-a", "samples": [sample]}]}
    families = {
        f.name: f.samples[0] for f in text_string_to_metric_families(exposition.render(body))
    }
    assert families["muster_disk_used_bytes"].labels == {"node": "n1", "path": odd}
    assert families["muster_job_disk_used_bytes"].labels["job"] == "muster-a"


def test_agent_with_batches_sends_several_measurements_as_columns(run, wait_for):
    batches: list[Json] = []
    run(Agent(quick(batch=1.2), sink=batches.append))
    wait_for(lambda: len(batches) >= 2)
    one = batches[0]
    assert len(one["times"]) >= 2 and one["times"][-1] == one["at"] and "samples" not in one
    columns = {column[0]: column for column in one["columns"]}
    name, labels, unit, values = columns["memory.used"]
    assert (name, labels, unit) == ("memory.used", {}, "bytes") and len(values) == len(one["times"])
    net = columns["net.rx"][3]
    assert net[0] is None and net[-1] is not None  # a rate has no first value
    assert one["facts"]["cpus"] >= 1


def test_agent_sends_short_batches_while_somebody_looks_at_its_machine(run, wait_for, monkeypatch):
    monkeypatch.setattr("muster_agent.loop.WATCHED_BATCH", 0.8)
    portal = Portal()
    portal.answer = '{"accepted": 1, "watched": true}'
    try:
        agent = Agent(quick(batch=2, url=portal.url, token=portal.token))
        run(agent)
        wait_for(lambda: len(portal.taken) >= 3)  # the first after 1.5 s
        first, *_, last = portal.taken
        assert len(last["times"]) < len(first["times"]) / 2
        portal.answer = '{"accepted": 1}'
        wait_for(lambda: not agent._sender.is_watched)  # type: ignore[union-attr]
    finally:
        portal.close()
