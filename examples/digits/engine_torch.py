"""A larger network in PyTorch, on a GPU when the job has one."""

from __future__ import annotations

from pathlib import Path

import torch
from data import Digits, Split
from torch import nn


class Engine:
    """64 pixels -> 256 -> 256 hidden (ReLU) -> 10 classes, stochastic gradient descent in batches of 128."""

    rate = 0.01
    batch = 128

    def __init__(self, split: Split, seed: int, hidden: int = 256):
        torch.manual_seed(seed)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.name = f"PyTorch {torch.__version__} on {self._device_name()}"
        self.learnt, self.unseen = self._tensors(split.train), self._tensors(split.test)
        layers = (nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 10))
        self.model = nn.Sequential(*layers).to(self.device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.rate)

    def train(self, rate: float) -> float:
        """One pass over the digits to learn, in random order; answers the mean loss."""
        self.optimizer.param_groups[0]["lr"] = rate
        images, labels = self.learnt
        total = torch.zeros((), device=self.device)
        for rows in torch.randperm(len(labels), device=self.device).split(self.batch):
            loss = nn.functional.cross_entropy(self.model(images[rows]), labels[rows])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.detach() * len(rows)
        return float(total) / len(labels)

    def accuracy(self) -> float:
        """The share of unseen digits that are told right, 0..1."""
        images, labels = self.unseen
        with torch.no_grad():
            return float((self.model(images).argmax(dim=1) == labels).float().mean())

    def save(self, folder: Path) -> Path:
        path = folder / "model.pt"
        torch.save(self.model.state_dict(), path)
        return path

    def _device_name(self) -> str:
        return torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "the CPU"

    def _tensors(self, digits: Digits) -> tuple[torch.Tensor, torch.Tensor]:
        images = torch.tensor(digits.images, dtype=torch.float32, device=self.device)
        return images, torch.tensor(digits.labels, device=self.device)
