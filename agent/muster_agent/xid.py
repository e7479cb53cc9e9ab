"""Meanings and actions of XID codes, from `xid.toml` and an optional site table."""

from __future__ import annotations

import os
import tomllib
from functools import cached_property
from pathlib import Path

TABLE = Path(__file__).with_name("xid.toml")
UNKNOWN = {
    "meaning": "an XID that the table does not know; see NVIDIA's XID catalogue",
    "action": "watch",
}


class Xids:
    """Table of XID codes, read on first use. `site` defaults to the file in MUSTER_XID_TABLE."""

    def __init__(self, site: Path | None = None):
        named = os.environ.get("MUSTER_XID_TABLE")
        self._site = site or (Path(named) if named else None)

    def explain(self, code: int) -> dict[str, str]:
        """Return {"meaning", "action"}; action is "drain", "program" or "watch". Never raises."""
        return dict(self._table.get(code, UNKNOWN))

    @cached_property
    def _table(self) -> dict[int, dict[str, str]]:
        return read_table(TABLE) | (read_table(self._site) if self._site else {})


def read_table(path: Path) -> dict[int, dict[str, str]]:
    """Read a TOML table of codes; empty if invalid, since XIDs must be reported anyway."""
    try:
        raw = tomllib.loads(path.read_text())
        return {int(code): {**UNKNOWN, **row} for code, row in raw.items()}
    except (OSError, ValueError, TypeError):
        return {}
