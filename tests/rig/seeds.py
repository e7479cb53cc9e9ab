"""Courses of chance, shared out between the two modes: each runs once in `make test`, every other one on each database."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from tests.rig.environment import MODES


def shared_out(seeds: Sequence[int], mode: str, *, wants_all: bool) -> Sequence[int]:
    """Those for a mode; the embedded one has the odd one more."""
    return seeds if wants_all else seeds[MODES.index(mode) :: len(MODES)]


def courses(seeds: Sequence[int]) -> pytest.MarkDecorator:
    """Gives a test its `seed`. MUSTER_TEST_SEEDS=all: all of them in this mode."""
    wants_all = os.environ.get("MUSTER_TEST_SEEDS") == "all"
    return pytest.mark.parametrize("seed", shared_out(seeds, os.environ["MUSTER_TEST_MODE"], wants_all=wants_all))
