"""Network in NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from alone import Alone
from data import Digits, Split


class Engine(Alone):
    """64 pixels -> 64 hidden (ReLU) -> 10 classes (softmax), SGD in batches of 128."""

    name = f"NumPy {np.__version__}"
    rate = 0.004
    batch = 128

    def __init__(self, split: Split, seed: int, hidden: int = 64):
        self.learnt, self.unseen = _arrays(split.train), _arrays(split.test)
        self.random = np.random.default_rng(seed)
        self.first = self.random.normal(0, np.sqrt(2 / 64), (65, hidden))
        self.second = self.random.normal(0, np.sqrt(2 / hidden), (hidden + 1, 10))

    def train(self, rate: float) -> float:
        """Train one epoch in random order and return the mean loss."""
        images, labels = self.learnt
        order = self.random.permutation(len(labels))
        batches = [order[at : at + self.batch] for at in range(0, len(order), self.batch)]
        return float(
            sum(self._learn(images[rows], labels[rows], rate) for rows in batches) / len(order)
        )

    def accuracy(self) -> float:
        """Return the accuracy on unseen digits, 0..1."""
        images, labels = self.unseen
        scores = self._hidden(images) @ self.second
        return float((scores.argmax(axis=1) == labels).mean())

    def save(self, folder: Path) -> Path:
        path = folder / "model.npz"
        np.savez(path, first=self.first, second=self.second)
        return path

    def load(self, folder: Path) -> None:
        with np.load(folder / "model.npz") as state:
            self.first, self.second = state["first"], state["second"]

    def _hidden(self, images: np.ndarray) -> np.ndarray:
        return _with_bias(np.maximum(0, images @ self.first))

    def _learn(self, images: np.ndarray, labels: np.ndarray, rate: float) -> float:
        hidden, rows = self._hidden(images), np.arange(len(labels))
        scores = hidden @ self.second
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        loss = -np.log(np.maximum(shares[rows, labels], 1e-12)).sum()
        shares[rows, labels] -= 1  # gradient of the loss with respect to the scores
        back = (shares @ self.second.T)[:, :-1] * (hidden[:, :-1] > 0)
        self.second -= rate / len(rows) * hidden.T @ shares
        self.first -= rate / len(rows) * images.T @ back
        return float(loss)


def _arrays(digits: Digits) -> tuple[np.ndarray, np.ndarray]:
    return _with_bias(np.array(digits.images)), np.array(digits.labels)


def _with_bias(rows: np.ndarray) -> np.ndarray:
    return np.hstack([rows, np.ones((len(rows), 1))])
