"""The GPU overview: all GPUs of all clusters. One short row per node keeps 16,000 GPUs small."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import orjson

from clusters.models import Cluster
from monitoring.inventory import inventory_snapshot
from monitoring.nodes import jobs_visible_to, placements
from portal.core import clock
from schedulers import backends, capabilities_of
from schedulers.contract import Capability
from workspaces.access.actors import Actor

STATES = ("ready", "drained", "down")
_SHOWN = ("id", "name", "backend", "trouble", "inventory")


def wall_of(actor: Actor) -> dict[str, Any]:
    """Return the overview for an actor.

    `nodes` holds rows of [name, cluster, state, GPUs, bits of used GPUs, types, partitions] as
    ready JSON, in which words are indexes into the lists next to it. `jobs` holds the jobs that the
    actor may see, by index into `nodes`. A cluster is `is_exact` if it is known which of its GPUs
    are used; otherwise only their number is known, and the first ones are shown as used.
    """
    clusters = list(Cluster.objects.order_by("name").only(*_SHOWN))
    exact = {
        c.id
        for c in clusters
        if c.backend in backends() and Capability.PLACES in capabilities_of(c.backend)
    }
    stock, seen = inventory_snapshot(clusters, exact), jobs_visible_to(actor)
    used = _used(exact) if exact else {}
    texts = (
        stock.parts[c.id].with_used(used.get(c.id, ())) if c.id in exact else stock.parts[c.id].text
        for c in clusters
    )
    return {
        "at": clock.now(),
        "states": STATES,
        "types": stock.types,
        "partitions": stock.partitions,
        "nodes": orjson.Fragment(b"[" + b",".join(text for text in texts if text) + b"]"),
        "clusters": [
            {"name": c.name, "is_exact": c.id in exact, "trouble": c.trouble} for c in clusters
        ],
        "jobs": {
            stock.places[key]: [[job["number"], job["name"]] for job in jobs]
            for key, jobs in seen.items()
            if key in stock.places
        },
    }


def _used(exact: set[UUID]) -> dict[UUID, set[str]]:
    """Return the GPUs in use by cluster, where the portal places jobs itself."""
    used: dict[UUID, set[str]] = {}
    for (cluster_id, _), places in placements().items():
        if cluster_id in exact:
            used.setdefault(cluster_id, set()).update(
                uuid for place in places for uuid in place["uuids"]
            )
    return used
