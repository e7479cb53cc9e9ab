"""List the active jobs of people who leave, and count those of each organization."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Count

from jobs.kinds.workload_kinds import page_at
from jobs.models import Job
from schedulers.states import State

MOST = 500


def active_jobs_of(users: Iterable[UUID]) -> Mapping[UUID, list[dict[str, Any]]]:
    """Return the active jobs by owner, in the current tenant scope."""
    rows = Job.objects.filter(owner_id__in=list(users), state__lt=State.SUCCEEDED).order_by(
        "-number"
    )
    found: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for owner_id, org, kind, number, name, state in rows.values_list(
        "owner_id", "org__slug", "kind", "number", "name", "state"
    )[:MOST]:
        found[owner_id].append(
            {
                "org": org,
                "number": number,
                "name": name,
                "state": State(state).label,
                "url": page_at(org, kind, number),
            }
        )
    return found


def active_jobs_by_org() -> Mapping[UUID, int]:
    """Count the active jobs by organization, in the current tenant scope."""
    return dict(
        Job.objects.filter(state__lt=State.SUCCEEDED).values_list("org_id").annotate(n=Count("id"))
    )
