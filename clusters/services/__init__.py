"""Services and selectors of clusters: connections, credentials, nodes and pools."""

from __future__ import annotations

from clusters.backends import backend_of, ensure_first_cluster

__all__ = ["backend_of", "ensure_first_cluster"]
