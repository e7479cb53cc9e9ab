"""Report which GPUs are in use, by whom and since when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import DurationField, IntegerField, QuerySet, Sum, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Greatest

from jobs.models import Attempt
from schedulers.states import State
from workspaces.quotas.gpu_hours import GpuUsage, RunningUsage
from workspaces.quotas.limits import TEAM

_GPUS = Cast(KeyTextTransform("gpu", "job__resources"), IntegerField())


def ran_of(attempt: Attempt, end: datetime | None) -> GpuUsage | None:
    """Return how long the attempt used GPUs on all nodes; None if it has none or never started.

    The attempt's job must be loaded.
    """
    gpus = attempt.job.resources.get("gpu", 0)
    if not gpus or attempt.started_at is None or end is None:
        return None
    return GpuUsage(
        attempt.org_id, attempt.job.team_id, attempt.job.owner_id, gpus, attempt.started_at, end
    )


def running(
    org_ids: Collection[UUID] | None, scopes: Collection[str], since: datetime, at: datetime
) -> Iterator[RunningUsage]:
    """Yield the GPU use of running attempts from `since` to `at`, by team and by user."""
    where = {} if org_ids is None else {"org_id__in": org_ids}
    rows = _running_attempts(**where, started_at__lt=at)
    span = (Value(at) - Greatest("started_at", Value(since))) * _GPUS
    used = Sum(span, output_field=DurationField())
    for scope in scopes:
        whose = "job__team_id" if scope == TEAM else "job__owner_id"
        for org, pk, n in rows.values_list("org_id", whose).annotate(n=used).order_by():
            yield org, scope, pk, n


def allocated_by(field: str, **where: Any) -> Counter[UUID]:
    """Return the number of GPUs that running attempts have, by a field such as "org_id"."""
    rows = _running_attempts(**where).values_list(field).annotate(n=Sum(_GPUS))
    return Counter(dict(rows.order_by()))


def _running_attempts(**where: Any) -> QuerySet[Attempt]:
    """Return running attempts that have GPUs."""
    return Attempt.objects.filter(
        has_reservation=True,
        state__gt=State.QUEUED,
        state__lt=State.SUCCEEDED,
        started_at__isnull=False,
        job__resources__gpu__gt=0,
        **where,
    )
