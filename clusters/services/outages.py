"""Record when a cluster stops responding and when it is back. Called by its watcher."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction

from clusters.models import Cluster
from portal.core import clock
from portal.core.events import EventRecord, record

log = logging.getLogger(__name__)
ACTOR = "watcher"


@transaction.atomic
def mark_unreachable(cluster: Cluster, text: str) -> None:
    """Record the start of an outage; another error text during it only updates the row."""
    now = (
        Cluster.objects.select_for_update()
        .filter(id=cluster.id)
        .values_list("trouble", flat=True)
        .first()
    )
    if now in (None, text):
        return
    began = {} if now else {"trouble_since": clock.now()}
    Cluster.objects.filter(id=cluster.id).update(trouble=text, **began)
    if began:
        _record_event("silent", cluster, {"said": text})
    log.warning("cluster %s: %s", cluster.name, text)


@transaction.atomic
def mark_reachable(cluster: Cluster) -> None:
    """Update `seen_at`, and record the end of an outage with its duration."""
    at = clock.now()
    silent = Cluster.objects.select_for_update().filter(id=cluster.id).exclude(trouble="").first()
    Cluster.objects.filter(id=cluster.id).update(seen_at=at, trouble="", trouble_since=None)
    if silent:
        _record_event(
            "answered",
            cluster,
            {
                "said": silent.trouble,
                "seconds": round((at - (silent.trouble_since or at)).total_seconds()),
            },
        )


def _record_event(what: str, cluster: Cluster, data: dict[str, Any]) -> None:
    record(
        EventRecord(
            f"cluster.{what}", None, "cluster", cluster.id, ACTOR, {"name": cluster.name, **data}
        )
    )
