"""List users who are gone from a directory and their running jobs.

Jobs are in another app, which registers how to count them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from workspaces.models import Provider
from workspaces.tenancy.scope import org_scope, platform_scope

MAX_LEAVERS = 200
Running = Callable[[Iterable[UUID]], Mapping[UUID, list[dict[str, Any]]]]
_running: list[Running] = []


def register_running_jobs(running: Running) -> None:
    """Register a function that takes user ids and returns their active jobs.

    Each job is {"org", "number", "name", "url"}.
    """
    _running[:] = [running]


def leavers_of(provider: Provider) -> list[dict[str, Any]]:
    """Return the users gone from a provider, latest first, those with running jobs on top."""
    rows = list(
        provider.identities.exclude(gone_since=None)
        .select_related("user")
        .order_by("-gone_since")[:MAX_LEAVERS]
    )
    jobs = _jobs_of(provider, [row.user_id for row in rows]) if rows else {}
    found = [
        {
            "email": row.user.email,
            "name": row.user.display_name,
            "since": row.gone_since,
            "jobs": jobs.get(row.user_id, []),
        }
        for row in rows
    ]
    return sorted(found, key=lambda row: not row["jobs"])


def _jobs_of(provider: Provider, users: list[UUID]) -> Mapping[UUID, list[dict[str, Any]]]:
    """Return jobs in the provider's organization, or everywhere for one of the installation."""
    scope = (
        org_scope(provider.org_id)
        if provider.org_id
        else platform_scope("users who left the installation may run jobs in any organization")
    )
    with scope:
        return _running[0](users) if _running else {}
