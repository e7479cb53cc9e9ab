"""Base of engines that train on one node only."""

from __future__ import annotations

import os


class Alone:
    """Train on the first node; the others do nothing."""

    learns_together = False
    rank = int(os.environ.get("NODE_RANK", "0"))

    def agreed(self, value: float) -> float:
        """Return the first node's `value`."""
        return value
