"""Write the lines of Slurm's files that describe the GPUs of nodes. Pure.

With AutoDetect slurmd finds GPUs and MIG instances itself; slurm.conf says how many there must be, by a
type that is part of the detected one ("1g.10gb" of "nvidia_h100_80gb_hbm3_1g.10gb").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from schedulers.contract import GpuLayout


def gpu_files(nodes: Mapping[str, Sequence[GpuLayout]]) -> dict[str, str]:
    """Return the lines by file name; nodes with the same GPUs share a line."""
    alike: dict[str, list[str]] = {}
    for node, gpus in nodes.items():
        alike.setdefault(gres_of(gpus), []).append(node)
    if not alike:
        return {}
    types = sorted({word.rsplit(":", 1)[0] for gres in alike for word in gres.split(",")})
    tracked = ",".join(["gres/gpu", *(f"gres/{name}" for name in types)])
    slurm = [f"NodeName={','.join(names)} Gres={gres}" for gres, names in alike.items()]
    return {
        "gres.conf": "".join(f"NodeName={name} AutoDetect=nvml\n" for name in sorted(nodes)),
        "slurm.conf": "\n".join(
            [
                "# Set Gres in the lines of these nodes; their other settings stay",
                *slurm,
                "GresTypes=gpu",
                f"AccountingStorageTRES={tracked}",
                "",
            ]
        ),
    }


def gres_of(gpus: Sequence[GpuLayout]) -> str:
    """Return a node's GRES: "gpu:h100:6,gpu:3g.40gb:2,gpu:1g.10gb:2"."""
    counts: Counter[str] = Counter()
    for gpu in gpus:
        counts.update([gpu.type] if gpu.profiles is None else gpu.profiles)
    return ",".join(f"gpu:{name}:{n}" for name, n in sorted(counts.items(), key=_large_first))


def _large_first(item: tuple[str, int]) -> tuple[int, str]:
    head = item[0].partition("g.")[0]
    return (-int(head) if head.isdigit() else -100, item[0])
