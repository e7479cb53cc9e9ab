"""Partition GPUs into MIG instances through NVML, as the portal asks.

Needs root, and a drained node: an instance that a process uses is never destroyed. Work can be
repeated: it starts from what the driver reports, so an agent that was killed goes on where it was.
Order and return codes follow nvml.h.
"""

from __future__ import annotations

import ctypes
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from muster_agent.nvml import text
from muster_agent.sample import Json

log = logging.getLogger("muster.agent")
MOST_PROFILES, MOST_INSTANCES = 64, 16  # of a GPU
TRIES, PAUSE = 5, 2.0  # of a call that says IN_USE: a process may just be ending; seconds
Layout = list[Json] | None  # [{"profile": "3g.40gb", "start": 4}]; None: MIG is off


class MigError(Exception):
    """A step failed, with the reason for people."""


@dataclass(frozen=True)
class Profile:
    """A profile as the driver describes it. `compute` is in slices of the GPU's SMs."""

    id: int
    name: str
    compute: int


def carry_out(nvml: Any, work: Json, sleep: Callable[[float], None] = time.sleep) -> Json:
    """Give each GPU its layout and verify it; after a failure rebuild the former layouts.

    `work` is {"id", "gpus": [{"uuid", "before", "after"}]}. Returns {"id", "state": "done" or
    "failed", "error", "is_restored", "layouts": {uuid: layout}}. NVML must be open.
    """
    wanted: list[Json] = work["gpus"]
    report: Json = {"id": work["id"], "state": "done", "error": "", "is_restored": False}
    try:
        for gpu in wanted:
            _Device(nvml, gpu["uuid"], sleep).become(gpu["after"])
    except MigError as error:
        log.warning("MIG: %s", error)
        failed = _restore(nvml, wanted, sleep)
        report |= {
            "state": "failed",
            "error": "; ".join(map(str, (error, *failed))),
            "is_restored": not failed,
        }
    return report | {"layouts": dict(_layouts(nvml, wanted, sleep))}


def _restore(nvml: Any, wanted: Iterable[Json], sleep: Callable[[float], None]) -> list[str]:
    """Rebuild the former layouts, each GPU for itself; return what failed."""
    failed = []
    for gpu in wanted:
        try:
            _Device(nvml, gpu["uuid"], sleep).become(gpu["before"])
        except MigError as error:
            failed.append(f"the former layout could not be rebuilt: {error}")
    return failed


def _layouts(
    nvml: Any, wanted: Iterable[Json], sleep: Callable[[float], None]
) -> Iterator[tuple[str, Layout]]:
    for gpu in wanted:
        try:
            yield gpu["uuid"], _Device(nvml, gpu["uuid"], sleep).layout()
        except MigError:
            continue  # lost


class _Device:
    """One GPU while it is partitioned. All methods raise MigError."""

    def __init__(self, nvml: Any, uuid: str, sleep: Callable[[float], None]):
        self._nvml, self._uuid, self._sleep = nvml, uuid, sleep
        self._handle = self._call("open", nvml.nvmlDeviceGetHandleByUUID, uuid)
        self._profiles: list[Profile] = []

    def become(self, wanted: Layout) -> None:
        """Change the layout with as few destroyed instances as possible, and verify it."""
        has = self.layout()
        if _same(has, wanted):
            return
        try:
            self._change(wanted)
        except _NoSpace:
            # The order of creation matters to the driver: start with an empty GPU
            self._destroy_all(keep=())
            self._create(wanted or [])
        found = self.layout()
        if not _same(found, wanted):
            raise MigError(
                f"GPU {self._uuid}: the driver reports {_text(found)} instead of {_text(wanted)}"
            )

    def layout(self) -> Layout:
        """Return the instances that have a compute instance, by start; None if MIG is off."""
        if not self._is_on():
            return None
        return sorted(
            ({"profile": p.name, "start": s} for p, s, gi in self._instances() if self._parts(gi)),
            key=lambda one: (one["start"], one["profile"]),
        )

    def _change(self, wanted: Layout) -> None:
        if wanted is None:
            self._destroy_all(keep=())
            self._set_mode(is_on=False)
            return
        if not self._is_on():
            self._set_mode(is_on=True)
        self._destroy_all(keep={(one["profile"], one["start"]) for one in wanted})
        self._create(wanted)

    def _is_on(self) -> bool:
        try:
            mode = self._nvml.nvmlDeviceGetMigMode(self._handle)[0]
        except self._nvml.NVMLError as error:
            if error.value == self._nvml.NVML_ERROR_NOT_SUPPORTED:
                return False
            raise self._failed("read the MIG mode", error) from error
        return bool(mode == self._nvml.NVML_DEVICE_MIG_ENABLE)

    def _set_mode(self, *, is_on: bool) -> None:
        """Switch MIG on or off. It resets an Ampere GPU, which changes its handle."""
        step, nvml = f"switch MIG {'on' if is_on else 'off'}", self._nvml
        status = self._call(step, nvml.nvmlDeviceSetMigMode, self._handle, int(is_on))
        if status != nvml.NVML_SUCCESS:
            raise self._failed(step, nvml.NVMLError(status))
        self._handle = self._call("open", nvml.nvmlDeviceGetHandleByUUID, self._uuid)
        self._profiles = []
        if self._is_on() != is_on:
            raise MigError(f"GPU {self._uuid}: {step}: it is pending until the GPU is reset")

    def _destroy_all(self, keep: Iterable[tuple[str, int]]) -> None:
        """Destroy the instances that are not to be kept: compute instances first."""
        nvml, kept = self._nvml, set(keep)
        for profile, start, instance in self._instances():
            parts = self._parts(instance)
            if parts and (profile.name, start) in kept:
                continue
            step = f"destroy {profile.name} at slice {start}"
            for part in parts:
                self._call(step, nvml.nvmlComputeInstanceDestroy, part)
            self._call(step, nvml.nvmlGpuInstanceDestroy, instance)

    def _create(self, wanted: list[Json]) -> None:
        """Create what is missing, the largest first, each with one compute instance."""
        nvml, known = self._nvml, {profile.name: profile for profile in self._all_profiles()}
        has = {(profile.name, start) for profile, start, _ in self._instances()}
        missing = [one for one in wanted if (one["profile"], one["start"]) not in has]
        unknown = [one["profile"] for one in missing if one["profile"] not in known]
        if unknown:
            raise MigError(f"GPU {self._uuid}: the driver has no MIG profile {unknown[0]}")
        missing.sort(key=lambda one: (-known[one["profile"]].compute, one["start"]))
        for one in missing:
            profile, start = known[one["profile"]], one["start"]
            step = f"create {profile.name} at slice {start}"
            place = ctypes.byref(self._placement(profile, start))
            create = nvml.nvmlDeviceCreateGpuInstanceWithPlacement
            instance = self._call(step, create, self._handle, profile.id, place)
            self._call(
                f"{step}: its compute instance",
                nvml.nvmlGpuInstanceCreateComputeInstance,
                instance,
                self._compute_profile(instance, profile),
            )

    def _placement(self, profile: Profile, start: int) -> Any:
        nvml = self._nvml
        found = (nvml.c_nvmlGpuInstancePlacement_t * MOST_INSTANCES)()
        count = ctypes.c_uint(MOST_INSTANCES)
        self._call(
            f"read the placements of {profile.name}",
            nvml.nvmlDeviceGetGpuInstancePossiblePlacements,
            self._handle,
            profile.id,
            found,
            ctypes.byref(count),
        )
        for place in found[: count.value]:
            if place.start == start:
                return place
        raise MigError(f"GPU {self._uuid}: {profile.name} cannot start at slice {start}")

    def _compute_profile(self, instance: Any, profile: Profile) -> int:
        """Return the id of the compute profile that takes the whole instance."""
        nvml = self._nvml
        for number in range(nvml.NVML_COMPUTE_INSTANCE_PROFILE_COUNT):
            try:
                info = nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(
                    instance, number, nvml.NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED
                )
            except nvml.NVMLError:
                continue  # not in this instance
            if info.sliceCount == profile.compute:
                return int(info.id)
        raise MigError(f"GPU {self._uuid}: no compute instance fills {profile.name}")

    def _all_profiles(self) -> list[Profile]:
        """Return the profiles of the GPU by the names that the driver gives them."""
        nvml = self._nvml
        if not self._profiles:
            for number in range(MOST_PROFILES):
                try:
                    info = nvml.nvmlDeviceGetGpuInstanceProfileInfo(self._handle, number)
                except nvml.NVMLError as error:
                    if error.value == nvml.NVML_ERROR_NOT_SUPPORTED:
                        continue
                    if error.value == nvml.NVML_ERROR_INVALID_ARGUMENT:
                        break  # the last one was before
                    raise self._failed("read its MIG profiles", error) from error
                name = text(info.name).rpartition("MIG ")[2]
                self._profiles.append(Profile(int(info.id), name, int(info.sliceCount)))
        return self._profiles

    def _instances(self) -> list[tuple[Profile, int, Any]]:
        """Return (profile, start, handle) of all GPU instances."""
        nvml, found = self._nvml, []
        for profile in self._all_profiles():
            rows = (nvml.c_nvmlGpuInstance_t * MOST_INSTANCES)()
            count = ctypes.c_uint(MOST_INSTANCES)
            self._call(
                "list its instances",
                nvml.nvmlDeviceGetGpuInstances,
                self._handle,
                profile.id,
                rows,
                ctypes.byref(count),
            )
            for row in rows[: count.value]:
                info = self._call("read an instance", nvml.nvmlGpuInstanceGetInfo, row)
                found.append((profile, int(info.placement.start), row))
        return found

    def _parts(self, instance: Any) -> list[Any]:
        """Return the compute instances of a GPU instance."""
        nvml, found = self._nvml, []
        for number in range(nvml.NVML_COMPUTE_INSTANCE_PROFILE_COUNT):
            try:
                info = nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(
                    instance, number, nvml.NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED
                )
            except nvml.NVMLError:
                continue
            rows = (nvml.c_nvmlComputeInstance_t * MOST_INSTANCES)()
            count = ctypes.c_uint(MOST_INSTANCES)
            self._call(
                "list compute instances",
                nvml.nvmlGpuInstanceGetComputeInstances,
                instance,
                info.id,
                rows,
                ctypes.byref(count),
            )
            found += rows[: count.value]
        return found

    def _call(self, step: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call NVML; repeat a call that says IN_USE, because a process may just be ending."""
        nvml = self._nvml
        for number in range(TRIES):
            try:
                return function(*args)
            except nvml.NVMLError as error:
                if error.value == nvml.NVML_ERROR_IN_USE and number < TRIES - 1:
                    self._sleep(PAUSE)
                    continue
                raise self._failed(step, error) from error
        raise AssertionError  # the last try returns or raises

    def _failed(self, step: str, error: Any) -> MigError:
        nvml = self._nvml
        reasons = {
            nvml.NVML_ERROR_IN_USE: "a process still uses it, or a monitor such as DCGM",
            nvml.NVML_ERROR_INSUFFICIENT_RESOURCES: "no free slices for it",
            nvml.NVML_ERROR_NO_PERMISSION: "the agent needs to run as root",
            nvml.NVML_ERROR_NOT_SUPPORTED: "not supported on this GPU or virtual machine",
            nvml.NVML_ERROR_RESET_REQUIRED: "the GPU needs a reset: reboot the node",
            nvml.NVML_ERROR_GPU_IS_LOST: "the GPU is lost",
            nvml.NVML_ERROR_NOT_FOUND: "the GPU is gone",
        }
        no_space = error.value == nvml.NVML_ERROR_INSUFFICIENT_RESOURCES
        kind = _NoSpace if no_space else MigError
        return kind(f"GPU {self._uuid}: {step}: {reasons.get(error.value, error)}")


class _NoSpace(MigError):
    """The driver had no free slices where the instance was to be."""


def _same(one: Layout, other: Layout) -> bool:
    if one is None or other is None:
        return one is other
    return sorted((i["start"], i["profile"]) for i in one) == sorted(
        (i["start"], i["profile"]) for i in other
    )


def _text(layout: Layout) -> str:
    if layout is None:
        return "MIG off"
    return ", ".join(f"{one['profile']}@{one['start']}" for one in layout) or "no instances"
