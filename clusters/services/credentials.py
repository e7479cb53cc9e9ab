"""That a cluster's stored credential was used is a fact: once a day for each kind of use, however often it is."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from clusters.backends import secrets_set
from clusters.models import Cluster
from portal.core import clock
from portal.core.events import Fact, record
from portal.core.models import Event
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
EVERY = timedelta(days=1)
_next: dict[
    tuple[UUID, str, bytes], float
] = {}  # what this process has told or seen told, until when that is enough


def note_use(cluster: Cluster, use: str, who: str = "muster") -> None:
    """`use` says for what: "to submit jobs". Another credential begins anew. Never raises: what it is used for goes on."""
    if not cluster.secrets:
        return
    key = (cluster.id, use, bytes(cluster.secrets))
    if clock.monotonic() < _next.get(key, 0.0):
        return
    _next[key] = clock.monotonic() + EVERY.total_seconds()
    try:
        _tell(cluster, use, who)
    except Exception:
        log.exception("that the credential of %s was used could not be recorded", cluster.name)


@platform_scope("a cluster belongs to no organization")
@transaction.atomic
def _tell(cluster: Cluster, use: str, who: str) -> None:
    told = Event.objects.filter(
        subject_id=cluster.id,
        kind="cluster.credential_used",
        data__use=use,
        at__gt=clock.now() - EVERY,
    )
    changed = (
        Event.objects.filter(subject_id=cluster.id, kind="cluster.changed")
        .order_by("-position")
        .values_list("position", flat=True)
        .first()
    )
    if not (told.filter(position__gt=changed) if changed else told).exists():
        record(
            Fact(
                "cluster.credential_used",
                None,
                "cluster",
                cluster.id,
                who,
                {"name": cluster.name, "use": use, "secrets": secrets_set(cluster)},
            )
        )
