"""Form of a backend's options, built from its Config; no backend is known by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusters.backend_options import config_of, options_of
from clusters.backends import secrets_set
from clusters.models import Cluster
from portal.core.options import ways_of
from portal.web import options
from portal.web.options import checks_of, test_and_store

__all__ = ["fields", "submitted_values", "test_and_store"]


def submitted_values(request: Any, kind: str, cluster: Cluster | None = None) -> dict[str, Any]:
    """Return the submitted options.

    A field of an existing cluster that is left at its default stays unset.
    """
    return options.submitted_values(
        request, options_of(kind), cluster.config if cluster else None, ways_of(config_of(kind))
    )


def fields(
    request: Any, kind: str, answer: Mapping[str, Any], cluster: Cluster | None = None
) -> dict[str, Any]:
    """Return the context of the form: its steps, and the `answer` of `test_and_store` as a checklist."""
    known, probe = options_of(kind), answer["probe"]
    return options.fields(
        request,
        known,
        answer["faults"],
        cluster.config if cluster else None,
        secrets_set(cluster) if cluster else (),
        ways_of(config_of(kind)),
    ) | {
        "error": answer["error"],
        "checks": checks_of(
            known, answer["faults"] if probe is None else {}, probe.checks if probe else ()
        ),
        "tested": "" if request.method != "POST" else _outcome(probe),
        "message": probe.message if probe else "",
    }


def _outcome(probe: Any) -> str:
    if probe is None:
        return "refused"
    return "ok" if probe.is_ok else "failed"
