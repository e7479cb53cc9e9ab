"""Form of a backend's options, built from its Config; no backend is known by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusters.backend_options import options_of
from clusters.backends import secrets_set
from clusters.models import Cluster
from portal.web import options
from portal.web.options import test_and_store

__all__ = ["fields", "submitted_values", "test_and_store"]


def submitted_values(request: Any, kind: str, cluster: Cluster | None = None) -> dict[str, Any]:
    """Return the submitted options.

    A field of an existing cluster that is left at its default stays unset.
    """
    return options.submitted_values(request, options_of(kind), cluster.config if cluster else None)


def fields(
    request: Any, kind: str, faults: Mapping[str, str], cluster: Cluster | None = None
) -> dict[str, Any]:
    """Return the fields as the page renders them."""
    return options.fields(
        request,
        options_of(kind),
        faults,
        cluster.config if cluster else None,
        secrets_set(cluster) if cluster else (),
    )
