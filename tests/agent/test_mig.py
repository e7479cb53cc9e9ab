"""The agent partitions GPUs against a double of NVML."""

from __future__ import annotations

import json
import threading
import time

import pynvml
import pytest

from muster_agent.cli import findings, parser
from muster_agent.collector import Collector
from muster_agent.config import Config
from muster_agent.gpus import GpuSampler
from muster_agent.loop import Agent
from muster_agent.mig import carry_out
from muster_agent.nvml import Driver
from muster_agent.sender import parsed, work_in
from tests.agent.mig_double import MigNvml
from tests.agent.nvml_double import Clock, Device

A, B = "GPU-a", "GPU-b"
SEVEN = [{"profile": "1g.10gb", "start": start} for start in range(7)]
MIXED = [
    {"profile": "1g.10gb", "start": 0},
    {"profile": "1g.10gb", "start": 1},
    {"profile": "2g.20gb", "start": 2},
    {"profile": "3g.40gb", "start": 4},
]


def nvml_of(*uuids):
    return MigNvml(*(Device(uuid) for uuid in uuids or (A,)))


def work(before, after, *uuids):
    gpus = [{"uuid": uuid, "before": before, "after": after} for uuid in uuids or (A,)]
    return {"id": "w1", "gpus": gpus}


def change(nvml, before, after, *uuids, waits=None):
    done = carry_out(nvml, work(before, after, *uuids), ([] if waits is None else waits).append)
    nvml.calls, calls = [], nvml.calls
    return done, calls


def pairs(layout):
    return [(one["start"], one["profile"]) for one in layout]


def test_gpu_is_partitioned_largest_first_and_verified():
    nvml = nvml_of()
    report, calls = change(nvml, None, MIXED)
    assert (report["state"], report["error"], report["layouts"]) == ("done", "", {A: MIXED})
    created = [call for call in calls if call.startswith("+") and "compute" not in call]
    assert calls[0] == "mode 1" and created[0] == "+3g.40gb@4"
    assert all(len(one.parts) == 1 for one in nvml.instances[A])
    report, calls = change(nvml, None, MIXED)
    assert report["state"] == "done" and calls == [], "repeated work changes nothing"
    report, calls = change(nvml, MIXED, None)
    assert report["state"] == "done" and calls[-1] == "mode 0" and nvml.layout(A) is None


def test_only_changed_instances_are_destroyed():
    nvml = nvml_of()
    change(nvml, None, MIXED)
    kept = [one.id for one in nvml.instances[A] if one.profile.name != "3g.40gb"]
    wanted = [*MIXED[:3], *({"profile": "1g.10gb", "start": start} for start in (4, 5, 6))]
    report, calls = change(nvml, MIXED, wanted)
    assert report["layouts"][A] == wanted
    assert [call for call in calls if call.startswith("-")] == ["-3g.40gb@4"]
    assert set(kept) <= {one.id for one in nvml.instances[A]}


def test_refused_order_starts_again_with_an_empty_gpu():
    nvml = nvml_of()
    before = [*MIXED[:3], {"profile": "1g.10gb", "start": 4}]
    change(nvml, None, before)
    report, calls = change(nvml, before, MIXED)  # a 3g after 1g is refused
    assert report["state"] == "done" and report["layouts"][A] == MIXED
    assert calls.count("+3g.40gb@4") == 2 and "-2g.20gb@2" in calls


@pytest.mark.parametrize(
    ("function", "code", "times", "words"),
    [
        ("Create", pynvml.NVML_ERROR_NO_PERMISSION, 1, "root"),
        ("CreateCompute", pynvml.NVML_ERROR_INSUFFICIENT_RESOURCES, 2, "no free slices"),
        ("Create", pynvml.NVML_ERROR_UNKNOWN, 1, "Unknown"),
    ],
)
def test_failure_rebuilds_the_former_layout_of_all_gpus(function, code, times, words):
    nvml = nvml_of(A, B)
    change(nvml, None, MIXED, A, B)
    nvml.fail(function, code, after=7, times=times)  # on the second GPU
    report, _ = change(nvml, MIXED, SEVEN, A, B)
    assert (report["state"], report["is_restored"]) == ("failed", True)
    assert words in report["error"] and B in report["error"]
    assert nvml.layout(A) == nvml.layout(B) == pairs(MIXED)
    assert report["layouts"] == {A: MIXED, B: MIXED}


def test_instance_in_use_is_never_destroyed():
    nvml, waits = nvml_of(), []
    change(nvml, None, SEVEN)
    nvml.instances[A][3].is_in_use = True
    report, _ = change(nvml, SEVEN, MIXED, waits=waits)
    assert "a process still uses it" in report["error"] and report["is_restored"]
    assert nvml.layout(A) == pairs(SEVEN) and len(waits) >= 4, "it waits for a process to end"


def test_process_that_ends_late_only_delays():
    nvml = nvml_of()
    change(nvml, None, SEVEN)
    nvml.instances[A][0].is_in_use = True

    def end(_seconds):
        for one in nvml.instances[A]:
            one.is_in_use = False

    assert carry_out(nvml, work(SEVEN, MIXED), end)["state"] == "done"


def test_gpu_that_vanishes_is_reported_and_not_restored():
    nvml = nvml_of(A, B)

    def vanish(call):
        if call == "+1g.10gb@3":
            nvml.lost.add(A)

    nvml.on_call = vanish
    report, _ = change(nvml, None, SEVEN, A, B)
    assert (report["state"], report["is_restored"]) == ("failed", False)
    assert "lost" in report["error"] or "gone" in report["error"]
    assert set(report["layouts"]) == {B} and nvml.layout(B) is None


def test_pending_mode_is_a_failure():
    nvml = nvml_of()
    nvml.activation = pynvml.NVML_ERROR_RESET_REQUIRED
    report, _ = change(nvml, None, SEVEN)
    assert "reboot" in report["error"] and report["is_restored"]


def test_killed_agent_goes_on_where_it_was():
    class KilledError(BaseException):
        pass

    for at in range(1, 13):
        nvml = nvml_of()
        change(nvml, None, MIXED)
        seen = []

        def kill(call, seen=seen, at=at):
            seen.append(call)
            if len(seen) == at:
                raise KilledError

        nvml.on_call = kill
        with pytest.raises(KilledError):
            carry_out(nvml, work(MIXED, SEVEN), lambda _: None)
        nvml.on_call = lambda call: None
        report, _ = change(nvml, MIXED, SEVEN)
        assert (report["state"], report["layouts"]) == ("done", {A: SEVEN}), at


def test_agent_asks_for_permission_and_reports_with_its_batches():
    nvml = nvml_of()
    gpus = GpuSampler(Driver(lambda: nvml, Clock()))
    closed, opened = Config(), Config(allow_mig=True)
    assert Collector(closed, gpus=gpus).collect()["facts"]["mig"] == {"is_allowed": False}
    collector = Collector(opened, gpus=gpus)
    before = collector.collect()
    assert not before["facts"]["gpus"][0]["is_mig"]
    collector.partition(work(None, SEVEN))
    facts = collector.collect()["facts"]
    assert facts["mig"]["report"]["state"] == "done" and facts["mig"]["is_allowed"]
    assert [part["profile"] for part in facts["gpus"][0]["mig"]] == ["1g.10gb"] * 7
    nvml.calls.clear()
    collector.partition(work(None, SEVEN))
    assert nvml.calls == [], "the same work is done once"
    texts = "\n".join([*findings(opened, before), *findings(closed, before)])
    assert "may change instances (--allow-mig)" in texts and "--allow-mig permits it" in texts
    assert parser().parse_args(["run", "--allow-mig"]).allow_mig


def test_work_without_a_driver_fails_with_a_report():
    def load():
        raise OSError("no library")

    gpus = GpuSampler(Driver(load, Clock()))
    report = gpus.partition(work(None, SEVEN))
    assert (report["id"], report["state"]) == ("w1", "failed") and "no library" in report["error"]


@pytest.mark.parametrize("text", ["", "[]", "nonsense", '{"work": 3}', '{"work": {"id": "x"}}'])
def test_answer_without_work_asks_for_nothing(text):
    assert work_in(parsed(text)) is None


def test_work_in_an_answer_is_done_and_reported(tmp_path):
    from tests.agent.portal_server import Portal

    portal, nvml = Portal(), nvml_of()
    portal.answer = json.dumps({"accepted": 1, "work": work(None, SEVEN)})
    config = Config(
        url=portal.url, token=portal.token, allow_mig=True, idle_interval=0.2, busy_interval=0.1
    )
    agent = Agent(config, collector=Collector(config, gpus=GpuSampler(Driver(lambda: nvml))))
    stopped = threading.Thread(target=agent.run, daemon=True)
    stopped.start()
    try:
        until = time.monotonic() + 15
        while not any("report" in one["facts"]["mig"] for one in portal.taken):
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        agent.stop()
        stopped.join(5)
        portal.close()
    report = next(one["facts"]["mig"]["report"] for one in reversed(portal.taken))
    assert (report["id"], report["state"]) == ("w1", "done")
    assert nvml.layout(A) == pairs(SEVEN)
