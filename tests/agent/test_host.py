from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

from muster_agent.host import DISK_EVERY, Disk, Host, cpu_count
from muster_agent.rates import Rates
from muster_agent.sample import Sample
from tests.agent.nvml_double import Clock


def by_name(samples: list[Sample]) -> dict[str, float]:
    return {sample.name: sample.value for sample in samples}


def proc_stat() -> list[int]:
    return [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]


@pytest.mark.serial
@pytest.mark.integration
def test_host_cpu_usage_matches_proc_stat(spawn, wait_for):
    spawn("while True: pass")
    host = Host()
    assert list(host.cpu()) == [], "one look has no past"
    before, began = proc_stat(), time.monotonic()
    wait_for(lambda: time.monotonic() > began + 1)
    found, after = by_name([s for s in host.cpu() if s.name == "cpu.utilization"]), proc_stat()
    spent = [b - a for a, b in zip(before, after, strict=True)]
    assert found["cpu.utilization"] == pytest.approx(
        1 - (spent[3] + spent[4]) / sum(spent), abs=0.05
    )
    assert found["cpu.utilization"] > 0.5 / (os.cpu_count() or 1)


def test_host_cpu_modes_add_up_to_the_total(wait_for):
    host = Host()
    list(host.cpu())
    began = time.monotonic()
    wait_for(lambda: time.monotonic() > began + 0.3)
    samples = list(host.cpu())
    modes = {s.labels["mode"]: s.value for s in samples if s.name == "cpu.mode"}
    assert 0 <= sum(modes.values()) <= 1
    assert modes["user"] + modes["system"] <= by_name(samples)["cpu.utilization"] + 1e-9


def test_host_memory_matches_meminfo():
    found = by_name(list(Host().memory()))
    info = {
        line.split(":")[0]: int(line.split()[1]) * 1024
        for line in Path("/proc/meminfo").read_text().splitlines()
    }
    assert found["memory.total"] == info["MemTotal"]
    assert found["memory.used"] == pytest.approx(
        info["MemTotal"] - info["MemAvailable"], abs=64 << 20
    )


def test_host_file_system_usage_is_measured_by_path(tmp_path):
    found = list(Disk(tmp_path, time.monotonic).samples())
    usage = shutil.disk_usage(tmp_path)
    assert {s.labels["path"] for s in found} == {str(tmp_path)}
    assert by_name(found)["disk.total"] == usage.total
    assert by_name(found)["disk.used"] == pytest.approx(usage.used, abs=64 << 20)


def test_host_missing_path_leaves_a_gap_and_a_note(tmp_path):
    disk = Disk(tmp_path / "none", time.monotonic)
    assert list(disk.samples()) == []
    assert disk.note.endswith("No such file or directory")


def test_host_hanging_file_system_leaves_a_gap_until_it_answers(tmp_path):
    freed, clock, calls = threading.Event(), Clock(), []

    def statvfs(path: Path) -> os.statvfs_result:
        calls.append(path)
        freed.wait()
        return os.statvfs(path)

    disk = Disk(tmp_path, clock, statvfs, patience=0.01)
    assert list(disk.samples()) == []
    assert "has not answered" in disk.note
    clock.now += DISK_EVERY
    assert list(disk.samples()) == []
    assert len(calls) == 1, "no second thread hangs behind the first"
    freed.set()
    disk._statvfs._thread.join()
    disk._statvfs._seconds, clock.now = 10, clock.now + DISK_EVERY
    assert by_name(list(disk.samples()))["disk.total"] > 0
    assert disk.note == ""


def test_host_network_traffic_excludes_loopback(wait_for):
    host = Host()
    list(host.network())
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        peer, _ = server.accept()
        with peer:
            for _ in range(64):
                client.sendall(bytes(1 << 14))
                peer.recv(1 << 14, socket.MSG_WAITALL)
    host._clock = lambda: time.monotonic() + 1
    assert by_name(list(host.network())).get("net.rx", 0.0) < 1 << 20


def test_host_rdma_counters_are_multiplied_by_four(tmp_path):
    clock = Clock()
    host = Host(clock=clock)
    port = tmp_path / "mlx5_0" / "ports" / "1" / "counters"
    port.mkdir(parents=True)
    for received in (1000, 1500):
        (port / "port_rcv_data").write_text(f"{received}\n")
        (port / "port_xmit_data").write_text("7\n")
        found = by_name(list(host.rdma(tmp_path)))
        clock.now += 10
    assert found == {"rdma.rx": 200.0, "rdma.tx": 0.0}


def test_host_counter_reset_leaves_a_gap():
    rates = Rates()
    assert [rates.of("a", value, now) for now, value in enumerate((100, 150, 20, 30))] == [
        None,
        50,
        None,
        10,
    ]


def test_host_cpu_count_respects_the_affinity():
    assert cpu_count() == len(os.sched_getaffinity(0))
