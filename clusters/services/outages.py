"""A cluster falls silent and answers again: the row says how it is now, events how it was. Written by its watcher."""

from __future__ import annotations

import logging
from typing import Any

from django.db import transaction

from clusters.models import Cluster
from portal.core import clock
from portal.core.events import Fact, record

log = logging.getLogger(__name__)
ACTOR = "watcher"


@transaction.atomic
def fell_silent(cluster: Cluster, text: str) -> None:
    """The beginning is a fact; other words for the same silence are only taken over."""
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
        _tell("silent", cluster, {"said": text})
    log.warning("cluster %s: %s", cluster.name, text)


@transaction.atomic
def answered(cluster: Cluster) -> None:
    """Seen now; the end of a silence is a fact with its length."""
    at = clock.now()
    silent = Cluster.objects.select_for_update().filter(id=cluster.id).exclude(trouble="").first()
    Cluster.objects.filter(id=cluster.id).update(seen_at=at, trouble="", trouble_since=None)
    if silent:
        _tell(
            "answered",
            cluster,
            {
                "said": silent.trouble,
                "seconds": round((at - (silent.trouble_since or at)).total_seconds()),
            },
        )


def _tell(what: str, cluster: Cluster, data: dict[str, Any]) -> None:
    record(
        Fact(f"cluster.{what}", None, "cluster", cluster.id, ACTOR, {"name": cluster.name, **data})
    )
