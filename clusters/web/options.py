"""The form of a backend's options. Drawn from the Config; no backend is known by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusters.backend_options import options_of
from clusters.backends import secrets_set
from clusters.models import Cluster
from portal.web import options
from portal.web.options import tried

__all__ = ["fields", "given", "tried"]


def given(request: Any, kind: str, cluster: Cluster | None = None) -> dict[str, Any]:
    """What the form said; of a cluster that is there, what stands at its default and was never set stays unset."""
    return options.given(request, options_of(kind), cluster.config if cluster else None)


def fields(
    request: Any, kind: str, faults: Mapping[str, str], cluster: Cluster | None = None
) -> dict[str, Any]:
    """The fields as a page draws them."""
    return options.fields(
        request,
        options_of(kind),
        faults,
        cluster.config if cluster else None,
        secrets_set(cluster) if cluster else (),
    )
