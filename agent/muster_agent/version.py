"""The agent's version, reported in the facts of each batch."""

from __future__ import annotations

VERSION = "0.1.0"
