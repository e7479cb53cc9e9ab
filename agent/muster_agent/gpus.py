"""GPU measurements: metrics, XID errors and processes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from muster_agent.gpm import Activity
from muster_agent.mig import carry_out
from muster_agent.nvml import Driver, DriverLost, Gpu, GpuLost, Slice
from muster_agent.rates import Rates
from muster_agent.sample import Event, Json, Sample
from muster_agent.xid import Xids

EVENTS_AT_ONCE = 256  # per cycle: a failing GPU can raise XIDs faster than they are read
MHZ = 1_000_000
ALL_LINKS = 0xFFFFFFFF  # as the scope of an NVLink field
HARM = {  # NVML clock event reasons that reduce performance; idle and user-set clocks do not
    0x04: "power_cap",
    0x08: "hw_slowdown",
    0x20: "sw_thermal",
    0x40: "hw_thermal",
    0x80: "power_brake",
}
Found = Iterator[tuple[str, float, str]]


@dataclass(frozen=True)
class GpuProcess:
    """A process on a GPU or a slice.

    `memory` (bytes) and `busy` (0..1) are None if the driver does not report them.
    """

    pid: int
    gpu: int
    labels: dict[str, str]
    memory: int | None
    busy: float | None = None


@dataclass
class GpuReading:
    samples: list[Sample] = field(default_factory=list)
    processes: list[GpuProcess] = field(default_factory=list)
    gpus: list[Gpu] = field(default_factory=list)
    version: str = ""
    cuda: str = ""
    note: str = ""


class GpuSampler:
    """Measure all GPUs. Failing drivers and GPUs never raise; they appear in notes and events."""

    def __init__(
        self,
        driver: Driver | None = None,
        xids: Xids | None = None,
        now_ms: Callable[[], int] | None = None,
        activity: Activity | None = None,
    ):
        self._driver, self._xids = driver or Driver(), xids or Xids()
        self._now_ms = now_ms or (lambda: int(time.time() * 1000))
        self._event_set: Any = None
        self._events_of = 0  # `Driver.openings` for which the event set was created
        self._events: deque[Event] = deque(maxlen=4 * EVENTS_AT_ONCE)
        self._activity = activity or Activity()
        self._activity_of = 0  # `Driver.openings` from which its samples are
        self._rates = Rates()
        self._utilized: dict[int, int] = {}  # GPU -> last timestamp (µs) of its per-process samples

    def measure(self) -> GpuReading:
        reading = GpuReading()
        if self._driver.ready():
            self._fill(reading)
        reading.gpus, reading.note = list(self._driver.gpus), self._driver.note
        reading.version, reading.cuda = self._driver.version, self._driver.cuda
        return reading

    def partition(self, work: Json) -> Json:
        """Partition GPUs and return the report, see `mig.carry_out`. Never raises for a driver."""
        self._event_set = None
        try:
            with self._driver.released("MIG instances are being changed") as nvml:
                return carry_out(nvml, work)
        except Exception as error:  # no driver, or one that fails in a way we do not know
            reason = f"{type(error).__name__}: {error}"
            failed = {"state": "failed", "error": reason, "is_restored": False}
            return {"id": work.get("id"), **failed, "layouts": {}}

    def take_events(self) -> list[Event]:
        """Return events since the last call, including those of a late, discarded reading."""
        return [self._events.popleft() for _ in range(len(self._events))]

    def _fill(self, reading: GpuReading) -> None:
        try:
            for event in self._xid_events():
                self._events.append(event)
                reading.samples.append(
                    Sample("gpu.xid", event.detail["code"], "code", {"gpu": str(event.gpu)})
                )
            for gpu in self._driver.gpus:
                if not gpu.is_lost:
                    self._read_gpu(gpu, reading)
        except DriverLost as error:
            self._event_set = None
            self._driver.close(f"no GPU: the NVIDIA driver went away ({error})")
            self._events.append(Event("driver_lost", self._now_ms(), None, {"meaning": str(error)}))

    def _read_gpu(self, gpu: Gpu, reading: GpuReading) -> None:
        try:
            for metric, read in METRICS:
                reading.samples += self._measure(gpu, None, metric, read)
            self._ecc_and_throttle(gpu, reading)
            self._nvlink(gpu, reading)
            if not gpu.slices:
                reading.samples += self._measure(gpu, None, "activity", self._active(gpu))
            if "activity" in gpu.unsupported:
                self._throughput(gpu, reading)
            for part in gpu.slices:
                reading.samples += self._measure(gpu, part, f"slice {part.index}", memory)
                reading.samples += self._measure(
                    gpu, part, f"activity of slice {part.index}", self._active(gpu, part)
                )
            reading.processes += self._processes(gpu)
        except GpuLost as error:
            self._driver.lose(gpu)
            detail = {"meaning": str(error), "action": "drain"}
            self._events.append(Event("gpu_lost", self._now_ms(), gpu.index, detail))

    def _measure(
        self, gpu: Gpu, part: Slice | None, metric: str, read: Callable[[Any, Any], Found]
    ) -> list[Sample]:
        handle, labels = (part or gpu).handle, labels_of(gpu, part)
        found = self._driver.ask(gpu, metric, lambda: list(read(self._driver.nvml, handle))) or ()
        return [Sample(name, value, unit, labels) for name, value, unit in found]

    def _active(self, gpu: Gpu, part: Slice | None = None) -> Callable[[Any, Any], Found]:
        """Return how to read the activity of a GPU or a slice. Drops samples of a closed driver."""
        if self._activity_of != self._driver.openings:
            self._activity.forget()
            self._activity_of = self._driver.openings
        read, device = self._activity.read, gpu.handle
        if part is None:
            return lambda nvml, handle: iter(read(nvml, handle, gpu.uuid))
        return lambda nvml, handle: iter(read(nvml, device, part.uuid, part.instance))

    def _ecc_and_throttle(self, gpu: Gpu, reading: GpuReading) -> None:
        nvml, call = self._driver.nvml, self._driver.ask
        for kind, error_type in (("corrected", 0), ("uncorrected", 1)):
            for counter, counter_type in (("volatile", 0), ("aggregate", 1)):
                count = call(
                    gpu,
                    f"ecc {kind} {counter}",
                    nvml.nvmlDeviceGetTotalEccErrors,
                    gpu.handle,
                    error_type,
                    counter_type,
                )
                if count is not None:
                    reading.samples.append(
                        Sample(
                            f"gpu.ecc.{kind}",
                            count,
                            "count",
                            {**labels_of(gpu), "counter": counter},
                        )
                    )
        reasons = call(gpu, "throttle", nvml.nvmlDeviceGetCurrentClocksThrottleReasons, gpu.handle)
        if reasons is not None:
            active = [name for bit, name in HARM.items() if reasons & bit]
            reading.samples.append(
                Sample("gpu.throttled", 1.0 if active else 0.0, "ratio", labels_of(gpu))
            )
            reading.samples += [
                Sample("gpu.throttle", 1.0, "ratio", {**labels_of(gpu), "reason": r})
                for r in active
            ]

    def _nvlink(self, gpu: Gpu, reading: GpuReading) -> None:
        nvml = self._driver.nvml
        count = (
            self._driver.ask(gpu, "nvlink errors", nvlink_errors, nvml, gpu.handle)
            if gpu.links
            else None
        )
        rate = None if count is None else self._rates.of(gpu.uuid, count, time.monotonic())
        if rate is not None:
            reading.samples.append(Sample("gpu.nvlink.errors", rate, "1/s", labels_of(gpu)))

    def _throughput(self, gpu: Gpu, reading: GpuReading) -> None:
        """Measure PCIe and NVLink of a GPU without GPM."""
        reading.samples += self._measure(gpu, None, "pcie", pcie)
        nvml, now = self._driver.nvml, time.monotonic()
        fields = {
            "gpu.nvlink.sent": nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX,
            "gpu.nvlink.received": nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX,
        }
        for name, field_id in fields.items() if gpu.links else ():
            wanted = (field_id, ALL_LINKS)
            count = self._driver.ask(gpu, name, field_values, nvml, gpu.handle, wanted)
            rate = self._rates.of((gpu.uuid, name), count[0] * 1024, now) if count else None
            if rate is not None:
                reading.samples.append(Sample(name, rate, "bytes/s", labels_of(gpu)))

    def _processes(self, gpu: Gpu) -> list[GpuProcess]:
        """Return the processes on a GPU or its slices, without duplicates."""
        nvml = self._driver.nvml
        places: list[Slice | None] = [*gpu.slices] or [None]
        found: dict[tuple[int, int | None], GpuProcess] = {}
        for part in places:
            handle, name = (part.handle, f" {part.index}") if part else (gpu.handle, "")
            for kind in ("Compute", "Graphics"):
                question = getattr(nvml, f"nvmlDeviceGet{kind}RunningProcesses")
                for p in self._driver.ask(gpu, f"{kind} processes{name}", question, handle) or ():
                    key = (p.pid, part.index if part else None)
                    found.setdefault(
                        key, GpuProcess(p.pid, gpu.index, labels_of(gpu, part), p.usedGpuMemory)
                    )
        if gpu.slices or len(found) < 2:
            return list(found.values())
        busy = self._busy(gpu)
        return [
            replace(process, busy=busy.get(process.pid, 0.0 if busy else None))
            for process in found.values()
        ]

    def _busy(self, gpu: Gpu) -> dict[int, float]:
        """Return the mean share of each active process on a shared GPU since the last cycle."""
        since = self._utilized.get(gpu.index, 0)
        samples = (
            self._driver.ask(
                gpu,
                "process utilization",
                self._driver.nvml.nvmlDeviceGetProcessUtilization,
                gpu.handle,
                since,
            )
            or ()
        )
        shares: dict[int, list[float]] = {}
        for sample in samples:
            self._utilized[gpu.index] = max(self._utilized.get(gpu.index, 0), sample.timeStamp)
            if sample.timeStamp > since and sample.smUtil <= 100:
                shares.setdefault(sample.pid, []).append(sample.smUtil / 100)
        return {pid: sum(values) / len(values) for pid, values in shares.items()}

    def _xid_events(self) -> list[Event]:
        """Return XIDs since the last cycle. Polls without a timeout, so no thread is needed."""
        nvml, events = self._driver.nvml, []
        if self._events_of != self._driver.openings:
            self._event_set, self._events_of = self._register(), self._driver.openings
        for _ in range(EVENTS_AT_ONCE if self._event_set else 0):
            try:
                data = nvml.nvmlEventSetWait(self._event_set, 0)
            except nvml.NVMLError:
                break  # timeout: no more events (a lost GPU is detected by its metrics)
            if data.eventType == nvml.nvmlEventTypeXidCriticalError:
                events.append(self._xid_event(data))
        return events

    def _register(self) -> Any:
        """Return an event set on all GPUs that support XIDs (not all virtual GPUs do), or None."""
        nvml, registered = self._driver.nvml, 0
        try:
            event_set = nvml.nvmlEventSetCreate()
        except nvml.NVMLError:
            return None
        for gpu in self._driver.gpus:
            try:
                nvml.nvmlDeviceRegisterEvents(
                    gpu.handle, nvml.nvmlEventTypeXidCriticalError, event_set
                )
                registered += 1
            except (nvml.NVMLError, TypeError):
                continue
        return event_set if registered else None

    def _xid_event(self, data: Any) -> Event:
        try:
            index: int | None = self._driver.nvml.nvmlDeviceGetIndex(data.device)
        except self._driver.nvml.NVMLError:
            index = None  # the GPU has fallen off the bus
        code = int(data.eventData)
        detail: dict[str, Any] = {"code": code, **self._xids.explain(code)}
        slices = [s for gpu in self._driver.gpus if gpu.index == index for s in gpu.slices]
        mig = next((s.index for s in slices if s.instance == data.gpuInstanceId), None)
        return Event(
            "xid", self._now_ms(), index, detail if mig is None else {**detail, "mig": mig}
        )


def labels_of(gpu: Gpu, part: Slice | None = None) -> dict[str, str]:
    return (
        {"gpu": str(gpu.index)} if part is None else {"gpu": str(gpu.index), "mig": str(part.index)}
    )


def utilization(nvml: Any, handle: Any) -> Found:
    """Yield the shares of the last sampling period with a running kernel and memory traffic."""
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    yield "gpu.utilization", rates.gpu / 100, "ratio"
    yield "gpu.memory.utilization", rates.memory / 100, "ratio"


def memory(nvml: Any, handle: Any) -> Found:
    """Yield memory in use and total, excluding driver-reserved memory if known, as nvidia-smi."""
    try:
        info = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    except nvml.NVMLError:
        info = nvml.nvmlDeviceGetMemoryInfo(handle)
    yield "gpu.memory.used", info.used, "bytes"
    yield "gpu.memory.total", info.total, "bytes"


def power(nvml: Any, handle: Any) -> Found:
    yield "gpu.power", nvml.nvmlDeviceGetPowerUsage(handle) / 1000, "W"


def temperature(nvml: Any, handle: Any) -> Found:
    yield (
        "gpu.temperature",
        nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        "degC",
    )


def memory_temperature(nvml: Any, handle: Any) -> Found:
    for value in field_values(nvml, handle, nvml.NVML_FI_DEV_MEMORY_TEMP):
        yield "gpu.memory.temperature", value, "degC"


def pcie(nvml: Any, handle: Any) -> Found:
    """Yield the throughput over the 20 ms that each of the two calls takes."""
    for name, counter in (
        ("gpu.pcie.sent", nvml.NVML_PCIE_UTIL_TX_BYTES),
        ("gpu.pcie.received", nvml.NVML_PCIE_UTIL_RX_BYTES),
    ):
        yield name, nvml.nvmlDeviceGetPcieThroughput(handle, counter) * 1000, "bytes/s"


def remapped_rows(nvml: Any, handle: Any) -> Found:
    """Yield the memory rows that were replaced; `pending` waits for a reset, `failed` needs repair."""
    corrected, uncorrected, pending, failed = nvml.nvmlDeviceGetRemappedRows(handle)
    yield "gpu.rows.corrected", corrected, "count"
    yield "gpu.rows.uncorrected", uncorrected, "count"
    yield "gpu.rows.pending", float(bool(pending)), "ratio"
    yield "gpu.rows.failed", float(bool(failed)), "ratio"


def recovery(nvml: Any, handle: Any) -> Found:
    """Yield what the driver asks for: 0 nothing, 1 reset, 2 reboot, 3 and above as NVML lists them."""
    for value in field_values(nvml, handle, nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION):
        yield "gpu.recovery", value, "code"


def nvlink_errors(nvml: Any, handle: Any) -> int:
    """Return the NVLink errors of all links since the driver was loaded."""
    return sum(
        field_values(
            nvml,
            handle,
            nvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL,
            nvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL,
        )
    )


def field_values(nvml: Any, handle: Any, *fields: int | tuple[int, int]) -> list[int]:
    """Return the whole numbers of these fields; fields that are not supported are left out.

    A field may have a scope, such as the number of a link.

    Raises NVMLError "not supported" if none is.
    """
    found = [
        int(v.value.uiVal if v.valueType == nvml.NVML_VALUE_TYPE_UNSIGNED_INT else v.value.ullVal)
        for v in nvml.nvmlDeviceGetFieldValues(handle, list(fields))
        if v.nvmlReturn == nvml.NVML_SUCCESS
    ]
    if not found:
        raise nvml.NVMLError(nvml.NVML_ERROR_NOT_SUPPORTED)
    return found


def sm_clock(nvml: Any, handle: Any) -> Found:
    yield "gpu.clock.sm", nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM) * MHZ, "Hz"


def memory_clock(nvml: Any, handle: Any) -> Found:
    yield "gpu.clock.memory", nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM) * MHZ, "Hz"


METRICS: tuple[tuple[str, Callable[[Any, Any], Found]], ...] = (
    ("utilization", utilization),
    ("memory", memory),
    ("power", power),
    ("temperature", temperature),
    ("memory temperature", memory_temperature),
    ("sm clock", sm_clock),
    ("memory clock", memory_clock),
    ("remapped rows", remapped_rows),
    ("recovery", recovery),
)
