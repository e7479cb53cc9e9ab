"""NVIDIA driver access through NVML: opening, losing and reopening it, and its list of GPUs.

nvidia-ml-py (`pynvml`) takes 5 MB, so it is imported only if libnvidia-ml.so.1 exists.
"""

from __future__ import annotations

import ctypes
import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

RETRY = 60.0  # seconds until a missing or lost driver is tried again
RELIST = 60.0  # seconds until MIG instances are listed again, in case they were changed
NO_LIBRARY = "no GPU: the NVIDIA driver is not installed (libnvidia-ml.so.1 not found)"


class DriverLost(Exception):
    """The driver is gone: unloaded, upgraded or never started."""


class GpuLost(Exception):
    """One GPU is lost; others still respond."""


@dataclass
class Slice:
    """A MIG instance.

    `index` is nvidia-smi's "MIG dev" number, `profile` is such as "1g.10gb", memory is in bytes, 0 if
    unknown.
    """

    index: int
    handle: Any
    uuid: str
    profile: str
    memory: int
    instance: int | None = None  # GPU instance id used in XID events
    start: int | None = None  # first memory slice

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "uuid": self.uuid,
            "profile": self.profile,
            "memory": self.memory,
            "start": self.start,
        }


@dataclass
class Gpu:
    """A physical GPU. `unsupported` lists metrics that it does not support and that are skipped.

    `memory` is 0 if the driver does not report it, as for memory that is shared with the machine.
    """

    index: int
    handle: Any
    uuid: str
    model: str
    memory: int
    compute: str = ""  # compute capability, "9.0"
    serial: str = ""
    pci: str = ""  # bus id
    numa: int | None = None  # NUMA node
    links: int | None = None  # active NVLinks; None without NVLink
    is_mig: bool = False  # MIG is on
    slices: list[Slice] = field(default_factory=list)
    unsupported: set[str] = field(default_factory=set)
    is_lost: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "uuid": self.uuid,
            "model": self.model,
            "memory": self.memory,
            "compute": self.compute,
            "serial": self.serial,
            "pci": self.pci,
            "numa": self.numa,
            "links": self.links,
            "is_mig": self.is_mig,
            "is_lost": self.is_lost,
            "mig": [part.as_json() for part in self.slices],
        }


def load_pynvml() -> Any:
    """Return the pynvml module. Raises OSError if the driver's library is not installed."""
    ctypes.CDLL("libnvidia-ml.so.1")
    return importlib.import_module("pynvml")


class Driver:
    """Keep NVML open between cycles, and reopen it after it was missing or lost."""

    def __init__(
        self, load: Callable[[], Any] = load_pynvml, clock: Callable[[], float] = time.monotonic
    ):
        self._load, self._clock = load, clock
        self._retry_at = self._relist_at = 0.0
        self.nvml: Any = None
        self.gpus: list[Gpu] = []
        self.version = self.cuda = (
            ""  # driver version, and the latest CUDA version that it supports
        )
        self.note = ""
        self.openings = 0  # incremented when handles change and event sets must be recreated

    def ready(self) -> bool:
        """Open the driver if due and return whether it is open; otherwise `note` has the reason."""
        if (
            self.nvml is not None
            and any(gpu.is_lost for gpu in self.gpus)
            and self._clock() >= self._retry_at
        ):
            self.close(self.note, retry_after=0)
        if self.nvml is None and self._clock() >= self._retry_at:
            self._open()
        if self.nvml is not None and self._clock() >= self._relist_at:
            self._list_slices()
        return self.nvml is not None

    def close(self, why: str, retry_after: float = RETRY) -> None:
        """Release the driver, so that it can be unloaded or upgraded; `why` becomes the note."""
        if self.nvml is not None:
            try:
                self.nvml.nvmlShutdown()
            except self.nvml.NVMLError:
                pass  # already gone
        self.nvml, self.gpus, self.note = None, [], why
        self._retry_at = self._clock() + retry_after

    @contextmanager
    def released(self, why: str) -> Iterator[Any]:
        """Release all handles, and yield NVML for a change that no other client may disturb.

        Raises OSError, ImportError or NVMLError if there is no driver.
        """
        self.close(why, retry_after=0)
        nvml = self._load()
        nvml.nvmlInit()
        try:
            yield nvml
        finally:
            nvml.nvmlShutdown()

    def lose(self, gpu: Gpu) -> None:
        gpu.is_lost, self._retry_at = True, self._clock() + RETRY
        self.note = f"GPU {gpu.index} does not answer: it is lost, or needs a reset"

    def ask(self, gpu: Gpu, metric: str, question: Callable[..., Any], *args: Any) -> Any:
        """Return the driver's answer, or None. Raises GpuLost, DriverLost.

        "Not supported" is remembered for `metric`; other failures (permissions, timeouts) are
        retried.
        """
        if metric in gpu.unsupported:
            return None
        try:
            return question(*args)
        except (self.nvml.NVMLError, AttributeError, UnicodeDecodeError) as error:
            self._judge(gpu, metric, getattr(error, "value", None), error)
            return None

    def _judge(self, gpu: Gpu, metric: str, code: int | None, error: Exception) -> None:
        nvml = self.nvml
        if code is None or code in (
            nvml.NVML_ERROR_NOT_SUPPORTED,
            nvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        ):
            gpu.unsupported.add(metric)
        elif code in (nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED):
            raise GpuLost(str(error)) from error
        elif code in (
            nvml.NVML_ERROR_UNINITIALIZED,
            nvml.NVML_ERROR_DRIVER_NOT_LOADED,
            nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
        ):
            raise DriverLost(str(error)) from error

    def _open(self) -> None:
        self._retry_at = self._clock() + RETRY
        try:
            nvml = self._load()
        except (OSError, ImportError) as error:
            self.note = NO_LIBRARY if isinstance(error, OSError) else f"no GPU: {error}"
            return
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            self.note = f"no GPU: {why(nvml, error)}"
            return
        self.nvml, self.note, self._relist_at = nvml, "", 0.0
        self.openings += 1
        self._list_gpus()

    def _list_gpus(self) -> None:
        try:
            count = self.nvml.nvmlDeviceGetCount()
            self.version = text(answer(self.nvml, "nvmlSystemGetDriverVersion") or "")
            self.cuda = cuda_version(self.nvml)
        except self.nvml.NVMLError as error:
            self.close(f"no GPU: {why(self.nvml, error)}")
            return
        self.gpus = [self._gpu(index) for index in range(count)]
        if not self.gpus:
            self.note = "no GPU: the NVIDIA driver is loaded and lists none"

    def _gpu(self, index: int) -> Gpu:
        """Return the GPU at this index; one that cannot be opened is listed as lost.

        Only its handle and UUID are required: no optional reading hides a device.
        """
        nvml = self.nvml
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            return Gpu(
                index,
                handle,
                text(nvml.nvmlDeviceGetUUID(handle)),
                text(answer(nvml, "nvmlDeviceGetName", handle) or ""),
                total_memory(nvml, handle),
                compute_capability(nvml, handle),
                serial=text(answer(nvml, "nvmlDeviceGetSerial", handle) or ""),
                pci=pci_address(nvml, handle),
                numa=answer(nvml, "nvmlDeviceGetNumaNodeId", handle),
                links=active_links(nvml, handle),
            )
        except nvml.NVMLError as error:
            gpu = Gpu(index, None, "", "", 0)
            self.lose(gpu)
            self.note = f"GPU {index} cannot be opened: {error}"
            return gpu

    def _list_slices(self) -> None:
        self._relist_at = self._clock() + RELIST
        for gpu in self.gpus:
            if not gpu.is_lost:
                gpu.unsupported.clear()
                gpu.slices = list(self._slices(gpu))

    def _slices(self, gpu: Gpu) -> Iterator[Slice]:
        nvml = self.nvml
        gpu.is_mig = False
        try:
            if nvml.nvmlDeviceGetMigMode(gpu.handle)[0] != nvml.NVML_DEVICE_MIG_ENABLE:
                return
            gpu.is_mig = True
            places = nvml.nvmlDeviceGetMaxMigDeviceCount(gpu.handle)
        except (nvml.NVMLError, AttributeError):
            return
        for index in range(places):
            try:
                yield self._slice(
                    gpu, index, nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu.handle, index)
                )
            except nvml.NVMLError:
                continue  # an empty slot

    def _slice(self, gpu: Gpu, index: int, handle: Any) -> Slice:
        nvml = self.nvml
        instance = answer(nvml, "nvmlDeviceGetGpuInstanceId", handle)
        profile = text(answer(nvml, "nvmlDeviceGetName", handle) or "").rpartition("MIG ")[2]
        return Slice(
            index,
            handle,
            text(nvml.nvmlDeviceGetUUID(handle)),
            profile,
            total_memory(nvml, handle),
            instance,
            None if instance is None else start_of(nvml, gpu.handle, instance),
        )


def cuda_version(nvml: Any) -> str:
    """Return the CUDA version, such as "12.8", or an empty string."""
    try:
        number = nvml.nvmlSystemGetCudaDriverVersion_v2()
    except (nvml.NVMLError, AttributeError):
        return ""
    return f"{number // 1000}.{number % 1000 // 10}"


def compute_capability(nvml: Any, handle: Any) -> str:
    """Return the compute capability, such as "9.0", or an empty string."""
    try:
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    except (nvml.NVMLError, AttributeError):
        return ""
    return f"{major}.{minor}"


def answer(nvml: Any, function: str, *args: Any) -> Any:
    """Return what an NVML function returns; None if it is missing or fails."""
    try:
        return getattr(nvml, function)(*args)
    except (nvml.NVMLError, AttributeError):
        return None


def total_memory(nvml: Any, handle: Any) -> int:
    """Return the memory in bytes; 0 if the driver does not report it."""
    found = answer(nvml, "nvmlDeviceGetMemoryInfo", handle)
    return int(found.total) if found else 0


def pci_address(nvml: Any, handle: Any) -> str:
    """Return the bus id, such as "00000000:4E:00.0", or an empty string."""
    found = answer(nvml, "nvmlDeviceGetPciInfo", handle)
    return text(found.busId) if found else ""


def active_links(nvml: Any, handle: Any) -> int | None:
    """Return how many NVLinks are active; None for a GPU without any."""
    states = [
        answer(nvml, "nvmlDeviceGetNvLinkState", handle, link)
        for link in range(nvml.NVML_NVLINK_MAX_LINKS)
    ]
    known = [state for state in states if state is not None]
    return sum(state == nvml.NVML_FEATURE_ENABLED for state in known) if known else None


def start_of(nvml: Any, handle: Any, instance: int) -> int | None:
    """Return the first memory slice of a GPU instance; None without permission to ask."""
    found = answer(nvml, "nvmlDeviceGetGpuInstanceById", handle, instance)
    info = answer(nvml, "nvmlGpuInstanceGetInfo", found) if found is not None else None
    return int(info.placement.start) if info is not None else None


def why(nvml: Any, error: Any) -> str:
    """Explain a common NVML error and what to do about it."""
    meanings = {
        nvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA driver is installed and its kernel module is not loaded",
        nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: (
            "the NVIDIA driver was upgraded and its kernel module is still the old one: reboot, "
            "or reload it"
        ),
        nvml.NVML_ERROR_NO_PERMISSION: "this user may not use the NVIDIA driver (/dev/nvidiactl)",
    }
    return meanings.get(error.value, f"the NVIDIA driver says: {error}")


def text(value: str | bytes) -> str:
    """Decode an answer; older pynvml versions return bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value
