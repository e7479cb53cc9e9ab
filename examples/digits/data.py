"""Dataset: 1,797 handwritten digits, 8 x 8 pixels of 0..16, from `digits.csv.gz` (SOURCE.md).

The file comes from the input `data` of the job if there is one, else it lies next to this program.
"""

from __future__ import annotations

import csv
import gzip
import os
import random
from pathlib import Path
from typing import NamedTuple

FILE = Path(os.environ.get("MUSTER_INPUT_DATA", Path(__file__).parent), "digits.csv.gz")


class Digits(NamedTuple):
    """Return pixels scaled to 0..1, 64 per row, and the label of each row (0..9)."""

    images: list[list[float]]
    labels: list[int]


class Split(NamedTuple):
    train: Digits
    test: Digits


def load(seed: int = 0) -> Split:
    """Split into four fifths for training and one for evaluation, deterministically."""
    with gzip.open(FILE, "rt", newline="") as lines:
        rows = [[int(float(cell)) for cell in row] for row in csv.reader(lines)]
    random.Random(seed).shuffle(rows)
    border = len(rows) * 4 // 5
    return Split(_digits(rows[:border]), _digits(rows[border:]))


def _digits(rows: list[list[int]]) -> Digits:
    return Digits([[pixel / 16 for pixel in row[:-1]] for row in rows], [row[-1] for row in rows])
