"""A test double of NVML that partitions GPUs as hardware does, because no GPU is at hand.

Placements, maximum counts and return codes follow NVIDIA's tables (schedulers/mig.py) and nvml.h.
"""

# ruff: noqa: N802 - the names are NVML's
from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml

from schedulers import mig
from tests.agent.nvml_double import GIB, Device, Nvml


@dataclass
class GpuInstance:
    """A GPU instance; `parts` are its compute instances."""

    device: Device
    profile: mig.Profile
    start: int
    id: int
    parts: list[Device] = field(default_factory=list)
    is_in_use: bool = False


class MigNvml(Nvml):
    """`fail(function, code, after=n)`: the n-th and later calls of a function raise this error.

    `calls` are the changes, in order.
    """

    c_nvmlGpuInstance_t = ctypes.py_object  # noqa: N815
    c_nvmlComputeInstance_t = ctypes.py_object  # noqa: N815

    def __init__(self, *devices: Device):
        super().__init__(*devices)
        self.is_mig: dict[str, bool] = {}
        self.instances: dict[str, list[GpuInstance]] = {device.uuid: [] for device in devices}
        self.calls: list[str] = []
        self.lost: set[str] = set()
        self.activation = pynvml.NVML_SUCCESS
        self._errors: dict[str, tuple[int, int, int]] = {}
        self._seen: Counter[str] = Counter()
        self._last = 0
        self.on_call: Callable[[str], None] = lambda call: None

    def fail(self, function: str, code: int, after: int = 1, times: int = 1000) -> None:
        self._errors[function] = (code, after, times)
        self._seen[function] = 0

    def layout(self, uuid: str) -> list[tuple[int, str]] | None:
        if not self.is_mig.get(uuid):
            return None
        return sorted((one.start, one.profile.name) for one in self.instances[uuid])

    def _enter(self, function: str, device: Device | None = None) -> None:
        self._seen[function] += 1
        code, after, times = self._errors.get(function, (0, 0, 0))
        if code and after <= self._seen[function] < after + times:
            raise pynvml.NVMLError(code)
        if device is not None and device.uuid in self.lost:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)

    def _changes(self, call: str) -> None:
        self.on_call(call)
        self.calls.append(call)

    @staticmethod
    def _profiles(device: Device) -> list[mig.Profile]:
        model = mig.model_of(device.name, device.memory)
        assert model is not None
        return list(reversed(model.profiles))

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> Device:
        found = next((one for one in self.devices if one.uuid == uuid), None)
        if found is None or uuid in self.lost:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return found

    def nvmlDeviceGetMigMode(self, handle: Device) -> list[int]:
        self._enter("GetMigMode", handle)
        return [int(self.is_mig.get(handle.uuid, False))] * 2

    def nvmlDeviceSetMigMode(self, handle: Device, mode: int) -> int:
        self._enter("SetMigMode", handle)
        self._changes(f"mode {mode}")
        if self.instances[handle.uuid] and not mode:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_IN_USE)
        if self.activation == pynvml.NVML_SUCCESS:
            self.is_mig[handle.uuid] = bool(mode)
        return self.activation

    def nvmlDeviceGetGpuInstanceProfileInfo(self, handle: Device, number: int) -> Any:
        self._enter("ProfileInfo", handle)
        profiles = self._profiles(handle)
        if number == 2:  # the driver has holes in the numbers
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        at = number - (number > 2)
        if at >= len(profiles):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        one = profiles[at]
        return SimpleNamespace(id=100 + at, sliceCount=one.compute, name=f"MIG {one.name}".encode())

    def _by_id(self, handle: Device, profile_id: int) -> mig.Profile:
        return self._profiles(handle)[profile_id - 100]

    def nvmlDeviceGetGpuInstancePossiblePlacements(
        self, handle: Device, profile_id: int, found: Any, count: Any
    ) -> None:
        self._enter("Placements", handle)
        profile = self._by_id(handle, profile_id)
        for at, start in enumerate(profile.starts):
            found[at].start, found[at].size = start, profile.size
        count._obj.value = len(profile.starts)

    def nvmlDeviceGetGpuInstances(
        self, handle: Device, profile_id: int, rows: Any, count: Any
    ) -> None:
        self._enter("GetGpuInstances", handle)
        profile = self._by_id(handle, profile_id)
        found = [one for one in self.instances[handle.uuid] if one.profile == profile]
        for at, one in enumerate(found):
            rows[at] = one
        count._obj.value = len(found)

    def nvmlGpuInstanceGetInfo(self, handle: GpuInstance) -> Any:
        return SimpleNamespace(
            id=handle.id, placement=SimpleNamespace(start=handle.start, size=handle.profile.size)
        )

    def nvmlDeviceCreateGpuInstanceWithPlacement(
        self, handle: Device, profile_id: int, placement: Any
    ) -> GpuInstance:
        self._enter("Create", handle)
        profile, start = self._by_id(handle, profile_id), placement._obj.start
        self._changes(f"+{profile.name}@{start}")
        model = mig.model_of(handle.name, handle.memory)
        assert model is not None and self.is_mig.get(handle.uuid)
        there = [mig.Instance(one.start, one.profile.name) for one in self.instances[handle.uuid]]
        # 3g after smaller ones fails on hardware, whatever the slices
        is_late = profile.compute == 3 and any(one.profile.startswith("1g") for one in there)
        if is_late or mig.faults(model, [*there, mig.Instance(start, profile.name)]):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INSUFFICIENT_RESOURCES)
        self._last += 1
        made = GpuInstance(handle, profile, start, self._last)
        self.instances[handle.uuid].append(made)
        return made

    def nvmlGpuInstanceGetComputeInstanceProfileInfo(
        self, handle: GpuInstance, number: int, engine: int
    ) -> Any:
        slices = {0: 1, 1: 2, 2: 3, 3: 4, 4: 7}.get(number, 0)
        if not slices or slices > handle.profile.compute:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return SimpleNamespace(id=number, sliceCount=slices)

    def nvmlGpuInstanceGetComputeInstances(
        self, handle: GpuInstance, profile_id: int, rows: Any, count: Any
    ) -> None:
        slices = {0: 1, 1: 2, 2: 3, 3: 4, 4: 7}[profile_id]
        found = handle.parts if slices == handle.profile.compute else []
        for at, one in enumerate(found):
            rows[at] = one
        count._obj.value = len(found)

    def nvmlGpuInstanceCreateComputeInstance(self, handle: GpuInstance, profile_id: int) -> Device:
        self._enter("CreateCompute", handle.device)
        self._changes(f"+compute {handle.profile.name}")
        name = f"{handle.device.name} MIG {handle.profile.name}"
        uuid = f"MIG-{handle.device.uuid}-{handle.id}"
        part = Device(uuid, name=name, memory=10 * GIB, instance=handle.id, start=handle.start)
        handle.parts.append(part)
        self._show(handle.device)
        return part

    def nvmlComputeInstanceDestroy(self, part: Device) -> None:
        self._enter("DestroyCompute")
        owner = next(one for rows in self.instances.values() for one in rows if part in one.parts)
        if owner.is_in_use:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_IN_USE)
        owner.parts.remove(part)
        self._show(owner.device)

    def nvmlGpuInstanceDestroy(self, handle: GpuInstance) -> None:
        self._enter("Destroy", handle.device)
        self._changes(f"-{handle.profile.name}@{handle.start}")
        if handle.parts:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_IN_USE)
        self.instances[handle.device.uuid].remove(handle)

    def _show(self, device: Device) -> None:
        """Keep what the agent's measurements see in step."""
        device.slices = [part for one in self.instances[device.uuid] for part in one.parts]
