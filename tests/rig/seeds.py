"""How much of what has many cases runs in `make test`; all of it runs in `make test-all`."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from zlib import crc32

import pytest

# Parametrizes a walk over all routes: `is_whole` is true in `make test-all` only.
WALKS = pytest.mark.parametrize(
    "is_whole", [False, pytest.param(True, marks=pytest.mark.integration)]
)


def courses(seeds: Sequence[int], *, few: int = 2) -> pytest.MarkDecorator:
    """Parametrize a test by `seed`; those after the first `few` are marked `integration`."""
    rest = [pytest.param(seed, marks=pytest.mark.integration) for seed in seeds[few:]]
    return pytest.mark.parametrize("seed", [*seeds[:few], *rest])


def examples(count: int) -> int:
    """Return how many examples Hypothesis draws: a quarter in the gate, at least 20."""
    return count if "MUSTER_TEST_ALL" in os.environ else min(count, max(count // 4, 20))


def is_chosen(*case: object, one_in: int) -> bool:
    """Return whether a case is in the sample of the gate, by a hash that other cases do not change."""
    return _hash(case) % one_in == 0


def choose(some: Collection[str], *case: object) -> list[str]:
    """Return one of some names, or none of none, by a hash of the case."""
    names = sorted(some)
    return [names[_hash(case) % len(names)]] if names else []


def _hash(case: tuple[object, ...]) -> int:
    return crc32(" ".join(map(ascii, case)).encode())
