"""Muster from Python: `Client` for programs, `log` for training scripts inside a job."""

from __future__ import annotations

from typing import Any

__all__ = ["Client", "MusterError", "log"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imported when first used, so that the command line starts fast."""
    if name in {"Client", "MusterError"}:
        from muster import client

        return getattr(client, name)
    if name == "log":
        from muster.training import log

        return log
    raise AttributeError(name)
