"""Free GPUs by model: what the largest job is that fits now, and how scattered they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from clusters.node_capacity import NodeUsage
from schedulers.shares import share_of


@dataclass
class FreeGpus:
    """GPUs of one model on a set of nodes.

    `free` are those of nodes that take new jobs, `off` the unused ones of the others. `by_size` is
    the number of nodes by their number of free GPUs. `whole` counts nodes on which no GPU is used.
    """

    total: int = 0
    free: int = 0
    off: int = 0
    whole: int = 0
    whole_gpus: int = 0
    by_size: Counter[int] = field(default_factory=Counter)

    @property
    def used(self) -> int:
        return self.total - self.free - self.off

    @property
    def largest(self) -> int:
        """The most GPUs that one job can get on one node now."""
        return max(self.by_size, default=0)

    @property
    def scattered(self) -> int:
        """Free GPUs on nodes that are partly used: too few together for a job of whole nodes."""
        return self.free - self.whole_gpus

    @property
    def fragmentation(self) -> float:
        """The scattered part of the free GPUs, 0 to 1."""
        return self.scattered / self.free if self.free else 0.0

    @property
    def sizes(self) -> list[tuple[int, int]]:
        """Pairs of free GPUs and the number of nodes with that many, most first."""
        return sorted(self.by_size.items(), reverse=True)

    def add(self, total: int, free: int, *, is_up: bool) -> None:
        self.total += total
        if not is_up:
            self.off += free
            return
        self.free += free
        if free:
            self.by_size[free] += 1
        if free == total:
            self.whole += 1
            self.whole_gpus += free


def free_by_model(machines: Iterable[NodeUsage]) -> dict[str, FreeGpus]:
    """Return the GPUs of these nodes by model.

    On a node with several models of which some are used, each counts as used: what is called free
    is free.
    """
    found: dict[str, FreeGpus] = {}
    for machine in machines:
        for model, total in machine.gpus.items():
            free = machine.capacity.free[f"gpu.{model}"]
            if not share_of(model):
                free = min(free, machine.capacity.free["gpu"])
            found.setdefault(model, FreeGpus()).add(
                total, free, is_up=machine.node.state == "ready"
            )
    return dict(sorted(found.items()))
