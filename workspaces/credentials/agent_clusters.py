"""Which clusters exist, for tokens of node agents. `clusters`, a layer above, registers itself."""

from __future__ import annotations

from collections.abc import Callable

_registered: list[Callable[[], list[str]]] = []


def register(names: Callable[[], list[str]]) -> None:
    _registered[:] = [names]


def cluster_names() -> list[str]:
    """Return the names of all clusters, sorted."""
    return _registered[0]()


def has_cluster(name: str) -> bool:
    return name in cluster_names()
