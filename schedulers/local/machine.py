"""Describe this machine as a node: cores, memory and GPUs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from portal.core.messages import Message
from schedulers.contract import GpuFacts, NodeFacts
from schedulers.gpu_types import type_of
from schedulers.images.config import arch_name


def machine(reserve_cpus: float = 0, reserve_memory: int = 0) -> NodeFacts:
    """Return the resources of this machine minus the reserved ones."""
    gpus, note, driver, cuda = _gpus()
    return NodeFacts(
        name=os.uname().nodename,
        cpus=max(_cpus() - reserve_cpus, 0),
        memory=max(_memory() - reserve_memory, 0),
        gpus=gpus,
        note=note,
        labels={"arch": os.uname().machine},
        arch=arch_name(os.uname().machine),
        driver=driver,
        cuda=cuda,
    )


def _cpus() -> float:
    """Return the usable cores: CPU affinity and cgroup quota."""
    cores = float(len(os.sched_getaffinity(0)))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else min(cores, int(quota) / int(period))


def _memory() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        return total
    return total if text == "max" else min(total, int(text))


def _gpus() -> tuple[list[GpuFacts], str, str, str]:
    """Return the GPUs with driver and CUDA version from NVML, or the reason why there are none."""
    try:
        import pynvml
    except ImportError:
        return [], Message("No GPU: the NVML library for Python is not installed."), "", ""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return [], Message("No GPU: {why}.", why=str(error).lower()), "", ""
    try:
        count = pynvml.nvmlDeviceGetCount()
        found = [_gpu(pynvml, index) for index in range(count)]
        gpus = [gpu for gpu in found if isinstance(gpu, GpuFacts)]
        notes = [fault for fault in found if isinstance(fault, Message)]
        cuda = _optional(pynvml, "nvmlSystemGetCudaDriverVersion_v2")
        return (
            gpus,
            Message.joined("; ", notes),
            _optional(pynvml, "nvmlSystemGetDriverVersion") or "",
            f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else "",
        )
    except pynvml.NVMLError as error:
        return [], Message("No GPU: {why}.", why=str(error).lower()), "", ""
    finally:
        pynvml.nvmlShutdown()


def _gpu(nvml, index: int) -> GpuFacts | Message:  # type: ignore[no-untyped-def]
    """Return a GPU, or why it cannot be used: only its handle and UUID are required."""
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
        uuid = nvml.nvmlDeviceGetUUID(handle)
    except nvml.NVMLError as error:
        return Message("GPU {index} cannot be opened: {why}", index=index, why=str(error).lower())
    model = _optional(nvml, "nvmlDeviceGetName", handle) or "GPU"
    compute = _optional(nvml, "nvmlDeviceGetCudaComputeCapability", handle)
    memory = _optional(nvml, "nvmlDeviceGetMemoryInfo", handle)
    return GpuFacts(
        index=index,
        uuid=uuid,
        model=model,
        type=type_of(model),
        memory=int(memory.total) if memory else 0,
        compute=".".join(map(str, compute or ())),
    )


def _optional(nvml, function: str, *args: object) -> Any:  # type: ignore[no-untyped-def]
    """Return what an NVML function returns; None if the driver or the GPU does not support it."""
    try:
        return getattr(nvml, function)(*args)
    except (nvml.NVMLError, AttributeError):
        return None
