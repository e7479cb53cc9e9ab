"""Format amounts and times for display."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

# Stored units per displayed unit.
SCALES = {"cpu": 1000, "gpu-hours": 3_600_000}
_STEPS = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def scale_of(resource: str) -> int:
    """Return the number of stored units per displayed unit."""
    return SCALES.get(resource, 1)


def amount_text(resource: object, amount: Any) -> str:
    """Format an amount in quota units: "2.5 cores", "16 GiB", "4 GPUs (h100)", "1 running job"."""
    kind, _, model = str(resource).partition(".")
    number = int(amount)
    match kind:
        case "cpu":
            return f"{number / 1000:g} core{'' if number == 1000 else 's'}"
        case "gpu-hours":
            return f"{number_text(kind, number)} GPU-hour{'' if number == scale_of(kind) else 's'}"
        case "memory" | "storage":
            return bytes_text(number)
        case "gpu":
            return f"{number} GPU{'' if number == 1 else 's'}" + (f" ({model})" if model else "")
        case "nodes" | "pods":
            return f"{number} {kind[:-1]}{'' if number == 1 else 's'}"
        case _:
            return f"{number} running job{'' if number == 1 else 's'}"


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


def span_text(span: timedelta | float) -> str:
    """Format a duration: "4 s", "12 min", "2h 04m", "3d 02h"."""
    seconds = int(span.total_seconds() if isinstance(span, timedelta) else span)
    if seconds < 90:
        return f"{max(seconds, 0)} s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 60:
        return f"{minutes} min"
    return f"{hours}h {minutes % 60:02d}m" if hours < 48 else f"{days}d {hours % 24:02d}h"
