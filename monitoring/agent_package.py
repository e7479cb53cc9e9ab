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


@cache
def _xids() -> Any:
    enable()
    from muster_agent.xid import Xids

    return Xids()
