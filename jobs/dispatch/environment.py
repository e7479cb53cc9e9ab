"""The environment variables of an attempt, as they may be shown."""

from __future__ import annotations

from jobs.dispatch.launch import environment_for
from jobs.models import Attempt

SECRET_NAMES = frozenset({"MLFLOW_TRACKING_TOKEN", "MUSTER_TOKEN"})


def environment_of(attempt: Attempt) -> dict[str, str]:
    """Return the attempt's environment variables with secrets masked."""
    hidden = SECRET_NAMES | set(attempt.job.spec.get("secrets") or {})
    return {
        name: "••••••••" if name in hidden else value
        for name, value in environment_for(attempt).items()
    }
