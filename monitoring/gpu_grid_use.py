"""Utilization of every GPU for the GPU overview, read at most every ten seconds."""

from __future__ import annotations

import time

import orjson

from jobs.utilization.selectors import gpu_utilization_of_nodes
from monitoring.inventory import InventorySnapshot

EVERY = 10.0  # seconds; it is recorded every minute
MOST = 256  # GPUs of a node
_kept: dict[str, tuple[InventorySnapshot, float, bytes]] = {}  # has one entry: the current one


def use_of(stock: InventorySnapshot) -> bytes:
    """Return JSON: for each node of the snapshot the use of its GPUs in percent, -1 if unknown."""
    kept = _kept.get("use")
    if kept and kept[0] is stock and time.monotonic() - kept[1] < EVERY:
        return kept[2]
    text = _text(stock)
    _kept["use"] = (stock, time.monotonic(), text)
    return text


def _text(stock: InventorySnapshot) -> bytes:
    found: list[list[int]] = [[] for _ in stock.ids]
    for node, by_gpu in gpu_utilization_of_nodes().items():
        row = found[stock.ids[node]] if node in stock.ids else []
        for label, value in by_gpu.items():
            # The label of a MIG instance is not an index.
            if label.isascii() and label.isdigit() and (gpu := int(label)) < MOST:
                row.extend([-1] * (gpu + 1 - len(row)))
                row[gpu] = round(value * 100)
    return orjson.dumps(found)
