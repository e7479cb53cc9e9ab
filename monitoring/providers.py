"""What this app answers to the layers below it (docs/design/layout.md)."""

from __future__ import annotations

from monitoring.what_if import what_if

POOL_REQUEST_EFFECTS = (what_if,)
