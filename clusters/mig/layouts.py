"""MIG layouts of devices, between their rows, the planner and backends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from clusters.models import Device
from schedulers import mig
from schedulers.contract import GpuLayout

Stored = list[dict[str, Any]] | None  # as in `Device.mig`, without UUIDs


def stored_layout(device: Device) -> Stored:
    """Return the layout of a device as plans store it, by start."""
    if device.mig is None:
        return None
    rows = ({"profile": part["profile"], "start": part["start"]} for part in device.mig)
    return sorted(rows, key=lambda one: (one["start"] or 0, one["profile"]))


def as_stored(layout: mig.Layout | None) -> Stored:
    """Return a layout of the planner as plans store it."""
    if layout is None:
        return None
    return [{"profile": one.profile, "start": one.start} for one in sorted(layout)]


def why_unknown(device: Device) -> str:
    """Return why a device cannot be planned, or an empty string.

    A GPU without MIG is known: it stays whole.
    """
    if device.is_lost:
        return "lost"
    model = mig.model_of(device.model, device.memory)
    if device.mig and any(part["start"] is None for part in device.mig):
        return "placement"
    if device.mig and (model is None or not all(model.profile(p["profile"]) for p in device.mig)):
        return "profile"
    return ""


def gpu_state(device: Device, *, is_used: bool, is_avoided: bool = False) -> mig.GpuState | None:
    """Return a device for the planner; None if it has no MIG or cannot be planned.

    `is_used`: jobs use GPUs of its node. Which ones is not known, so all of them count as busy.
    `is_avoided`: others are changed first.
    """
    model = mig.model_of(device.model, device.memory)
    if model is None or why_unknown(device):
        return None
    layout = None
    if device.mig is not None:
        layout = frozenset(mig.Instance(part["start"], part["profile"]) for part in device.mig)
    busy = layout if is_used and layout else mig.EMPTY
    return mig.GpuState(
        device.node.name,
        device.uuid,
        model.name,
        layout,
        busy,
        is_used and layout is None,
        is_avoided,
    )


def gpu_layouts(gpus: Iterable[dict[str, Any]]) -> Sequence[GpuLayout]:
    """Return what the GPUs of a plan's node become, for backends."""
    return [
        GpuLayout(
            gpu["index"],
            gpu["type"],
            None if gpu["after"] is None else tuple(one["profile"] for one in gpu["after"]),
            gpu["model"],
        )
        for gpu in gpus
    ]
