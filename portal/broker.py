"""Celery's connection to Redis, which comes back soon after Redis does."""

from __future__ import annotations

from typing import Any

from celery.app.amqp import AMQP
from kombu import Connection


class Eager(Connection):  # type: ignore[misc]
    """Tries again after 0.2, 0.4 … 3 seconds; Celery's own after 2, 4 … 30, which is how long jobs then wait."""

    def ensure_connection(
        self, errback: Any = None, max_retries: Any = None, **options: Any
    ) -> Any:
        pauses = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 3.0}
        return super().ensure_connection(errback, max_retries, **{**pauses, **options})


class Broker(AMQP):  # type: ignore[misc]
    """What Celery asks for its connections."""

    Connection = Eager
    BrokerConnection = Eager
