"""What an engine is that learns on one node, whatever the number of nodes."""

from __future__ import annotations

import os


class Alone:
    """The first node learns; the others have nothing to do."""

    learns_together = False
    rank = int(os.environ.get("NODE_RANK", "0"))

    def agreed(self, value: float) -> float:
        """The first node's `value`."""
        return value
