"""Utilization, temperature and power of every GPU for the overview, read at most every ten seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

import orjson

from jobs.utilization.selectors import gpu_utilization_of_nodes
from monitoring.inventory import InventorySnapshot
from monitoring.nodes import FRESH_MS
from portal import series
from portal.core import clock

EVERY = 10.0  # seconds; it is recorded every minute
MOST = 256  # GPUs of a node
HEATS = {"temperature": "gpu.temperature", "power": "gpu.power"}  # in degrees Celsius and watts
_kept: dict[str, tuple[InventorySnapshot, float, bytes]] = {}  # the current one of each kind


def use_of(stock: InventorySnapshot) -> bytes:
    """Return JSON: for each node of the snapshot the use of its GPUs in percent, -1 if unknown."""
    return _kept_for(stock, "use", lambda: _use(stock))


def heat_of(stock: InventorySnapshot, heat: str) -> bytes:
    """Return JSON: for each node a metric of HEATS of its GPUs, null if unknown."""
    return _kept_for(stock, heat, lambda: _heat(stock, HEATS[heat]))


def _kept_for(stock: InventorySnapshot, name: str, make: Callable[[], bytes]) -> bytes:
    kept = _kept.get(name)
    if kept and kept[0] is stock and time.monotonic() - kept[1] < EVERY:
        return kept[2]
    text = make()
    _kept[name] = (stock, time.monotonic(), text)
    return text


def _heat(stock: InventorySnapshot, metric: str) -> bytes:
    found: list[list[int | None]] = [[] for _ in stock.ids]
    owners = {f"node:{node.hex}": at for node, at in stock.ids.items()}
    since = clock.now_ms() - FRESH_MS
    for owner, _name, labels, value in series.latest_at_least(list(owners), {metric: 0.0}, since):
        text = labels.get("gpu", "")
        if len(labels) == 1 and text.isascii() and text.isdigit() and (gpu := int(text)) < MOST:
            row = found[owners[owner]]
            row.extend([None] * (gpu + 1 - len(row)))
            row[gpu] = round(value)
    return orjson.dumps(found)


def _use(stock: InventorySnapshot) -> bytes:
    found: list[list[int]] = [[] for _ in stock.ids]
    for node, by_gpu in gpu_utilization_of_nodes().items():
        row = found[stock.ids[node]] if node in stock.ids else []
        for label, value in by_gpu.items():
            # The label of a MIG instance is not an index.
            if label.isascii() and label.isdigit() and (gpu := int(label)) < MOST:
                row.extend([-1] * (gpu + 1 - len(row)))
                row[gpu] = round(value * 100)
    return orjson.dumps(found)
