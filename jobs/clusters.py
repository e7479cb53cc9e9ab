"""From a cluster's row to the backend that speaks to it."""

from __future__ import annotations

import threading
from typing import Any
from uuid import UUID

from django.conf import settings

from clusters.models import Cluster
from jobs.backends import backends
from jobs.backends.base import Backend

_lock = threading.Lock()
_made: dict[UUID, tuple[str, Backend]] = {}


def backend_of(cluster: Cluster) -> Backend:
    """One backend object per cluster and process, made anew when the configuration changes."""
    fingerprint = f"{cluster.backend} {sorted(cluster.config.items())}"
    with _lock:
        known = _made.get(cluster.id)
        if known is None or known[0] != fingerprint:
            known = _made[cluster.id] = (fingerprint, _make(cluster))
        return known[1]


def ensure_first_cluster() -> None:
    """A fresh installation computes on the machine it runs on."""
    if settings.MUSTER_FIRST_BACKEND and not Cluster.objects.exists():
        Cluster.objects.get_or_create(name=settings.MUSTER_FIRST_BACKEND, defaults={"backend": settings.MUSTER_FIRST_BACKEND})


def _make(cluster: Cluster) -> Backend:
    kind: Any = backends()[cluster.backend]
    return kind.configured({"home": str(settings.MUSTER_HOME), **cluster.config})  # type: ignore[no-any-return]
