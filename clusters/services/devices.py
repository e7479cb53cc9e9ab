"""Store the GPUs of a node as its agent reports them; write only what has changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from clusters.models import Device, Node
from portal.core import clock
from schedulers.gpu_types import type_of

MOST_GPUS = 64  # of one node
MOST_INSTANCES = 16  # of one GPU
_FIELDS = (
    "index",
    "model",
    "type",
    "memory",
    "compute",
    "serial",
    "pci",
    "numa",
    "links",
    "driver",
    "mig",
    "is_lost",
)
# What not every source knows
_OPTIONAL = ("memory", "compute", "serial", "pci", "numa", "links", "driver")
_WORD = re.compile(r"[\x21-\x7e]{1,80}\Z")


def store_devices(
    node: Node, gpus: Sequence[Any], driver: str = "", *, is_partial: bool = False
) -> None:
    """Store the devices of a node. Those that are no longer reported are lost.

    `gpus` are the agent's, see `muster_agent.nvml.Gpu.as_json`; malformed ones are left out. An
    empty list changes nothing: the driver may just be upgraded. With `is_partial`, what a report
    leaves out stays as it was.
    """
    found = {gpu["uuid"]: gpu for raw in gpus[:MOST_GPUS] if (gpu := _parsed(raw, driver))}
    if not found:
        return
    known = {row["uuid"]: row for row in Device.objects.filter(node=node).values("uuid", *_FIELDS)}
    if is_partial:
        for uuid, gpu in found.items():
            gpu |= {
                name: known[uuid][name]
                for name in _OPTIONAL
                if uuid in known and not gpu[name] and gpu[name] != known[uuid][name]
            }
    changed = [
        Device(node=node, seen_at=clock.now(), **gpu)
        for uuid, gpu in found.items()
        if {name: known.get(uuid, {}).get(name) for name in _FIELDS} | {"uuid": uuid} != gpu
    ]
    gone = [uuid for uuid, row in known.items() if uuid not in found and not row["is_lost"]]
    if not changed and not gone:
        return
    with transaction.atomic():
        Device.objects.filter(node=node, uuid__in=gone).update(is_lost=True, seen_at=clock.now())
        Device.objects.bulk_create(
            changed,
            update_conflicts=True,
            unique_fields=["node", "uuid"],
            update_fields=[*_FIELDS, "seen_at"],
        )


def _parsed(raw: Any, driver: str) -> dict[str, Any] | None:
    if not isinstance(raw, Mapping) or not _WORD.match(str(raw.get("uuid", ""))):
        return None
    model = str(raw.get("model", ""))
    index, memory = _whole(raw.get("index"), 1000), _whole(raw.get("memory"), 1 << 50)
    if index is None or memory is None or not model.isprintable():
        return None
    parts = raw.get("mig")
    return {
        "uuid": str(raw["uuid"]),
        "index": index,
        "model": model[:80],
        "type": type_of(model),
        "memory": memory,
        "compute": _text(raw.get("compute"), 10),
        "serial": _text(raw.get("serial"), 40),
        "pci": _text(raw.get("pci"), 20),
        "numa": _whole(raw.get("numa"), 1000),
        "links": _whole(raw.get("links"), 1000),
        "driver": _text(driver, 40),
        "mig": _instances(parts) if raw.get("is_mig") and isinstance(parts, list) else None,
        "is_lost": raw.get("is_lost") is True,
    }


def _instances(parts: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "uuid": str(part["uuid"])[:80],
            "profile": _text(part.get("profile"), 34),
            "start": _whole(part.get("start"), 16),
            "memory": _whole(part.get("memory"), 1 << 50) or 0,
            "index": _whole(part.get("index"), 1000),
        }
        for part in parts[:MOST_INSTANCES]
        if isinstance(part, Mapping) and _WORD.match(str(part.get("uuid", "")))
    ]


def _text(value: Any, most: int) -> str:
    text = value if isinstance(value, str) else ""
    return text if len(text) <= most and _WORD.match(text) else ""


def _whole(value: Any, most: int) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and 0 <= value <= most else None
