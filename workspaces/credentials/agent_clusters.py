"""Which clusters exist, for tokens of node agents. `clusters`, a layer above, answers."""

from __future__ import annotations

from portal.core.declarations import declared


def cluster_names() -> list[str]:
    """Return the names of all clusters, sorted."""
    return [name for names in declared("providers", "CLUSTER_NAMES") for name in names()]


def has_cluster(name: str) -> bool:
    return name in cluster_names()
