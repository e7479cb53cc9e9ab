"""Larger network in PyTorch, on a GPU if the job has one, and on all its nodes."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import torch
from data import Digits, Split
from torch import distributed, nn
from torch.distributed import distributed_c10d
from torch.nn.parallel import DistributedDataParallel

PARTING = timedelta(minutes=1)


class Engine:
    """64 pixels -> 256 -> 256 hidden (ReLU) -> 10 classes, SGD in batches of 128."""

    learns_together = True
    rate = 0.1
    batch = 128

    def __init__(self, split: Split, seed: int, hidden: int = 256):
        torch.manual_seed(seed)  # the same on all ranks: equal weights and order
        self.rank, self.ranks = _ranks()
        self.device = _device()
        self.name = f"PyTorch {torch.__version__} on {self._device_name()}" + (
            f", {self.ranks} ranks" if self.ranks > 1 else ""
        )
        self.learnt, self.unseen = self._tensors(split.train), self._tensors(split.test)
        layers = (
            nn.Linear(64, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 10),
        )
        self.model = nn.Sequential(*layers).to(self.device)
        self.shared = self._joined() if self.ranks > 1 else self.model
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.rate)

    def train(self, rate: float) -> float:
        """Train one epoch in random order and return the mean loss."""
        self.optimizer.param_groups[0]["lr"] = rate
        images, labels = self.learnt
        total = torch.zeros((), device=self.device)
        for batch in torch.randperm(len(labels), device=self.device).split(self.batch):
            rows = batch[self.rank :: self.ranks]  # this rank's share of the batch
            loss = nn.functional.cross_entropy(self.shared(images[rows]), labels[rows])
            self.optimizer.zero_grad()
            loss.backward()  # with several ranks, gradients are averaged
            self.optimizer.step()
            total += loss.detach() * len(rows)
        if self.ranks > 1:
            distributed.all_reduce(total)
        return float(total) / len(labels)

    def agreed(self, value: float) -> float:
        """Return the first rank's `value`."""
        if self.ranks == 1:
            return value
        tensor = torch.tensor([value], device=self.device)
        distributed.broadcast(tensor, src=0)
        return float(tensor)

    def accuracy(self) -> float:
        """Return the accuracy on unseen digits, 0..1."""
        images, labels = self.unseen
        with torch.no_grad():
            return float((self.model(images).argmax(dim=1) == labels).float().mean())

    def save(self, folder: Path) -> Path:
        path = folder / "model.pt"
        torch.save(self.model.state_dict(), path)
        return path

    def load(self, folder: Path) -> None:
        path = folder / "model.pt"
        self.model.load_state_dict(torch.load(path, map_location=self.device, weights_only=True))

    def leave(self, is_well: bool) -> None:
        """Leave the process group together; after an error, do not wait for others."""
        if self.ranks > 1:
            try:
                if is_well:
                    self._part()
            finally:
                distributed.destroy_process_group()

    def _part(self) -> None:
        """Let rank 0, which hosts the store, leave last: gloo resets its connections on close."""
        distributed.barrier()
        store = distributed_c10d._get_default_store()  # noqa: SLF001  no public API
        if self.rank:
            store.set(f"left{self.rank}", "")
        else:
            store.wait([f"left{rank}" for rank in range(1, self.ranks)], PARTING)

    def _joined(self) -> DistributedDataParallel:
        distributed.init_process_group(
            "nccl" if self.device.type == "cuda" else "gloo", rank=self.rank, world_size=self.ranks
        )
        return DistributedDataParallel(self.model)

    def _device_name(self) -> str:
        return torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "the CPU"

    def _tensors(self, digits: Digits) -> tuple[torch.Tensor, torch.Tensor]:
        images = torch.tensor(digits.images, dtype=torch.float32, device=self.device)
        return images, torch.tensor(digits.labels, device=self.device)


def _ranks() -> tuple[int, int]:
    """Return rank and world size: one rank per node, or those of torchrun.

    Ranks meet at MASTER_ADDR and MASTER_PORT.
    """
    own, all_of_them = (
        ("RANK", "WORLD_SIZE") if "TORCHELASTIC_RUN_ID" in os.environ else ("NODE_RANK", "NNODES")
    )
    return int(os.environ.get(own, "0")), int(os.environ.get(all_of_them, "1"))


def _device() -> torch.device:
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
