"""The agent's version, told to the portal in every batch's facts."""

from __future__ import annotations

VERSION = "0.1.0"
