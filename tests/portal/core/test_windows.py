"""Rate limits count in blocks and never exceed the limit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import cache

from portal.core import rate_windows
from portal.core.ids import uuid7


@pytest.fixture
def at(monkeypatch):
    """Freeze a minute; `at(seconds)` moves within it."""
    now = [1_000_000_020]
    monkeypatch.setattr(rate_windows, "_seconds", lambda: now[0])
    return lambda seconds: now.__setitem__(0, now[0] + seconds)


def test_rate_window_counts_up_and_restarts_each_minute(at):
    who = str(uuid7())
    assert [rate_windows.take(who, 1000)[0] for _ in range(25)] == list(range(1, 26))
    at(60)
    assert rate_windows.take(who, 1000)[0] == 1


def test_rate_window_of_two_processes_never_exceeds_limit(at, monkeypatch):
    who, allowed, processes = str(uuid7()), 0, [{}, {}, {}]
    for n in range(900):
        monkeypatch.setattr(rate_windows, "_blocks", processes[n % 7 % 3])
        allowed += rate_windows.take(who, 500)[0] <= 500
    assert 500 - 5 * 2 <= allowed <= 500


def test_rate_window_counts_small_limit_exactly(at, monkeypatch):
    who, seen = str(uuid7()), []
    for blocks in ({}, {}):
        monkeypatch.setattr(rate_windows, "_blocks", blocks)
        seen += [rate_windows.take(who, 3)[0] for _ in range(2)]
    assert seen == [1, 2, 3, 4]


def test_rate_window_gives_threads_distinct_numbers(at):
    who = str(uuid7())
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: rate_windows.take(who, 1000)[0], range(400)))
    assert sorted(numbers) == list(range(1, 401))


def test_rate_window_uses_cache_rarely_and_drops_old_minutes(at, monkeypatch):
    requests = []
    monkeypatch.setattr(rate_windows, "_blocks", {})
    monkeypatch.setattr(
        cache, "incr", lambda key, size: requests.append(key) or len(requests) * size
    )
    for n in range(600):
        rate_windows.take(f"one-{n % 2}", 6000)
    assert len(requests) == 10
    at(60)
    rate_windows.take("another", 6000)
    assert set(rate_windows._blocks) == {"another"}
