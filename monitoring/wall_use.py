"""Current utilization of every GPU for the GPU overview, read at most every ten seconds."""

from __future__ import annotations

import json
import time
from functools import lru_cache

import orjson

from monitoring.inventory import InventorySnapshot
from portal import series
from portal.core import clock

EVERY = 10.0  # seconds, the interval of the agents
OLD_MS = 120_000  # an older measurement counts as unknown
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
    places = {f"node:{pk.hex}": at for pk, at in stock.ids.items()}
    for owner, labels, value in series.latest_values(
        list(places), "gpu.utilization", start_ms=clock.now_ms() - OLD_MS
    ):
        gpu = _index(labels)
        if gpu is None:
            continue
        row = found[places[owner]]
        row.extend([-1] * (gpu + 1 - len(row)))
        row[gpu] = max(0, min(100, round(value * 100)))
    return orjson.dumps(found)


@lru_cache(maxsize=1024)
def _index(labels: str) -> int | None:
    """Return the index of a whole GPU from the labels of its series; None for a MIG instance."""
    named = json.loads(labels)
    index = str(named.get("gpu", ""))
    return int(index) if index.isdigit() and int(index) < 256 and "mig" not in named else None
