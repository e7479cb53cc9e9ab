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

    `free` are those of nodes that take new jobs, `off` the unused ones of the others, `reserved` the
    unused ones that are kept for single teams. `by_size` is the number of nodes by their number of
    free GPUs. `whole` counts nodes on which no GPU is used or reserved.
    """

    total: int = 0
    free: int = 0
    off: int = 0
    reserved: int = 0
    whole: int = 0
    whole_gpus: int = 0
    by_size: Counter[int] = field(default_factory=Counter)

    @property
    def used(self) -> int:
        return self.total - self.free - self.off - self.reserved

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

    def add(self, total: int, free: int, reserved: int = 0, *, is_up: bool) -> None:
        """Count a node; `free` are its unused GPUs that are not reserved."""
        self.total += total
        if not is_up:
            self.off += free + reserved
            return
        self.reserved += reserved
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
            unused, free = (
                capacity.free[f"gpu.{model}"]
                if share_of(model)
                else min(capacity.free[f"gpu.{model}"], capacity.free["gpu"])
                for capacity in (machine.capacity, machine.open_capacity)
            )
            found.setdefault(model, FreeGpus()).add(
                total, free, unused - free, is_up=machine.node.state == "ready"
            )
    return dict(sorted(found.items()))
