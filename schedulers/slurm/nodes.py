"""Convert Slurm's nodes to NodeFacts. Pure."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from portal.core.messages import Message
from schedulers.contract import GpuFacts, NodeFacts
from schedulers.gpu_types import mig_type
from schedulers.images.config import arch_name
from schedulers.shares import MPS, SHARED, share_type
from schedulers.slurm.hostlist import expand
from schedulers.slurm.rows import number_of
from schedulers.slurm.show import records

log = logging.getLogger(__name__)

MIB = 1 << 20
# NAME, TYPE, COUNT and details such as (IDX:0-2); without a type Slurm prints none or "(null)"
_GRES = re.compile(
    r"(\w+)(?::(?:\(null\)|(?!no_consume:)([\w.+-]+)))?(?::no_consume)?:(\d+)([KMGT]?)((?:\(.*\))?)",
    re.ASCII,
)
_COUNTS_GPUS = re.compile(r"(?<![\w/])shard(?::[A-Za-z][\w.+-]*)?:[1-9]\d*\(IDX:")
_JOB_SHARES = re.compile(r"(?<!\w)(?:shard|mps)(?::[A-Za-z][\w.+-]*)?(?:[:=](\d+))?(?=,|$)")
Jobs = Callable[[], Iterable[tuple[str, str]]]
_SHARE_KINDS = {"shard": SHARED, "mps": MPS}
_DEAD = {
    "DOWN",
    "FAIL",
    "FAILING",
    "ERROR",
    "NOT_RESPONDING",
    "NO_RESPOND",
    "FUTURE",
    "UNKNOWN",
    "POWERING_DOWN",
    "REBOOT",
    "REBOOT_ISSUED",
    "INVAL",
    "INVALID_REG",
}
_STARTING = {"POWERING_UP", "POWER_UP"}  # such a node does not respond yet
_SILENT = {"NOT_RESPONDING", "NO_RESPOND"}
_DRAINED = {"DRAIN", "DRAINED", "DRAINING"}
_MARKS = {
    "*": "NOT_RESPONDING",
    "$": "MAINTENANCE",
    "@": "REBOOT",
    "%": "POWERING_DOWN",
    "#": "POWERING_UP",
}


def from_scontrol(text: str, jobs: Jobs = list) -> list[NodeFacts]:
    """Parse `scontrol show node --details`.

    `jobs` returns the running jobs; it is called if Slurm does not count the used shares.
    """
    return _nodes(records(text, "NodeName"), jobs)


def qos_of_partitions(text: str) -> dict[str, str]:
    """Parse `scontrol show partition` into the QOS of each partition that has one."""
    return {
        row["PartitionName"]: _known(row.get("QoS", ""))
        for row in records(text, "PartitionName")
        if _known(row.get("QoS", ""))
    }


def from_rest(rows: Iterable[Mapping[str, Any]], jobs: Jobs = list) -> list[NodeFacts]:
    """Parse `nodes` of a REST response of any version; `jobs` as for `from_scontrol`."""
    return _nodes(
        [
            {
                "NodeName": row["name"],
                "CPUTot": row.get("cpus", 0),
                "RealMemory": number_of(row.get("real_memory")),
                "Gres": row.get("gres") or "",
                "GresUsed": row.get("gres_used") or "",
                "AllocTRES": row.get("tres_used") or "",
                "State": "+".join(_states(row)),
                "Reason": row.get("reason") or "",
                "Partitions": _joined(row.get("partitions")),
                "CPUAlloc": row.get("alloc_cpus") or 0,
                "AllocMem": number_of(row.get("alloc_memory")),
                "ActiveFeatures": _joined(row.get("active_features")),
                "Arch": row.get("architecture") or "",
            }
            for row in rows
        ],
        jobs,
    )


def shares_by_node(jobs: Iterable[tuple[str, str]]) -> Counter[str]:
    """Sum the shares that jobs use on each node, from (TRES per node, hostlist)."""
    found: Counter[str] = Counter()
    for tres, names in jobs:
        count = sum(int(number or 1) for number in _JOB_SHARES.findall(tres))
        if count:
            found.update(dict.fromkeys(expand(names), count))
    return found


def _nodes(rows: Sequence[Mapping[str, Any]], jobs: Jobs) -> list[NodeFacts]:
    """Convert nodes. Slurm 22.05 counts the GPUs with shares in use, not the shares."""
    nodes = [_node(row) for row in rows]
    if not any(_COUNTS_GPUS.search(str(row.get("GresUsed", ""))) for row in rows):
        return nodes
    if any("gres/shard=" in str(row.get("AllocTRES", "")) for row in rows):
        return nodes
    used = shares_by_node(jobs())
    return [
        replace(node, used_shares=max(node.used_shares, used[node.name]))
        if node.used_shares
        else node
        for node in nodes
    ]


def _node(row: Mapping[str, Any]) -> NodeFacts:
    states, reason = _words(str(row.get("State", ""))), _known(str(row.get("Reason", "")))
    gpus, features = (
        _gpus(str(row["NodeName"]), str(row.get("Gres", ""))),
        _known(str(row.get("ActiveFeatures", ""))),
    )
    is_starting = bool(states & _STARTING)
    is_drained = bool(states & _DRAINED)
    is_dead = bool(states & (_DEAD - _SILENT if is_starting else _DEAD))
    note = (
        f"{' '.join(sorted(states)).lower()}: {reason}"
        if reason
        else (" ".join(sorted(states)).lower() if is_dead or is_starting else "")
    )
    return NodeFacts(
        name=str(row["NodeName"]),
        cpus=float(row.get("CPUTot", 0)),
        memory=int(float(row.get("RealMemory", 0))) * MIB,
        gpus=gpus,
        labels={feature: "" for feature in features.split(",") if feature},
        is_ready=not is_dead,
        note=note or ("" if gpus else Message("Slurm has no GPUs configured on this node (GRES).")),
        is_drained=is_drained,
        is_reserved="RESERVED" in states,
        partitions=tuple(
            name for name in _known(str(row.get("Partitions", ""))).split(",") if name
        ),
        used_cpus=float(row.get("CPUAlloc", 0)),
        used_memory=int(float(row.get("AllocMem", 0))) * MIB,
        used_gpus=max(
            _used(str(row.get("GresUsed", ""))), _tracked(str(row.get("AllocTRES", "")), "gpu")
        ),
        used_shares=max(
            _used_shares(str(row.get("GresUsed", ""))),
            _tracked(str(row.get("AllocTRES", "")), "shard", "mps"),
        ),
        arch=arch_name(_known(str(row.get("Arch", "")))),
    )


def _gpus(node: str, gres: str) -> list[GpuFacts]:
    """Parse "gpu:h100:4(S:0-1),gpu:1g.10gb:7".

    GPUs are numbered in Slurm's order; serial numbers and memory are unknown. All shares of a class
    ("shard:h100:32") are one row.
    """
    found: list[GpuFacts] = []
    items = _items(gres)
    for _, kind, count, _ in (item for item in items if item[0] == "gpu"):
        for _ in range(count):
            name, index = (kind or "gpu").lower(), len(found)
            kind_of = mig_type(name) or name
            found.append(
                GpuFacts(
                    index,
                    f"{node}/gpu{index}",
                    f"NVIDIA {kind.upper()}" if kind else "GPU",
                    kind_of,
                    0,
                )
            )
    for gres_name, kind, count, _ in (item for item in items if item[0] in _SHARE_KINDS):
        name = share_type(kind.lower(), _SHARE_KINDS[gres_name])
        model = f"NVIDIA {kind.upper()}" if kind else "GPU"
        found.append(GpuFacts(len(found), f"{node}/{name}", model, name, 0, shares=count))
    return found


def _items(gres: str) -> list[tuple[str, str, int, str]]:
    """Parse generic resources into (name, type, count, details); others are left out, and logged."""
    found = []
    for item in re.split(r",(?![^()]*\))", _known(gres)):
        if match := _GRES.fullmatch(item.strip()):
            count = int(match[3]) << 10 * " KMGT".index(match[4] or " ")
            found.append((match[1], match[2] or "", count, match[5]))
        elif item.strip():
            log.warning("A generic resource of Slurm is not understood: %r", item[:80])
    return found


def _used_shares(gres: str) -> int:
    """Sum the used shares of "shard:h100:6(4/4,2/4)"; those of each GPU are exact if given."""
    found = 0
    for name, _, count, detail in _items(gres):
        if name in _SHARE_KINDS:
            each = re.findall(r"(\d+)/\d+", detail)
            found += sum(map(int, each)) if each else count
    return found


def _tracked(tres: str, *names: str) -> int:
    """Sum what AllocTRES counts of these, which it does if AccountingStorageTRES has them."""
    kinds = "|".join(names)
    return sum(int(count) for count in re.findall(rf"gres/(?:{kinds})=(\d+)(?=,|$)", tres))


def _used(gres: str) -> int:
    return sum(count for name, _, count, _ in _items(gres) if name == "gpu")


def _states(row: Mapping[str, Any]) -> list[str]:
    """Return the states: a word and flags until v0.0.39, a list since."""
    state = row.get("state", "")
    words = list(state) if isinstance(state, (list, tuple)) else [state]
    return [str(word).upper() for word in [*words, *(row.get("state_flags") or [])]]


def _words(text: str) -> set[str]:
    """Split "IDLE+DRAIN" and "DOWN*+POWERED_DOWN" into state and flags."""
    marks = {word for mark, word in _MARKS.items() if mark in text}
    return {re.sub(r"[^A-Z_]", "", word.upper()) for word in text.split("+")} - {""} | marks


def _joined(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")


def _known(text: str) -> str:
    return "" if text in {"(null)", "N/A"} else text
