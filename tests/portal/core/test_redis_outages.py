"""A Redis that hangs costs a process one short time-out, not one a call."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest
from celery import current_app

from portal.core import cache, redis_bus, redis_outages, wakeups
from portal.core.cache import ForgivingRedisCache
from portal.core.redis_bus import RedisBus
from portal.core.redis_outages import TIMEOUT, CircuitBreaker
from tests.rig.processes import Folder
from tests.rig.redis import Redis, start_redis


@pytest.fixture
def server() -> Iterator[Redis]:
    folder = Folder()
    yield start_redis(folder)
    folder.close()


def test_redis_that_hangs_is_waited_for_once_by_all_clients(server, monkeypatch):
    breaker = CircuitBreaker()
    for module in (cache, redis_bus, wakeups):
        monkeypatch.setattr(module, "breaker", breaker)
    monkeypatch.setattr(redis_outages, "PAUSE", 30.0)
    monkeypatch.setattr(wakeups, "_send", None)
    monkeypatch.setattr(wakeups, "_debouncer", wakeups._Debouncer())
    monkeypatch.setattr("django.conf.settings.MUSTER_EMBEDDED", False)
    monkeypatch.setattr(current_app.conf, "broker_url", server.url)
    wakeups._producers.cache_clear()
    store, bus = ForgivingRedisCache(server.url, {}), RedisBus(server.url)
    store.set("a", 1)
    wakeups._wake("jobs.dispatch")
    os.kill(server.pid, signal.SIGSTOP)
    began = time.monotonic()
    assert (store.get("a"), store.add("b", 1), store.incr("a"), "a" in store) == (None, 1, 1, False)
    store.set_many({"c": 1})
    store.delete_many(["c"])
    wakeups._wake("jobs.watch")
    assert bus.was_watched("jobs:x")
    waited = time.monotonic() - began
    os.kill(server.pid, signal.SIGCONT)
    assert TIMEOUT <= waited < 4 * TIMEOUT
    assert store.get("a") is None  # not asked before the pause is over
    monkeypatch.setattr(breaker, "_paused_until", 0.0)
    assert (store.get("a"), store.get("a")) == (1, 1)
    wakeups._producers.cache_clear()


def test_pause_that_ends_lets_one_call_try():
    breaker = CircuitBreaker()
    breaker.failed()
    assert not breaker.may_call()
    breaker._paused_until = 0.0
    assert [breaker.may_call() for _ in range(3)] == [True, False, False]
    breaker.succeeded()
    assert [breaker.may_call() for _ in range(3)] == [True, True, True]
