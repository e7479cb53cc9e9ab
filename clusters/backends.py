"""Create the backend of a cluster from its row."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from clusters.models import Cluster
from portal.core import vault
from schedulers import backends
from schedulers.contract import Backend, Closeable, Secret

PURPOSE = Cluster.SEALED["secrets"]
_lock = threading.Lock()
_made: dict[UUID, tuple[str, Backend]] = {}


def backend_of(cluster: Cluster) -> Backend:
    """Return the cluster's backend, cached per process until the configuration changes."""
    fingerprint = (
        f"{cluster.backend} {sorted(cluster.config.items())} {bytes(cluster.secrets).hex()}"
    )
    with _lock:
        known = _made.get(cluster.id)
        if known is None or known[0] != fingerprint:
            known = _made[cluster.id] = (
                fingerprint,
                make(cluster.backend, {**cluster.config, **secrets_of(cluster)}),
            )
        return known[1]


def forget_backends() -> None:
    """Forget all backends, and close those that have threads; for tests."""
    with _lock:
        while _made:
            _, backend = _made.popitem()[1]
            if isinstance(backend, Closeable):
                backend.close()


def make(backend: str, options: Mapping[str, Any]) -> Backend:
    """Create a backend from its options."""
    kind: Any = backends()[backend]
    return kind.configured({"home": str(settings.MUSTER_HOME), **options})  # type: ignore[no-any-return]


def secrets_of(cluster: Cluster) -> dict[str, Secret]:
    """Return the decrypted secret options of the cluster. Raises vault.Unreadable."""
    if not cluster.secrets:
        return {}
    return {
        name: Secret(value)
        for name, value in orjson.loads(vault.decrypt(bytes(cluster.secrets), PURPOSE)).items()
    }


def secrets_set(cluster: Cluster) -> list[str]:
    """Return the names of the secret options that are set and can be decrypted."""
    try:
        return sorted(secrets_of(cluster))
    except vault.Unreadable:
        return []


def sealed(secrets: Mapping[str, str]) -> bytes:
    """Encrypt secret options for the cluster's row."""
    return vault.encrypt(orjson.dumps(dict(secrets)), PURPOSE) if secrets else b""


def ensure_first_cluster() -> None:
    """Connect the local machine as the first cluster of a fresh installation."""
    if settings.MUSTER_FIRST_BACKEND and not Cluster.objects.exists():
        Cluster.objects.get_or_create(
            name=settings.MUSTER_FIRST_BACKEND, defaults={"backend": settings.MUSTER_FIRST_BACKEND}
        )
