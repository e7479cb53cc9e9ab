"""Random tests by seed: the first few in `make test`, all in `make test-all`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def courses(seeds: Sequence[int], *, few: int = 2) -> pytest.MarkDecorator:
    """Parametrize a test by `seed`; those after the first `few` are marked `integration`."""
    rest = [pytest.param(seed, marks=pytest.mark.integration) for seed in seeds[few:]]
    return pytest.mark.parametrize("seed", [*seeds[:few], *rest])
