"""Celery wakes workers; the database is the queue.

Each task also runs periodically, so a lost message only adds latency.
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
CELERY_BEAT_SCHEDULE = {
    "sweep": {
        "task": "jobs.sweep",
        "schedule": 5.0,
    },  # requests jobs.dispatch if there is something to start
    "compact-series": {"task": "monitoring.compact", "schedule": 300.0},
    "read-telemetry-sources": {"task": "monitoring.read_sources", "schedule": 5.0},
    "record-utilization": {"task": "jobs.record_utilization", "schedule": 60.0},
    "apply-idle-rules": {"task": "jobs.apply_idle_rules", "schedule": 60.0},
    "forget": {"task": "jobs.forget", "schedule": 60.0},
    "count-logs": {"task": "jobs.count_logs", "schedule": 15.0},
    "delete-logs": {"task": "jobs.delete_logs", "schedule": 60.0},
    "follow-jobs": {"task": "experiments.follow_jobs", "schedule": 3.0},
    "read-event-files": {"task": "experiments.read_event_files", "schedule": 5.0},
    "sweep-artifacts": {"task": "experiments.sweep_artifacts", "schedule": 3600.0},
    "workspace-usage": {"task": "datasets.workspace_usage", "schedule": 600.0},
    "run-imports": {"task": "datasets.run_imports", "schedule": 10.0},
    "dataset-retention": {"task": "datasets.retention", "schedule": 3600.0},
    "remove-trees": {"task": "datasets.remove_trees", "schedule": 3600.0},
    "purge-models": {"task": "registry.purge", "schedule": 3600.0},
    "purge-trash": {"task": "experiments.purge", "schedule": 3600.0},
    "pool-requests": {"task": "clusters.run_pool_requests", "schedule": 60.0},
    "update-ledger": {"task": "usage.update_ledger", "schedule": 120.0},
    "record-usage": {"task": "usage.record", "schedule": 600.0},
    "mig-plans": {"task": "clusters.advance_mig_plans", "schedule": 10.0},
    "check-health": {"task": "clusters.check_health", "schedule": 30.0},
    "end-approvals": {"task": "workspaces.end_approvals", "schedule": 60.0},
    "trim-audit": {"task": "workspaces.trim_audit", "schedule": 900.0},
    "sync-directories": {
        "task": "workspaces.sync_directories",
        "schedule": 60.0,
    },  # each directory has an interval of its own
    "forget-answers": {"task": "workspaces.tidy", "schedule": 600.0},
}
