"""Record the use of a cluster's stored credential: once a day for each kind of use."""

from __future__ import annotations

import logging
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from clusters.backends import secrets_set
from clusters.models import Cluster
from portal.core import clock
from portal.core.events import EventRecord, record
from portal.core.models import Event
from workspaces.tenancy.scope import platform_scope

log = logging.getLogger(__name__)
EVERY = timedelta(days=1)
# Uses recorded or seen by this process, until they are recorded again.
_next: dict[tuple[UUID, str, bytes], float] = {}


def note_use(cluster: Cluster, use: str, who: str = "muster") -> None:
    """Record a use such as "to submit jobs", and once more after the credential changed.

    Never raises, so the use itself is not affected.
    """
    if not cluster.secrets:
        return
    key = (cluster.id, use, bytes(cluster.secrets))
    if clock.monotonic() < _next.get(key, 0.0):
        return
    _next[key] = clock.monotonic() + EVERY.total_seconds()
    try:
        _record_use(cluster, use, who)
    except Exception:
        log.exception("could not record the use of the credential of %s", cluster.name)


@platform_scope("a cluster belongs to no organization")
@transaction.atomic
def _record_use(cluster: Cluster, use: str, who: str) -> None:
    recorded = Event.objects.filter(
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
    if not (recorded.filter(position__gt=changed) if changed else recorded).exists():
        record(
            EventRecord(
                "cluster.credential_used",
                None,
                "cluster",
                cluster.id,
                who,
                {"name": cluster.name, "use": use, "secrets": secrets_set(cluster)},
            )
        )
