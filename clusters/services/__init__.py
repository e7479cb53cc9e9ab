"""Clusters: connecting them, speaking to them, their nodes and pools. Services and selectors are in the modules."""

from __future__ import annotations

from clusters.backends import backend_of, ensure_first_cluster

__all__ = ["backend_of", "ensure_first_cluster"]
