"""Python SDK of Muster: `Client` for programs, `log` for training scripts inside a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muster.client import Client
    from muster.errors import (
        Conflict,
        InvalidInput,
        MusterError,
        NotAuthenticated,
        NotFound,
        NotPermitted,
        QuotaExceeded,
        RateLimited,
        Unavailable,
    )
    from muster.records import Attempt, Job
    from muster.training import Run, init, log, log_artifact, log_param, log_params, set_tags

__all__ = [
    "Attempt",
    "Client",
    "Conflict",
    "InvalidInput",
    "Job",
    "MusterError",
    "NotAuthenticated",
    "NotFound",
    "NotPermitted",
    "QuotaExceeded",
    "RateLimited",
    "Run",
    "Unavailable",
    "init",
    "log",
    "log_artifact",
    "log_param",
    "log_params",
    "set_tags",
]
__version__ = "0.1.0"

_HOMES = {
    "Client": "muster.client",
    **dict.fromkeys(
        ("Run", "init", "log", "log_artifact", "log_param", "log_params", "set_tags"),
        "muster.training",
    ),
    "Job": "muster.records",
    "Attempt": "muster.records",
}


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that the CLI and `muster.log` stay light."""
    if name not in __all__:
        raise AttributeError(f"module 'muster' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "muster.errors")), name)
