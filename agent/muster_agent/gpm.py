"""SM, tensor, memory, PCIe and NVLink activity through NVML's GPM (Hopper and newer).

Unlike `gpu.utilization`, which is the time with any kernel, these say how much of the GPU works. They
need two samples; the earlier one is that of the last cycle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

MIB = 1 << 20
SHORTEST = 0.1  # seconds between two samples, as NVML demands
# Constant of NVML → metric, unit, factor. Percentages are of the peak.
METRICS = {
    "NVML_GPM_METRIC_SM_UTIL": ("gpu.sm.active", "ratio", 0.01),
    "NVML_GPM_METRIC_SM_OCCUPANCY": ("gpu.sm.occupancy", "ratio", 0.01),
    "NVML_GPM_METRIC_ANY_TENSOR_UTIL": ("gpu.tensor.active", "ratio", 0.01),
    "NVML_GPM_METRIC_DRAM_BW_UTIL": ("gpu.memory.bandwidth", "ratio", 0.01),
    "NVML_GPM_METRIC_PCIE_TX_PER_SEC": ("gpu.pcie.sent", "bytes/s", MIB),
    "NVML_GPM_METRIC_PCIE_RX_PER_SEC": ("gpu.pcie.received", "bytes/s", MIB),
    "NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC": ("gpu.nvlink.sent", "bytes/s", MIB),
    "NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC": ("gpu.nvlink.received", "bytes/s", MIB),
}


class Activity:
    """Keep the last sample of each GPU and MIG instance."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._last: dict[str, tuple[float, Any]] = {}

    def forget(self) -> None:
        """Drop all samples, because the driver was closed and they went with it."""
        self._last.clear()

    def read(
        self, nvml: Any, device: Any, uuid: str, instance: int | None = None
    ) -> list[tuple[str, float, str]]:
        """Return (metric, value, unit) since the last call; nothing the first time.

        `instance` is the id of a MIG instance on the device. Raises NVMLError.
        """
        if not uuid or not nvml.nvmlGpmQueryDeviceSupport(device).isSupportedDevice:
            raise nvml.NVMLError(nvml.NVML_ERROR_NOT_SUPPORTED)
        now, before = self._clock(), self._last.get(uuid)
        if before and now - before[0] < SHORTEST:
            return []
        sample = nvml.nvmlGpmSampleAlloc()
        try:
            if instance is None:
                nvml.nvmlGpmSampleGet(device, sample)
            else:
                nvml.nvmlGpmMigSampleGet(device, instance, sample)
            found = _metrics(nvml, before[1], sample) if before else []
        except nvml.NVMLError:
            nvml.nvmlGpmSampleFree(sample)
            raise
        self._last[uuid] = (now, sample)
        if before:
            nvml.nvmlGpmSampleFree(before[1])
        return found


def _metrics(nvml: Any, first: Any, second: Any) -> list[tuple[str, float, str]]:
    asked = nvml.c_nvmlGpmMetricsGet_t()
    asked.version = nvml.NVML_GPM_METRICS_GET_VERSION
    asked.numMetrics, asked.sample1, asked.sample2 = len(METRICS), first, second
    for place, constant in enumerate(METRICS):
        asked.metrics[place].metricId = getattr(nvml, constant)
    nvml.nvmlGpmMetricsGet(asked)
    return [
        (name, asked.metrics[place].value * factor, unit)
        for place, (name, unit, factor) in enumerate(METRICS.values())
        if asked.metrics[place].nvmlReturn == nvml.NVML_SUCCESS
    ]
