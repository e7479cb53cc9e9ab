"""Format amounts and times for display."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from portal.core.messages import Message

# Stored units per displayed unit.
SCALES = {"cpu": 1000, "gpu-hours": 3_600_000}
_STEPS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def scale_of(resource: str) -> int:
    """Return the number of stored units per displayed unit."""
    return SCALES.get(resource, 1)


def amount_text(resource: object, amount: Any) -> Message:
    """Format an amount in quota units: "2.5 cores", "16 GiB", "4 GPUs (h100)", "1 running job"."""
    kind, _, model = str(resource).partition(".")
    number = int(amount)
    match kind:
        case "cpu":
            return counted(f"{number / 1000:g}", "cores")
        case "gpu-hours":
            return counted(number_text(kind, number), "GPU-hours")
        case "memory" | "storage":
            return Message(bytes_text(number))
        case "gpu":
            return counted(str(number), "GPUs") + (f" ({gpu_text(model)})" if model else "")
        case "nodes" | "pods":
            return counted(str(number), kind)
        case _:
            return counted(str(number), "running jobs")


def gpu_text(kind: str) -> str:
    """Return a class of GPUs as people write it: "H100", "MIG 1g.10gb", "H100 shared".

    Jobs, commands and settings name classes by `kind`: "h100", "mig-1g.10gb", "h100.shared".
    """
    if kind.startswith("mig-"):
        return f"MIG {kind.removeprefix('mig-')}"
    model, _, share = kind.partition(".")
    return f"{model.upper()} {share.replace('mps', 'MPS')}" if share else model.upper()


def counted(n: str, unit: str) -> Message:
    """Return a number with its unit, which is given in the plural: "1 core", "2.5 cores"."""
    number = 1 if n == "1" else 2
    match unit:
        case "cores":
            return Message.plural(number, "{n} core", "{n} cores", context="number of things", n=n)
        case "GPUs":
            return Message.plural(number, "{n} GPU", "{n} GPUs", context="number of things", n=n)
        case "GPU-hours":
            return Message.plural(
                number, "{n} GPU-hour", "{n} GPU-hours", context="number of things", n=n
            )
        case "pods":
            return Message.plural(number, "{n} pod", "{n} pods", context="number of things", n=n)
        case "nodes":
            return Message.plural(number, "{n} node", "{n} nodes", context="number of things", n=n)
        case "jobs":
            return Message.plural(number, "{n} job", "{n} jobs", context="number of things", n=n)
        case "running jobs":
            return Message.plural(
                number, "{n} running job", "{n} running jobs", context="number of things", n=n
            )
    return Message.joined(" ", (n, unit))


def names_text(names: Sequence[str], most: int = 5) -> str:
    """Return the first names and how many more there are: "n1, n2 and 3 more"."""
    shown = ", ".join(names[:most])
    if len(names) <= most:
        return shown
    return Message(
        "{names} and {n} more", context="list of names", names=shown, n=len(names) - most
    )


def number_text(resource: str, amount: int) -> str:
    """Format an amount without its unit, as a user would type it: "2.5", hours to two decimals."""
    scale = scale_of(resource)
    if scale == 1:
        return str(amount)
    return (
        f"{amount / scale:g}"
        if resource == "cpu"
        else f"{amount / scale:.2f}".rstrip("0").rstrip(".")
    )


def typed_text(resource: str, amount: int) -> str:
    """Format an amount as a user would type it: "64Gi" for whole binary units, else the number."""
    if resource in ("memory", "storage"):
        for name, size in _STEPS:
            if amount and amount % size == 0:
                return f"{amount // size}{name[:2]}"
    return number_text(resource, amount)


def bytes_text(number: int) -> str:
    """Format bytes in binary units with at most one decimal: "1.5 GiB"."""
    for name, size in _STEPS:
        if abs(number) >= size:
            return f"{number / size:.1f}".removesuffix(".0") + f" {name}"
    return f"{number} B"


def span_text(span: timedelta | float) -> Message:
    """Format a duration: "4 s", "12 min", "2h 04m", "3d 02h"."""
    seconds = int(span.total_seconds() if isinstance(span, timedelta) else span)
    if seconds < 90:
        return Message("{n} s", context="duration", n=max(seconds, 0))
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 60:
        return Message("{n} min", context="duration", n=minutes)
    if hours < 48:
        return Message("{h}h {m}m", context="duration", h=hours, m=f"{minutes % 60:02d}")
    return Message("{d}d {h}h", context="duration", d=days, h=f"{hours % 24:02d}")
