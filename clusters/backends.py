"""From a cluster's row to the backend that speaks to it."""

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
from schedulers.contract import Backend, Secret

PURPOSE = Cluster.SEALED["secrets"]
_lock = threading.Lock()
_made: dict[UUID, tuple[str, Backend]] = {}


def backend_of(cluster: Cluster) -> Backend:
    """One backend object per cluster and process, made anew when the configuration changes."""
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


def make(backend: str, options: Mapping[str, Any]) -> Backend:
    """A backend object from its options."""
    kind: Any = backends()[backend]
    return kind.configured({"home": str(settings.MUSTER_HOME), **options})  # type: ignore[no-any-return]


def secrets_of(cluster: Cluster) -> dict[str, Secret]:
    """The secret fields of its configuration. Raises vault.Unreadable."""
    if not cluster.secrets:
        return {}
    return {
        name: Secret(value)
        for name, value in orjson.loads(vault.decrypt(bytes(cluster.secrets), PURPOSE)).items()
    }


def secrets_set(cluster: Cluster) -> list[str]:
    """The names of those that are set; those that can no longer be read are not."""
    try:
        return sorted(secrets_of(cluster))
    except vault.Unreadable:
        return []


def sealed(secrets: Mapping[str, str]) -> bytes:
    """Secret fields as a cluster's row keeps them."""
    return vault.encrypt(orjson.dumps(dict(secrets)), PURPOSE) if secrets else b""


def ensure_first_cluster() -> None:
    """A fresh installation computes on the machine it runs on."""
    if settings.MUSTER_FIRST_BACKEND and not Cluster.objects.exists():
        Cluster.objects.get_or_create(
            name=settings.MUSTER_FIRST_BACKEND, defaults={"backend": settings.MUSTER_FIRST_BACKEND}
        )
