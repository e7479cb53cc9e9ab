"""Run the portal as one process (embedded) or as a supervised stack (`--server`)."""

from __future__ import annotations

from portal.process.command import main

__all__ = ["main"]
