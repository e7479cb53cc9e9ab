"""Wake-ups are limited: one at once, later ones combined, none lost."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from celery import current_app

from portal.core import wakeups


@pytest.fixture
def rung(monkeypatch) -> list[str]:
    made: list[str] = []
    monkeypatch.setattr(wakeups, "_send", None)
    monkeypatch.setattr(wakeups, "_ring", made.append)
    monkeypatch.setattr(wakeups, "_bell", wakeups._Debouncer())
    monkeypatch.setattr("django.conf.settings.MUSTER_EMBEDDED", False)
    return made


def test_burst_of_wakeups_is_sent_twice(rung, wait_for):
    for _ in range(50):
        wakeups._tap("jobs.dispatch")
    assert rung == ["jobs.dispatch"]
    wait_for(lambda: len(rung) == 2, 5)
    assert rung == ["jobs.dispatch"] * 2


def test_separate_wakeups_are_sent_each(rung, wait_for):
    wakeups._tap("jobs.dispatch")
    wait_for(lambda: not wakeups._bell._resting, 5)
    assert rung == ["jobs.dispatch"]
    wakeups._tap("jobs.dispatch")
    assert rung == ["jobs.dispatch"] * 2


def test_continuous_wakeups_are_sent_with_growing_pauses(rung, wait_for):
    began = time.monotonic()
    while time.monotonic() - began < 0.6:
        wakeups._tap("jobs.dispatch")
        time.sleep(0.001)
    assert 2 <= len(rung) <= 2 + 0.6 / wakeups.LONGEST + 2
    wait_for(lambda: not wakeups._bell._resting, 5)
    assert wakeups._bell._rest == {"jobs.dispatch": wakeups.REST}


def test_wakeups_are_limited_per_task(rung):
    wakeups._tap("jobs.dispatch")
    wakeups._tap("jobs.watch")
    assert rung == ["jobs.dispatch", "jobs.watch"]


def test_wakeup_with_unavailable_broker_is_lost_without_error(rung, monkeypatch, caplog):
    def refuse(task: str) -> None:
        raise ConnectionError("refused")

    monkeypatch.setattr(wakeups, "_ring", refuse)
    wakeups._tap("jobs.dispatch")
    assert "was lost: refused" in caplog.text


def test_wakeup_with_unresponsive_broker_waits_once_and_briefly(monkeypatch):
    monkeypatch.setattr(wakeups, "_send", None)
    monkeypatch.setattr(wakeups, "_bell", wakeups._Debouncer())
    monkeypatch.setattr(wakeups, "_away_until", 0.0)
    monkeypatch.setattr("django.conf.settings.MUSTER_EMBEDDED", False)
    wakeups._producers.cache_clear()
    with socket.create_server(
        ("127.0.0.1", 0)
    ) as silent:  # accepts connections but never answers, like a stopped Redis
        monkeypatch.setattr(
            current_app.conf, "broker_url", f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        )
        request = threading.Thread(
            target=lambda: (wakeups._tap("jobs.dispatch"), wakeups._tap("jobs.watch")), daemon=True
        )
        request.start()
        request.join(4)  # mostly for importing the transport
        assert not request.is_alive()
    wakeups._producers.cache_clear()
