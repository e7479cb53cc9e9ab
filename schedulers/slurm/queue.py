"""Read Slurm's whole queue with the resources that each job uses or requests.

Pure. Explanations use it to tell who uses the resources that a job waits for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from schedulers.capacity import ResourceRequest
from schedulers.gpu_types import mig_type
from schedulers.slurm.rows import NAME_WIDTH, SEPARATOR, Row, contiguous, number_of, records_of

_COLUMNS = (
    "JobID",
    "State",
    "Reason",
    "StartTime",
    "UserName",
    "Account",
    "QOS",
    "Partition",
    "NumNodes",
    "tres-alloc",
    "tres-per-node",
    "PriorityLong",
    "Feature",
)
# The name may contain anything: the last column, of a fixed number of bytes.
QUEUE = ",".join([*(f"{name}:{SEPARATOR}" for name in _COLUMNS), f"Name:{NAME_WIDTH}"])
_RECORD = records_of(len(_COLUMNS), NAME_WIDTH)
# kinds that count towards limits
HOLDING = frozenset({"RUNNING", "CONFIGURING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING"})
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_GPUS = re.compile(r"gres[:/]gpu((?:[:=][^:=,()]+)*)")


@dataclass(frozen=True)
class Queued:
    """A job in the queue.

    `need` is per node; `amounts` are totals; `row.started` is the start time, or the start that
    Slurm expects.
    """

    row: Row
    need: ResourceRequest
    priority: int = 0
    features: str = ""
    amounts: Mapping[str, int] = field(default_factory=dict)

    def amount(self, kind: str) -> int:
        """Return what the job uses or requests on all of its nodes."""
        return self.amounts.get(kind, self.need.in_all(kind))

    @property
    def is_held(self) -> bool:
        return self.row.state in HOLDING

    @property
    def partitions(self) -> list[str]:
        return self.row.partition.split(",")


def queue_lines(out: bytes) -> list[Queued]:
    """Parse `squeue -O QUEUE` with SLURM_TIME_FORMAT=%s; invalid lines are skipped."""
    found = []
    for match in contiguous(_RECORD, out):
        *columns, name = (word.decode(errors="replace") for word in match.groups())
        words = [_known(word) for word in columns]
        started = float(words[3]) if words[3].isdigit() else 0
        row = Row(
            int(words[0]),
            words[1],
            name.rstrip(),
            words[2],
            started,
            partition=words[7],
            account=words[5],
            qos=words[6],
            user=words[4],
        )
        count = words[8].partition("-")[0]
        nodes = int(count) if count.isdigit() else 1
        found.append(
            Queued(
                row,
                need_of(words[9], words[10], nodes),
                _number(words[11]),
                words[12],
                amounts_of(words[9]),
            )
        )
    return found


def queue_rows(jobs: Iterable[Mapping[str, Any]], rows: Iterable[Row]) -> list[Queued]:
    """Combine a listing of slurmrestd with the rows made from it."""
    return [
        _queued(job, row, str(job.get("tres_alloc_str") or job.get("tres_req_str") or ""))
        for job, row in zip(jobs, rows, strict=True)
    ]


def _queued(job: Mapping[str, Any], row: Row, tres: str) -> Queued:
    need = need_of(
        tres, str(job.get("tres_per_node") or ""), int(number_of(job.get("node_count"))) or 1
    )
    return Queued(
        row,
        need,
        int(number_of(job.get("priority"))),
        str(job.get("features") or ""),
        amounts_of(tres),
    )


@lru_cache(4096)
def need_of(tres: str, per_node: str, nodes: int) -> ResourceRequest:
    """Return the request per node.

    `tres` such as "cpu=6,mem=6G,node=3,billing=6,gres/gpu=9" covers all nodes; `per_node` such as
    "gres:gpu:h100:3" covers one and has the type.
    """
    amounts = amounts_of(tres)
    nodes = amounts.get("nodes", 0) or max(nodes, 1)
    typed, count = _gpus(per_node)
    return ResourceRequest(
        count or -(-amounts.get("gpu", 0) // nodes),
        -(-amounts.get("cpu", 0) // nodes),
        -(-amounts.get("memory", 0) // nodes),
        nodes,
        typed,
    )


@lru_cache(4096)
def amounts_of(tres: str) -> Mapping[str, int]:
    """Return totals in the units of quotas: gpu, "gpu.h100", cpu, memory, nodes.

    Other TRES are ignored.
    """
    found: dict[str, int] = {}
    for part in tres.split(","):
        name, _, text = part.partition("=")
        if (kind := kind_of(name)) and (number := _quantity(kind, text)) is not None:
            found[kind] = number
    return found


def kind_of(name: str) -> str:
    """Return our name of a TRES: "mem" is memory, "gres/gpu:h100" is gpu.h100."""
    plain = {"cpu": "cpu", "mem": "memory", "node": "nodes", "gres/gpu": "gpu"}.get(name, "")
    return plain or (f"gpu.{gpu_type(name[9:])}" if name.startswith("gres/gpu:") else "")


def gpu_type(word: str) -> str:
    """Return the GPU type as in the inventory."""
    return mig_type(word) or word.lower()


def counted(kind: str, number: float) -> int:
    """Convert Slurm's amount to our units: memory is in MiB there."""
    return round(number * {"cpu": 1000, "memory": 1 << 20}.get(kind, 1))


def _quantity(kind: str, text: str) -> int | None:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGTP]?)", text)
    if not found:
        return None
    return (
        round(float(found[1]) * _UNITS[found[2] or "M"])
        if kind == "memory"
        else counted(kind, float(found[1]) * _UNITS[found[2]])
    )


def _gpus(per_node: str) -> tuple[str, int]:
    """Parse type and number of "gres:gpu:h100:3", "gres/gpu:2", "gres:gpu".

    With several types the type is left empty.
    """
    found = [re.split("[:=]", match[1])[1:] for match in _GPUS.finditer(per_node)]
    counts = [int(words[-1]) if words and words[-1].isdigit() else 1 for words in found]
    types = {gpu_type(words[0]) for words in found if words and not words[0].isdigit()}
    return types.pop() if len(found) == len(types) == 1 else "", sum(counts)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _known(word: str) -> str:
    return "" if word in {"N/A", "(null)"} else word
