"""Network in pure Python: slow, but runs everywhere."""

from __future__ import annotations

import json
import math
import random
from operator import mul
from pathlib import Path

from alone import Alone
from data import Split

Matrix = list[list[float]]


class Engine(Alone):
    """64 pixels -> 32 hidden (ReLU) -> 10 classes (softmax), SGD with a batch size of one."""

    name = "plain Python"
    rate = 0.003

    def __init__(self, split: Split, seed: int, hidden: int = 32):
        self.split = split
        self.random = random.Random(seed)
        self.first = self._weights(hidden, 65)  # one more column for the bias
        self.second = self._weights(10, hidden + 1)

    def train(self, rate: float) -> float:
        """Train one epoch in random order and return the mean loss."""
        digits = self.split.train
        order = list(range(len(digits.labels)))
        self.random.shuffle(order)
        return sum(
            self._learn([*digits.images[at], 1.0], digits.labels[at], rate) for at in order
        ) / len(order)

    def accuracy(self) -> float:
        """Return the accuracy on unseen digits, 0..1."""
        right = 0
        for image, label in zip(self.split.test.images, self.split.test.labels):
            scores = _times(self.second, self._hidden([*image, 1.0]))
            right += scores.index(max(scores)) == label
        return right / len(self.split.test.labels)

    def save(self, folder: Path) -> Path:
        path = folder / "model.json"
        path.write_text(json.dumps({"first": self.first, "second": self.second}))
        return path

    def load(self, folder: Path) -> None:
        state = json.loads((folder / "model.json").read_text())
        self.first, self.second = state["first"], state["second"]

    def _weights(self, rows: int, columns: int) -> Matrix:
        spread = math.sqrt(2 / columns)
        return [[self.random.gauss(0, spread) for _ in range(columns)] for _ in range(rows)]

    def _hidden(self, image: list[float]) -> list[float]:
        return [*(max(0.0, value) for value in _times(self.first, image)), 1.0]

    def _learn(self, image: list[float], label: int, rate: float) -> float:
        hidden = self._hidden(image)
        shares = _softmax(_times(self.second, hidden))
        loss = -math.log(max(shares[label], 1e-12))
        shares[label] -= 1  # gradient of the loss with respect to the scores
        back = [sum(map(mul, shares, column)) for column in zip(*self.second)]
        for row, slope in zip(self.second, shares):
            _step(row, hidden, rate * slope)
        for row, slope, value in zip(self.first, back, hidden):
            if value > 0:
                _step(row, image, rate * slope)
        return loss


def _times(matrix: Matrix, vector: list[float]) -> list[float]:
    return [sum(map(mul, row, vector)) for row in matrix]


def _softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


def _step(row: list[float], inputs: list[float], size: float) -> None:
    row[:] = [weight - size * value for weight, value in zip(row, inputs)]
