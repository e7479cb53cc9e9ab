"""A test double of nvidia-ml-py's `pynvml`, because the machines that run this suite have no GPU.

Constants and error classes are those of the real module; the values imitate an H100. A metric set to
an NVML error code raises that error, like the real library.
"""

# ruff: noqa: N802 - the names are NVML's
from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml

GIB = 1 << 30
H100 = {
    "utilization": SimpleNamespace(gpu=93, memory=41),
    "used": 40 * GIB,
    "power": 512_345,
    "temperature": 61,
    "sm": 1980,
    "mem": 2619,
    "ecc": {(0, 0): 3, (1, 0): 0, (0, 1): 17, (1, 1): 1},
    "reasons": 0x1,
    "compute": (9, 0),
    "rows": (2, 1, 0, 0),
    "fields": {pynvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION: 0},
    "gpm": {2: 87.0, 3: 41.0, 5: 63.0, 10: 55.0, 20: 120.0, 21: 80.0, 60: 900.0, 61: 910.0},
}


@dataclass
class Device:
    """One GPU, or one MIG instance. `events` are the XIDs not read yet."""

    uuid: str
    name: str = "NVIDIA H100 80GB HBM3"
    memory: int = 80 * GIB
    metrics: dict[str, Any] = field(default_factory=lambda: dict(H100))
    processes: list[tuple[int, int | None]] = field(default_factory=list)
    shares: list[tuple[int, int, int]] = field(default_factory=list)  # pid, timestamp µs, percent
    slices: list[Device | None] = field(default_factory=list)
    instance: int = 0
    start: int = 0
    failure: int = 0

    def get(self, metric: str) -> Any:
        value = self.metrics.get(metric, pynvml.NVML_ERROR_NOT_SUPPORTED)
        if self.failure or metric not in self.metrics:
            raise pynvml.NVMLError(self.failure or value)
        return value


class Nvml:
    """The module. `driver` is an error code that every call returns; 0: healthy."""

    def __init__(self, *devices: Device):
        self.devices, self.driver = list(devices), 0
        self.events: deque[SimpleNamespace] = deque()
        self.asked: list[str] = []
        self.is_open = False

    def __getattr__(self, name: str) -> Any:
        return getattr(pynvml, name)  # NVML_ERROR_*, NVMLError, NVML_CLOCK_SM: the real ones

    def _check(self, name: str = "") -> None:
        self.asked.append(name)
        if self.driver:
            raise pynvml.NVMLError(self.driver)

    def raise_xid(self, index: int, code: int, instance: int = 0xFFFFFFFF) -> None:
        self.events.append(
            SimpleNamespace(
                device=self.devices[index],
                eventData=code,
                gpuInstanceId=instance,
                eventType=pynvml.nvmlEventTypeXidCriticalError,
            )
        )

    def nvmlInit(self) -> None:
        self._check("init")
        self.is_open = True

    def nvmlShutdown(self) -> None:
        self.is_open = False

    def nvmlSystemGetDriverVersion(self) -> str:
        return "570.86.15"

    def nvmlSystemGetCudaDriverVersion_v2(self) -> int:
        return 12080

    def nvmlDeviceGetCudaComputeCapability(self, handle: Device) -> tuple[int, int]:
        return handle.get("compute")

    def nvmlDeviceGetCount(self) -> int:
        self._check()
        return len(self.devices)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> Device:
        if self.devices[index].failure:
            raise pynvml.NVMLError(self.devices[index].failure)
        return self.devices[index]

    def nvmlDeviceGetIndex(self, handle: Device) -> int:
        return self.devices.index(handle)

    def nvmlDeviceGetUUID(self, handle: Device) -> str:
        return handle.uuid

    def nvmlDeviceGetName(self, handle: Device) -> str:
        return handle.name

    def nvmlDeviceGetFieldValues(self, handle: Device, fields: list[int]) -> list[Any]:
        known = handle.get("fields")
        return [
            SimpleNamespace(
                nvmlReturn=pynvml.NVML_SUCCESS if one in known else pynvml.NVML_ERROR_NOT_SUPPORTED,
                valueType=pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG,
                value=SimpleNamespace(ullVal=known.get(one, 0)),
            )
            for one in fields
        ]

    def nvmlDeviceGetMemoryInfo(
        self, handle: Device, version: int | None = None
    ) -> SimpleNamespace:
        self._check("memory")
        reserved = 0 if version else GIB
        return SimpleNamespace(total=handle.memory, used=handle.get("used") + reserved)

    def nvmlDeviceGetUtilizationRates(self, handle: Device) -> Any:
        self._check("utilization")
        return handle.get("utilization")

    def nvmlDeviceGetPowerUsage(self, handle: Device) -> Any:
        self._check("power")
        return handle.get("power")

    def nvmlDeviceGetTemperature(self, handle: Device, sensor: int) -> Any:
        return handle.get("temperature")

    def nvmlDeviceGetPcieThroughput(self, handle: Device, counter: int) -> int:
        return int(handle.get("pcie")[counter])

    def nvmlDeviceGetClockInfo(self, handle: Device, kind: int) -> Any:
        return handle.get("sm" if kind == pynvml.NVML_CLOCK_SM else "mem")

    def nvmlDeviceGetTotalEccErrors(self, handle: Device, kind: int, counter: int) -> int:
        return int(handle.get("ecc")[kind, counter])

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle: Device) -> Any:
        return handle.get("reasons")

    def nvmlDeviceGetComputeRunningProcesses(self, handle: Device) -> list[SimpleNamespace]:
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in handle.processes]

    def nvmlDeviceGetGraphicsRunningProcesses(self, handle: Device) -> list[SimpleNamespace]:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    def nvmlDeviceGetProcessUtilization(self, handle: Device, since: int) -> list[SimpleNamespace]:
        found = [
            SimpleNamespace(pid=p, timeStamp=t, smUtil=u) for p, t, u in handle.shares if t > since
        ]
        if not found:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return found

    def nvmlDeviceGetMigMode(self, handle: Device) -> list[int]:
        return [int(bool(handle.slices)), 0]

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: Device) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: Device, index: int) -> Device:
        found = handle.slices[index] if index < len(handle.slices) else None
        if found is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return found

    def nvmlDeviceGetGpuInstanceId(self, handle: Device) -> int:
        return handle.instance

    def nvmlDeviceGetSerial(self, handle: Device) -> str:
        return "1650" + handle.uuid[-4:]

    def nvmlDeviceGetPciInfo(self, handle: Device) -> SimpleNamespace:
        return SimpleNamespace(busId=f"00000000:{self.devices.index(handle) + 16:02X}:00.0")

    def nvmlDeviceGetNumaNodeId(self, handle: Device) -> int:
        return int(self.devices.index(handle) >= 4)

    def nvmlDeviceGetNvLinkState(self, handle: Device, link: int) -> int:
        if link >= 18:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return int(pynvml.NVML_FEATURE_ENABLED)

    def nvmlDeviceGetGpuInstanceById(self, handle: Device, instance: int) -> Device:
        return next(one for one in handle.slices if one and one.instance == instance)

    def nvmlGpuInstanceGetInfo(self, handle: Device) -> SimpleNamespace:
        return SimpleNamespace(placement=SimpleNamespace(start=handle.start, size=1))

    def nvmlDeviceGetRemappedRows(self, handle: Device) -> Any:
        return handle.get("rows")

    def nvmlGpmQueryDeviceSupport(self, handle: Device) -> SimpleNamespace:
        return SimpleNamespace(isSupportedDevice="gpm" in handle.metrics)

    def nvmlGpmSampleAlloc(self) -> SimpleNamespace:
        return SimpleNamespace(of=None)

    def nvmlGpmSampleFree(self, sample: SimpleNamespace) -> None:
        assert sample.of != "freed"
        sample.of = "freed"

    def nvmlGpmSampleGet(self, handle: Device, sample: SimpleNamespace) -> None:
        sample.of = handle.get("gpm")

    def nvmlGpmMigSampleGet(self, handle: Device, instance: int, sample: SimpleNamespace) -> None:
        sample.of = self.nvmlDeviceGetGpuInstanceById(handle, instance).get("gpm")

    def c_nvmlGpmMetricsGet_t(self) -> SimpleNamespace:
        empty = [SimpleNamespace(metricId=0, value=0.0, nvmlReturn=0) for _ in range(20)]
        return SimpleNamespace(metrics=empty)

    def nvmlGpmMetricsGet(self, asked: SimpleNamespace) -> None:
        for one in asked.metrics[: asked.numMetrics]:
            found = asked.sample2.of.get(one.metricId)
            one.nvmlReturn = 0 if found is not None else pynvml.NVML_ERROR_NOT_SUPPORTED
            one.value = found or 0.0

    def nvmlEventSetCreate(self) -> object:
        return object()

    def nvmlDeviceRegisterEvents(self, handle: Device, kinds: int, event_set: object) -> None:
        self._check("register")

    def nvmlEventSetWait(self, event_set: object, timeout_ms: int) -> SimpleNamespace:
        assert timeout_ms == 0, "the loop must never wait here"
        if self.driver or not self.events:
            raise pynvml.NVMLError(self.driver or pynvml.NVML_ERROR_TIMEOUT)
        return self.events.popleft()


class Clock:
    """A monotonic clock that a test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
