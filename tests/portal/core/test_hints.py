"""Wake-ups are limited: one at once, later ones combined, none lost."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from celery import current_app

from portal.core import wakeups
from portal.core.redis_outages import CircuitBreaker


@pytest.fixture
def sent(monkeypatch) -> list[str]:
    made: list[str] = []
    monkeypatch.setattr(wakeups, "_send", None)
    monkeypatch.setattr(wakeups, "_send_task", made.append)
    monkeypatch.setattr(wakeups, "breaker", CircuitBreaker())
    monkeypatch.setattr(wakeups, "_debouncer", wakeups._Debouncer())
    monkeypatch.setattr("django.conf.settings.MUSTER_EMBEDDED", False)
    return made


def test_burst_of_wakeups_is_sent_twice(sent, wait_for):
    for _ in range(50):
        wakeups._wake("jobs.dispatch")
    assert sent == ["jobs.dispatch"]
    wait_for(lambda: len(sent) == 2, 5)
    assert sent == ["jobs.dispatch"] * 2


def test_separate_wakeups_are_sent_each(sent, wait_for):
    wakeups._wake("jobs.dispatch")
    wait_for(lambda: not wakeups._debouncer._pending, 5)
    assert sent == ["jobs.dispatch"]
    wakeups._wake("jobs.dispatch")
    assert sent == ["jobs.dispatch"] * 2


def test_continuous_wakeups_are_sent_with_growing_pauses(sent, wait_for):
    began = time.monotonic()
    while time.monotonic() - began < 0.6:
        wakeups._wake("jobs.dispatch")
        time.sleep(0.001)
    assert 2 <= len(sent) <= 2 + 0.6 / wakeups.LONGEST + 2
    wait_for(lambda: not wakeups._debouncer._pending, 5)
    assert wakeups._debouncer._pause == {"jobs.dispatch": wakeups.REST}


def test_wakeups_are_limited_per_task(sent):
    wakeups._wake("jobs.dispatch")
    wakeups._wake("jobs.watch")
    assert sent == ["jobs.dispatch", "jobs.watch"]


def test_wakeup_with_unavailable_broker_is_lost_without_error(sent, monkeypatch, caplog):
    def refuse(task: str) -> None:
        raise ConnectionError("refused")

    monkeypatch.setattr(wakeups, "_send_task", refuse)
    wakeups._wake("jobs.dispatch")
    assert "was lost: refused" in caplog.text


def test_wakeup_with_unresponsive_broker_waits_once_and_briefly(monkeypatch):
    monkeypatch.setattr(wakeups, "_send", None)
    monkeypatch.setattr(wakeups, "_debouncer", wakeups._Debouncer())
    monkeypatch.setattr(wakeups, "breaker", CircuitBreaker())
    monkeypatch.setattr("django.conf.settings.MUSTER_EMBEDDED", False)
    wakeups._producers.cache_clear()
    with socket.create_server(
        ("127.0.0.1", 0)
    ) as silent:  # accepts connections but never answers, like a stopped Redis
        monkeypatch.setattr(
            current_app.conf, "broker_url", f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        )
        request = threading.Thread(
            target=lambda: (wakeups._wake("jobs.dispatch"), wakeups._wake("jobs.watch")),
            daemon=True,
        )
        request.start()
        request.join(4)  # mostly for importing the transport
        assert not request.is_alive()
    wakeups._producers.cache_clear()
