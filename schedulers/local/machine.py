"""Describe this machine as a node: cores, memory and GPUs."""

from __future__ import annotations

import os
from pathlib import Path

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
        driver, cuda = (
            pynvml.nvmlSystemGetDriverVersion(),
            pynvml.nvmlSystemGetCudaDriverVersion_v2(),
        )
        return (
            [_gpu(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())],
            "",
            driver,
            f"{cuda // 1000}.{cuda % 1000 // 10}",
        )
    finally:
        pynvml.nvmlShutdown()


def _gpu(nvml, index: int) -> GpuFacts:  # type: ignore[no-untyped-def]
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    model = nvml.nvmlDeviceGetName(handle)
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    return GpuFacts(
        index=index,
        uuid=nvml.nvmlDeviceGetUUID(handle),
        model=model,
        type=type_of(model),
        memory=int(nvml.nvmlDeviceGetMemoryInfo(handle).total),
        compute=f"{major}.{minor}",
    )
