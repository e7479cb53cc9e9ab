"""A gateway with apps on loopback."""

from __future__ import annotations

from tests.rig.gateway import serving

__all__ = ["serving"]
