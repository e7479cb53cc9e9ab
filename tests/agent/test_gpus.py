from __future__ import annotations

import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pynvml
import pytest

from muster_agent.attribution import gpu_samples
from muster_agent.collector import Collector
from muster_agent.config import Config
from muster_agent.deadline import Deadline
from muster_agent.gpm import Activity
from muster_agent.gpus import GpuReading, GpuSampler
from muster_agent.jobs import JobReading
from muster_agent.nvml import NO_LIBRARY, Driver
from muster_agent.sample import Sample
from tests.agent.nvml_double import GIB, H100, Clock, Device, Nvml
from tests.cases import CASES
from tests.rig.environment import ROOT
from tests.stand_in import StandIn

Table = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def gpus_of(nvml: Nvml, clock: Clock | None = None) -> GpuSampler:
    return GpuSampler(Driver(lambda: nvml, clock or Clock()), now_ms=lambda: 1_700_000_000_000)


def table(samples: list[Sample]) -> Table:
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for s in samples}


def on(gpu: int, **labels: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({"gpu": str(gpu), **labels}.items()))


def job(key: str, *pids: int, gpus: tuple[str, ...] = ()) -> JobReading:
    return JobReading(key, frozenset(pids), gpus, [])


def test_gpu_metrics_are_in_si_units():
    numbers = table(gpus_of(Nvml(Device("GPU-a"))).measure().samples)
    assert numbers["gpu.utilization", on(0)] == 0.93
    assert numbers["gpu.memory.used", on(0)] == 40 * GIB, "without the driver's reserve"
    assert numbers["gpu.memory.total", on(0)] == 80 * GIB
    assert numbers["gpu.power", on(0)] == 512.345
    assert numbers["gpu.temperature", on(0)] == 61
    assert numbers["gpu.clock.sm", on(0)] == 1_980_000_000
    assert numbers["gpu.clock.memory", on(0)] == 2_619_000_000
    assert numbers["gpu.ecc.corrected", on(0, counter="volatile")] == 3
    assert numbers["gpu.ecc.corrected", on(0, counter="aggregate")] == 17
    assert numbers["gpu.ecc.uncorrected", on(0, counter="aggregate")] == 1
    assert numbers["gpu.throttled", on(0)] == 0, "an idle GPU's low clock is no throttling"


def test_gpu_activity_needs_two_samples_of_the_same_driver():
    clock, nvml = Clock(), Nvml(Device("GPU-a"))
    driver = Driver(lambda: nvml, clock)
    gpus = GpuSampler(driver, activity=Activity(clock))
    assert not any(s.name == "gpu.sm.active" for s in gpus.measure().samples)
    clock.now += 10
    numbers = table(gpus.measure().samples)
    assert numbers["gpu.sm.active", on(0)] == pytest.approx(0.87)
    assert numbers["gpu.tensor.active", on(0)] == pytest.approx(0.63)
    assert numbers["gpu.memory.bandwidth", on(0)] == pytest.approx(0.55)
    assert numbers["gpu.pcie.sent", on(0)] == 120 << 20
    assert numbers["gpu.nvlink.received", on(0)] == 900 << 20
    assert numbers["gpu.rows.uncorrected", on(0)] == 1
    driver.close("upgraded", retry_after=0)
    clock.now += 10
    assert not any(s.name == "gpu.sm.active" for s in gpus.measure().samples)


def test_gpu_without_gpm_tells_throughput_and_temperature_of_memory(monkeypatch):
    sent, received = (138, 0xFFFFFFFF), (139, 0xFFFFFFFF)
    older = {name: value for name, value in H100.items() if name != "gpm"}
    fields = {sent: 10, received: 20}
    device = Device("GPU-a", metrics={**older, "pcie": (2000, 3000), "fields": fields})
    gpus, now = gpus_of(Nvml(device)), [100.0]
    stand_in = StandIn(time, monotonic=lambda: now[0])
    monkeypatch.setattr("muster_agent.gpus.time", stand_in)
    gpus.measure()
    gpus._driver.gpus[0].links = 12
    gpus.measure()
    now[0] += 2
    device.metrics["fields"] = {sent: 10 + 4096, received: 20 + 8192, 82: 71}
    gpus._driver.gpus[0].unsupported.discard("memory temperature")
    numbers = table(gpus.measure().samples)
    assert (numbers["gpu.pcie.sent", on(0)], numbers["gpu.pcie.received", on(0)]) == (2e6, 3e6)
    assert numbers["gpu.nvlink.sent", on(0)] == 2 << 20
    assert numbers["gpu.nvlink.received", on(0)] == 4 << 20
    assert numbers["gpu.memory.temperature", on(0)] == 71


def test_gpu_recovery_action_and_rate_of_nvlink_errors(monkeypatch):
    device = Device("GPU-a")
    gpus, now = gpus_of(Nvml(device)), [100.0]
    stand_in = StandIn(time, monotonic=lambda: now[0])
    monkeypatch.setattr("muster_agent.gpus.time", stand_in)
    crc = pynvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL
    device.metrics["fields"] = {pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: 1, crc: 1000}
    first = table(gpus.measure().samples)
    assert first["gpu.recovery", on(0)] == 1 and ("gpu.nvlink.errors", on(0)) not in first
    device.metrics["fields"][crc], now[0] = 6000, 110.0
    assert table(gpus.measure().samples)["gpu.nvlink.errors", on(0)] == 500
    other = gpus_of(Nvml(Device("GPU-b", metrics={"used": GIB})))
    assert not any(name == "gpu.recovery" for name, _ in table(other.measure().samples))


def test_gpu_is_described_with_its_place_and_mig_layout():
    part = Device("MIG-1", name="NVIDIA H100 80GB HBM3 MIG 3g.40gb", instance=2, start=4)
    whole = Device("GPU-a")
    clock = Clock()
    gpus = GpuSampler(Driver(lambda: Nvml(whole, Device("GPU-b", slices=[part])), clock))
    first, second = (gpu.as_json() for gpu in gpus.measure().gpus)
    assert (first["serial"], first["pci"], first["numa"]) == ("1650PU-a", "00000000:10:00.0", 0)
    assert (first["links"], first["is_mig"], second["is_mig"]) == (18, False, True)
    [found] = second["mig"]
    assert (found["uuid"], found["profile"], found["start"]) == ("MIG-1", "3g.40gb", 4)


def test_gpu_samples_are_labeled_with_the_index():
    idle = Device("GPU-b", metrics={"used": 0, "utilization": SimpleNamespace(gpu=0, memory=0)})
    reading = gpus_of(Nvml(Device("GPU-a"), idle)).measure()
    numbers = table(reading.samples)
    assert (numbers["gpu.utilization", on(0)], numbers["gpu.utilization", on(1)]) == (0.93, 0.0)
    assert [gpu.uuid for gpu in reading.gpus] == ["GPU-a", "GPU-b"]


def test_gpu_unsupported_metric_is_omitted_and_not_queried_again():
    device = Device("GPU-a")
    del device.metrics["power"], device.metrics["ecc"]
    nvml = Nvml(device)
    gpus = gpus_of(nvml)
    gpus.measure()
    names = {sample.name for sample in gpus.measure().samples}
    assert {"gpu.power", "gpu.ecc.corrected"} & names == set()
    assert "gpu.temperature" in names
    assert nvml.asked.count("power") == 1


def test_gpu_thermal_slowdown_is_reported():
    numbers = table(
        gpus_of(Nvml(Device("GPU-a", metrics={"used": 1, "reasons": 0x40 | 0x4}))).measure().samples
    )
    assert numbers["gpu.throttled", on(0)] == 1
    assert numbers["gpu.throttle", on(0, reason="hw_thermal")] == 1
    assert numbers["gpu.throttle", on(0, reason="power_cap")] == 1


def partitioned() -> Device:
    slices = [
        Device(
            f"MIG-{i}",
            "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
            10 * GIB,
            {"used": i * GIB},
            instance=7 + i,
        )
        for i in (1, 2)
    ]
    return Device(
        "GPU-a", slices=[slices[0], None, slices[1]], metrics={"used": 3 * GIB, "temperature": 50}
    )


def test_gpu_mig_instances_have_a_profile_and_their_own_memory():
    reading = gpus_of(Nvml(partitioned())).measure()
    assert [part["profile"] for part in reading.gpus[0].as_json()["mig"]] == ["1g.10gb", "1g.10gb"]
    numbers = table(reading.samples)
    assert numbers["gpu.memory.used", on(0, mig="0")] == GIB
    assert numbers["gpu.memory.used", on(0, mig="2")] == 2 * GIB
    assert ("gpu.utilization", on(0)) not in numbers, "a partitioned GPU has none as a whole"


def test_gpu_value_that_is_not_possible_is_a_gap():
    device = Device("GPU-a")
    device.metrics |= {"temperature": 65_535, "power": 300_000}
    batch = Collector(Config(node="n0", jobs_dir=None), gpus=gpus_of(Nvml(device))).collect()
    names = {sample["name"] for sample in batch["samples"]}
    assert "gpu.power" in names
    assert "gpu.temperature" not in names


def test_gpu_and_slice_without_optional_readings_are_listed():
    device = partitioned()
    for one in (device, *filter(None, device.slices)):
        del one.metrics["used"]  # memory that the GPU shares with the machine
    nvml = Nvml(device)
    nvml.nvmlDeviceGetGpuInstanceId = nvml.nvmlDeviceGetGraphicsRunningProcesses
    reading = gpus_of(nvml).measure()
    [gpu] = reading.gpus
    assert (gpu.is_lost, gpu.model, gpu.memory, reading.note) == (False, device.name, 0, "")
    assert [(part.uuid, part.memory) for part in gpu.slices] == [("MIG-1", 0), ("MIG-2", 0)]
    assert "gpu.temperature" in {sample.name for sample in reading.samples}


def test_gpu_new_mig_instance_is_found_within_a_minute():
    device, clock = Device("GPU-a"), Clock()
    gpus = gpus_of(Nvml(device), clock)
    assert gpus.measure().gpus[0].slices == []
    device.slices, clock.now = partitioned().slices, clock.now + 61
    assert len(gpus.measure().gpus[0].slices) == 2


def test_gpu_xid_becomes_an_event_with_meaning_and_action():
    nvml = Nvml(Device("GPU-a"), Device("GPU-b"))
    gpus = gpus_of(nvml)
    gpus.measure()
    nvml.raise_xid(1, 79)
    nvml.raise_xid(0, 31)
    samples = table(gpus.measure().samples)
    events = [event.as_json() for event in gpus.take_events()]
    assert [(e["kind"], e["gpu"], e["code"], e["action"]) for e in events] == [
        ("xid", 1, 79, "drain"),
        ("xid", 0, 31, "program"),
    ]
    assert events[0]["meaning"] == "the GPU has fallen off the bus"
    assert samples["gpu.xid", on(1)] == 79
    assert gpus.take_events() == []


def test_gpu_xid_of_a_mig_instance_names_the_instance():
    nvml = Nvml(partitioned())
    gpus = gpus_of(nvml)
    gpus.measure()
    nvml.raise_xid(0, 43, instance=9)
    gpus.measure()
    assert gpus.take_events()[0].as_json()["mig"] == 2


def test_gpu_without_a_driver_is_explained():
    reading = GpuSampler().measure()
    assert (
        reading.note
        == NO_LIBRARY
        == "no GPU: the NVIDIA driver is not installed (libnvidia-ml.so.1 not found)"
    )
    assert (reading.samples, reading.gpus) == ([], [])


def test_gpu_driver_installed_later_is_found_by_the_retry():
    nvml, clock = Nvml(Device("GPU-a")), Clock()
    nvml.driver = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    gpus = gpus_of(nvml, clock)
    assert "kernel module is not loaded" in gpus.measure().note
    nvml.driver = 0
    clock.now += 59
    assert gpus.measure().samples == []
    clock.now += 2
    assert gpus.measure().samples
    assert gpus.measure().note == ""


@pytest.mark.parametrize(
    "failure", ["UNINITIALIZED", "DRIVER_NOT_LOADED", "LIB_RM_VERSION_MISMATCH"]
)
def test_gpu_driver_lost_leaves_a_gap_and_recovers(failure):
    nvml, clock = Nvml(Device("GPU-a")), Clock()
    gpus = gpus_of(nvml, clock)
    assert gpus.measure().samples
    nvml.driver = getattr(pynvml, f"NVML_ERROR_{failure}")
    lost = gpus.measure()
    assert lost.samples == []
    assert "went away" in lost.note
    assert not nvml.is_open
    assert [event.kind for event in gpus.take_events()] == ["driver_lost"]
    nvml.driver, clock.now = 0, clock.now + 61
    nvml.raise_xid(0, 48)
    assert ("gpu.xid", on(0)) in table(gpus.measure().samples), "the event set was made again"


def test_gpu_lost_does_not_affect_the_others():
    bad, nvml_clock = Device("GPU-a"), Clock()
    gpus = gpus_of(Nvml(bad, Device("GPU-b")), nvml_clock)
    gpus.measure()
    bad.failure = pynvml.NVML_ERROR_GPU_IS_LOST
    reading = gpus.measure()
    assert {labels[0][1] for name, labels in table(reading.samples) if name == "gpu.power"} == {"1"}
    assert [(e.kind, e.gpu) for e in gpus.take_events()] == [("gpu_lost", 0)]
    assert "GPU 0" in reading.note
    gpus.measure()
    assert gpus.take_events() == [], "told once"
    nvml_clock.now += 61
    assert len(gpus.measure().gpus) == 2, "still listed after the driver was opened again"
    bad.failure, nvml_clock.now = 0, nvml_clock.now + 61
    assert ("gpu.power", on(0)) in table(gpus.measure().samples)


def test_gpu_used_by_one_job_gives_it_all_metrics():
    reading = gpus_of(Nvml(Device("GPU-a", processes=[(10, 5 * GIB)]))).measure()
    numbers = table(gpu_samples(job("muster-a", 10, 11), reading))
    assert (numbers["gpu.utilization", on(0)], numbers["gpu.power", on(0)]) == (0.93, 512.345)


def test_gpu_shared_by_jobs_is_split_by_process_without_power():
    device = Device(
        "GPU-a",
        processes=[(10, 5 * GIB), (20, 7 * GIB)],
        shares=[(10, 1, 20), (10, 2, 40), (20, 2, 60)],
    )
    reading = gpus_of(Nvml(device)).measure()
    numbers = table(gpu_samples(job("muster-a", 10), reading))
    assert numbers["gpu.memory.used", on(0)] == 5 * GIB
    assert numbers["gpu.utilization", on(0)] == pytest.approx(0.3)
    assert ("gpu.power", on(0)) not in numbers
    assert table(gpu_samples(job("muster-b", 20), reading))[
        "gpu.utilization", on(0)
    ] == pytest.approx(0.6)


def test_gpu_idle_is_attributed_to_its_job():
    idle = Device("GPU-a", metrics={"used": 0, "utilization": SimpleNamespace(gpu=0, memory=0)})
    reading = gpus_of(Nvml(idle, Device("GPU-b"))).measure()
    for name in ("0", "GPU-a"):
        numbers = table(gpu_samples(job("muster-a", 10, gpus=(name,)), reading))
        assert numbers["gpu.utilization", on(0)] == 0
        assert ("gpu.power", on(1)) not in numbers
    assert gpu_samples(job("muster-b", 11), reading) == []


def test_gpu_mig_process_gives_its_job_that_instance_only():
    device = partitioned()
    device.slices[2].processes = [(10, GIB)]
    reading = gpus_of(Nvml(device)).measure()
    assert set(table(gpu_samples(job("muster-a", 10), reading))) == {
        ("gpu.memory.used", on(0, mig="2")),
        ("gpu.memory.total", on(0, mig="2")),
    }


def test_gpu_xid_names_the_jobs_that_it_ended():
    nvml = Nvml(Device("GPU-a", processes=[(10, GIB)]))
    running = [job("muster-a", 10)]
    jobs = SimpleNamespace(measure=lambda: list(running), has_running=lambda: bool(running))
    collector = Collector(Config(), gpus=gpus_of(nvml), jobs=jobs)
    collector.collect()
    nvml.raise_xid(0, 94)
    nvml.devices[0].processes = []
    running.clear()
    assert collector.collect()["events"][0]["jobs"] == ["muster-a"]
    nvml.raise_xid(0, 94)
    assert collector.collect()["events"][0]["jobs"] == []


def test_gpu_hanging_driver_leaves_host_metrics():
    freed = threading.Event()
    gpus = SimpleNamespace(measure=lambda: freed.wait() and GpuReading(), take_events=list)
    collector = Collector(Config(), gpus=gpus)
    collector._measure_gpus = Deadline("the NVIDIA driver", gpus.measure, 0.01)
    body = collector.collect()
    assert "the NVIDIA driver has not answered" in body["facts"]["note"]
    assert any(sample["name"] == "memory.used" for sample in body["samples"])
    freed.set()
    collector._measure_gpus._thread.join()
    assert collector.collect()["facts"]["note"] == ""


def test_gpu_of_a_report_whose_driver_has_no_memory_is_listed():
    """The script of a report, as it is."""
    script = CASES / "2026-11-27/gpu-without-memory.py"
    done = subprocess.run(
        [sys.executable, script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("ok\n", 0), done.stderr
