"""Connect Celery to Redis with short retry intervals."""

from __future__ import annotations

from typing import Any

from celery.app.amqp import AMQP
from kombu import Connection


class QuickRetryConnection(Connection):  # type: ignore[misc]
    """Retries after 0.2, 0.4 … 3 seconds instead of Celery's 2, 4 … 30, which would delay jobs."""

    def ensure_connection(
        self, errback: Any = None, max_retries: Any = None, **options: Any
    ) -> Any:
        pauses = {"interval_start": 0.2, "interval_step": 0.2, "interval_max": 3.0}
        return super().ensure_connection(errback, max_retries, **{**pauses, **options})


class Broker(AMQP):  # type: ignore[misc]
    """Makes Celery use that connection class."""

    Connection = QuickRetryConnection
    BrokerConnection = QuickRetryConnection
