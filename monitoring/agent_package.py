"""Import from the agent, a separate package in the folder `agent`."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from django.conf import settings


def enable() -> None:
    """Make `muster_agent` importable."""
    package = str(settings.ROOT / "agent")
    if package not in sys.path:
        sys.path.append(package)


def explain_xid(code: int) -> dict[str, str]:
    """Return `meaning` and `action` ("drain", "program" or "watch") of an XID code."""
    found: dict[str, str] = _xids().explain(code)
    return found


def is_possible(value: float, unit: str) -> bool:
    """Return whether a sensor can have measured this value; the agent leaves out others, too."""
    return bool(_is_possible()(value, unit))


@cache
def _is_possible() -> Any:
    enable()
    from muster_agent.sample import is_possible

    return is_possible


@cache
def _xids() -> Any:
    enable()
    from muster_agent.xid import Xids

    return Xids()
