"""Test that expensive values are read rarely and that failed reads are no errors."""

from __future__ import annotations

import time

import pytest

from schedulers.cached import CachedValue
from schedulers.contract import Unavailable


class Source:
    def __init__(self) -> None:
        self.reads, self.error, self.takes = 0, False, 0.0

    def read(self) -> int:
        self.reads += 1
        time.sleep(self.takes)
        if self.error:
            raise Unavailable("no answer")
        return self.reads


def test_cached_value_is_read_once():
    source, kept = Source(), CachedValue("it", 60)
    assert [kept.current(source.read) for _ in range(3)] == [1, 1, 1]


def test_cached_value_is_read_again_when_due(wait_for):
    source, kept = Source(), CachedValue("it", 0.05)
    assert wait_for(lambda: kept.current(source.read) == 2)


@pytest.mark.parametrize(("takes", "each"), [(0.5, 0), (0, 0.5)])
def test_slow_or_popular_value_is_read_less_often(takes, each):
    source, kept = Source(), CachedValue("it", 0.01, each)
    source.takes = takes
    kept.current(source.read, asking=40)
    time.sleep(0.1)
    assert (kept.current(source.read, asking=40), source.reads) == (1, 1)


@pytest.mark.parametrize("outlives", [True, False])
def test_unreadable_value_is_none_or_previous(outlives, wait_for):
    source, kept = Source(), CachedValue("it", 0, outlives=outlives)
    kept.current(source.read)
    source.error = True
    assert wait_for(
        lambda: kept.current(source.read) == (1 if outlives else None) and source.reads > 1
    )
