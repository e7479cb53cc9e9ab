"""Celery reconnects soon after an outage of Redis."""

from __future__ import annotations

import pytest
from kombu.exceptions import OperationalError

from portal.celery import app
from tests.rig.processes import free_port


def test_unavailable_broker_is_retried_within_a_second():
    pauses: list[float] = []
    connection = app.connection_for_read(url=f"redis://127.0.0.1:{free_port()}/0")
    with pytest.raises(OperationalError):
        connection.ensure_connection(lambda error, pause: pauses.append(pause), max_retries=3)
    assert pauses == pytest.approx([0.2, 0.4, 0.6])


def test_unavailable_broker_is_retried_without_limit():
    assert app.conf.broker_connection_max_retries is None
