"""Celery wakes workers; the database is the queue.

Each task also runs periodically (SCHEDULE of the apps' `tasks.py`), so a lost message only adds
latency.
"""

from __future__ import annotations

from portal.settings.muster import MUSTER_REDIS_URL

CELERY_BROKER_URL = MUSTER_REDIS_URL or "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "retry_policy": {"max_retries": 0},
    "polling_interval": 4,  # seconds of one BRPOP, which returns early for a message
}
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # no limit
CELERY_TASK_PUBLISH_RETRY = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TASK_ACKS_LATE = False
# Connections live as long as Django's (CONN_MAX_AGE; see portal.celery), not for one task.
CELERY_DB_REUSE_MAX = 1 << 62
