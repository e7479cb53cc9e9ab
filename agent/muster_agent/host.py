"""Machine metrics: CPU, memory, disks, network."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from muster_agent.deadline import CallTimeout, Deadline
from muster_agent.rates import Rates
from muster_agent.sample import Sample

IDLE_MODES = ("idle", "iowait")
COUNTED_TWICE = ("guest", "guest_nice")  # Linux includes them in user and nice
DISK_EVERY = 30.0  # seconds between checks of a file system's usage
VIRTUAL_NICS = ("veth", "docker", "br-", "virbr", "cni", "flannel", "cali")


class Host:
    """Measure this machine. Rates are relative to the instance's previous measurement."""

    def __init__(
        self, disks: tuple[Path, ...] = (Path("/"),), clock: Callable[[], float] = time.monotonic
    ):
        self._clock, self._rates = clock, Rates()
        self._cpu_before: dict[str, float] | None = None
        self._disks = [Disk(path, clock) for path in disks]

    def parts(self) -> tuple[tuple[str, Callable[[], Iterator[Sample]]], ...]:
        """Return the measurements by name, each of which may fail independently."""
        return (
            ("cpu", self.cpu),
            ("load", self.load),
            ("memory", self.memory),
            *((f"disk {disk.path}", disk.samples) for disk in self._disks),
            ("disk rates", self.disk_rates),
            ("network", self.network),
            ("rdma", self.rdma),
        )

    def notes(self) -> list[str]:
        return [disk.note for disk in self._disks if disk.note]

    def cpu(self) -> Iterator[Sample]:
        """Yield CPU utilization since the last measurement, in total and per mode."""
        times = {
            mode: t for mode, t in psutil.cpu_times()._asdict().items() if mode not in COUNTED_TWICE
        }
        before, self._cpu_before = self._cpu_before, times
        if before is None:
            return
        spent = {mode: max(0.0, t - before[mode]) for mode, t in times.items()}
        total = sum(spent.values())
        if total <= 0:
            return
        yield Sample(
            "cpu.utilization", 1 - sum(spent.get(mode, 0) for mode in IDLE_MODES) / total, "ratio"
        )
        for mode in ("user", "system", "iowait", "steal"):
            if mode in spent:
                yield Sample("cpu.mode", spent[mode] / total, "ratio", {"mode": mode})

    def load(self) -> Iterator[Sample]:
        yield Sample("cpu.load1", os.getloadavg()[0], "count")

    def memory(self) -> Iterator[Sample]:
        """Yield memory; used is total minus available, so file cache counts as free."""
        memory = psutil.virtual_memory()
        yield Sample("memory.total", memory.total, "bytes")
        yield Sample("memory.available", memory.available, "bytes")
        yield Sample("memory.used", memory.total - memory.available, "bytes")

    def disk_rates(self) -> Iterator[Sample]:
        """Yield traffic of physical disks; partitions, LVM and loop devices would double it."""
        disks = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
        real = [counters for name, counters in disks.items() if has_hardware("block", name)]
        if real:
            yield from self._rate("disk.read", sum(c.read_bytes for c in real))
            yield from self._rate("disk.write", sum(c.write_bytes for c in real))

    def network(self) -> Iterator[Sample]:
        """Yield traffic of network cards; without any, of all but loopback and bridges."""
        nics = psutil.net_io_counters(pernic=True, nowrap=False)
        real = [n for n in nics if has_hardware("net", n)] or [
            n for n in nics if not is_virtual_nic(n)
        ]
        if real:
            yield from self._rate("net.rx", sum(nics[n].bytes_recv for n in real))
            yield from self._rate("net.tx", sum(nics[n].bytes_sent for n in real))

    def rdma(self, root: Path = Path("/sys/class/infiniband")) -> Iterator[Sample]:
        """Yield InfiniBand and RoCE traffic, which port counters report in words of 4 bytes."""
        ports = list(root.glob("*/ports/*/counters"))
        if ports:
            yield from self._rate(
                "rdma.rx", 4 * sum(int((p / "port_rcv_data").read_text()) for p in ports)
            )
            yield from self._rate(
                "rdma.tx", 4 * sum(int((p / "port_xmit_data").read_text()) for p in ports)
            )

    def _rate(self, name: str, counter: float) -> Iterator[Sample]:
        rate = self._rates.of(name, counter, self._clock())
        if rate is not None:
            yield Sample(name, rate, "bytes/s")


class Disk:
    """Usage of one file system, read rarely and with a deadline, because NFS may hang."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float],
        statvfs: Callable[[Path], os.statvfs_result] = os.statvfs,
        patience: float = 2.0,
    ):
        self.path, self.note = path, ""
        self._clock, self._measured_at = clock, float("-inf")
        self._statvfs = Deadline(f"file system {path}", lambda: statvfs(path), patience)
        self._found: tuple[Sample, ...] = ()

    def samples(self) -> Iterator[Sample]:
        if self._clock() - self._measured_at >= DISK_EVERY:
            self._measured_at, self._found, self.note = self._clock(), (), ""
            self._measure()
        yield from self._found

    def _measure(self) -> None:
        try:
            stat = self._statvfs()
        except (OSError, CallTimeout) as error:
            self.note = (
                f"disk {self.path}: {error.strerror if isinstance(error, OSError) else error}"
            )
            return
        labels, total = {"path": str(self.path)}, stat.f_blocks * stat.f_frsize
        used = total - stat.f_bfree * stat.f_frsize
        self._found = (
            Sample("disk.used", used, "bytes", labels),
            Sample("disk.total", total, "bytes", labels),
        )


def has_hardware(kind: str, name: str) -> bool:
    """Return whether a disk ("block") or interface ("net") is physical; on Linux only."""
    if not sys.platform.startswith("linux"):
        return not is_virtual_nic(name)
    return Path(f"/sys/class/{kind}/{name}/device").exists()


def is_virtual_nic(name: str) -> bool:
    return name == "lo" or name.startswith(("lo0", *VIRTUAL_NICS))


def cpu_count() -> int:
    """Return the CPUs available to this process, respecting cpusets."""
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    )
