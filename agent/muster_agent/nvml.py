"""The NVIDIA driver, by its management library (NVML): opening it, losing it, and the list of its GPUs.

Reached through nvidia-ml-py (`pynvml`), which is imported only where libnvidia-ml.so.1 is: it takes 5 MB.
"""

from __future__ import annotations

import ctypes
import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

RETRY = 60.0  # seconds until a driver that is absent, lost or incomplete is looked for again
RELIST = 60.0  # seconds until MIG instances are listed again: an operator may have repartitioned
NO_LIBRARY = "no GPU: the NVIDIA driver is not installed (libnvidia-ml.so.1 not found)"


class DriverLost(Exception):
    """The driver as a whole answers no more: unloaded, upgraded under us, or never started."""


class GpuLost(Exception):
    """This one GPU answers no more; the others do."""


@dataclass
class Slice:
    """A MIG instance. `index` is nvidia-smi's "MIG dev" number, `profile` is like "1g.10gb"; memory in bytes."""

    index: int
    handle: Any
    uuid: str
    profile: str
    memory: int
    instance: int | None = None  # GPU instance id, by which XID events name it

    def as_json(self) -> dict[str, Any]:
        return {
            "index": self.index,
            "uuid": self.uuid,
            "profile": self.profile,
            "memory": self.memory,
        }


@dataclass
class Gpu:
    """A physical GPU. `unsupported` are the metrics that it said it has not: it is not asked at every look."""

    index: int
    handle: Any
    uuid: str
    model: str
    memory: int
    compute: str = ""  # compute capability, "9.0"
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
            "mig": [part.as_json() for part in self.slices],
        }


def load_pynvml() -> Any:
    """The pynvml module. Raises OSError where the driver's library is not installed."""
    ctypes.CDLL("libnvidia-ml.so.1")
    return importlib.import_module("pynvml")


class Driver:
    """Holds NVML open across looks, and looks for it again when it was not there or went away."""

    def __init__(
        self, load: Callable[[], Any] = load_pynvml, clock: Callable[[], float] = time.monotonic
    ):
        self._load, self._clock = load, clock
        self._retry_at = self._relist_at = 0.0
        self.nvml: Any = None
        self.gpus: list[Gpu] = []
        self.version = self.cuda = ""  # of the driver, and the newest CUDA that it runs
        self.note = ""
        self.openings = 0  # grows whenever handles became new: event sets must be made again

    def ready(self) -> bool:
        """Whether the driver is open. Opens it when its time has come; the reason why not is `note`, in words."""
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
        """Lets the driver go, so that it can be unloaded or upgraded, and says why."""
        if self.nvml is not None:
            try:
                self.nvml.nvmlShutdown()
            except self.nvml.NVMLError:
                pass  # it is gone already, which is why we are here
        self.nvml, self.gpus, self.note = None, [], why
        self._retry_at = self._clock() + retry_after

    def lose(self, gpu: Gpu) -> None:
        gpu.is_lost, self._retry_at = True, self._clock() + RETRY
        self.note = f"GPU {gpu.index} does not answer: it is lost, or needs a reset"

    def ask(self, gpu: Gpu, metric: str, question: Callable[..., Any], *args: Any) -> Any:
        """The driver's answer, or None where this GPU has none. Raises GpuLost, DriverLost.

        "Not supported" is remembered under `metric`; what else fails (no permission, a timeout) is asked again.
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
            self.version, self.cuda = (
                text(self.nvml.nvmlSystemGetDriverVersion()),
                cuda_version(self.nvml),
            )
        except self.nvml.NVMLError as error:
            self.close(f"no GPU: {why(self.nvml, error)}")
            return
        self.gpus = [self._gpu(index) for index in range(count)]
        if not self.gpus:
            self.note = "no GPU: the NVIDIA driver is loaded and lists none"

    def _gpu(self, index: int) -> Gpu:
        """The GPU at this index; one that cannot even be opened is listed as lost: it must not vanish in silence."""
        nvml = self.nvml
        try:
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            return Gpu(
                index,
                handle,
                text(nvml.nvmlDeviceGetUUID(handle)),
                text(nvml.nvmlDeviceGetName(handle)),
                int(nvml.nvmlDeviceGetMemoryInfo(handle).total),
                compute_capability(nvml, handle),
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
        try:
            if nvml.nvmlDeviceGetMigMode(gpu.handle)[0] != nvml.NVML_DEVICE_MIG_ENABLE:
                return
            places = nvml.nvmlDeviceGetMaxMigDeviceCount(gpu.handle)
        except (nvml.NVMLError, AttributeError):
            return
        for index in range(places):
            try:
                yield self._slice(
                    index, nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu.handle, index)
                )
            except nvml.NVMLError:
                continue  # an empty place

    def _slice(self, index: int, handle: Any) -> Slice:
        nvml = self.nvml
        profile = text(nvml.nvmlDeviceGetName(handle)).rpartition("MIG ")[2]
        return Slice(
            index,
            handle,
            text(nvml.nvmlDeviceGetUUID(handle)),
            profile,
            int(nvml.nvmlDeviceGetMemoryInfo(handle).total),
            nvml.nvmlDeviceGetGpuInstanceId(handle),
        )


def cuda_version(nvml: Any) -> str:
    """ "12.8"; empty where the driver does not say."""
    try:
        number = nvml.nvmlSystemGetCudaDriverVersion_v2()
    except (nvml.NVMLError, AttributeError):
        return ""
    return f"{number // 1000}.{number % 1000 // 10}"


def compute_capability(nvml: Any, handle: Any) -> str:
    """ "9.0"; empty where the GPU does not say."""
    try:
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    except (nvml.NVMLError, AttributeError):
        return ""
    return f"{major}.{minor}"


def why(nvml: Any, error: Any) -> str:
    """The usual reasons, in words that say what to do."""
    words = {
        nvml.NVML_ERROR_DRIVER_NOT_LOADED: "the NVIDIA driver is installed and its kernel module is not loaded",
        nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: "the NVIDIA driver was upgraded and its kernel module is still the old one: reboot, or reload it",
        nvml.NVML_ERROR_NO_PERMISSION: "this user may not use the NVIDIA driver (/dev/nvidiactl)",
    }
    return words.get(error.value, f"the NVIDIA driver says: {error}")


def text(value: str | bytes) -> str:
    """Older versions of pynvml answer bytes."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value
