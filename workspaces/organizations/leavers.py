"""List users who are gone from a directory and their running jobs.

Jobs are in another app, which answers in its `providers.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from portal.core.declarations import declared
from workspaces.models import Provider
from workspaces.tenancy.scope import org_scope, platform_scope

MAX_LEAVERS = 200


def active_jobs_of(users: Iterable[UUID]) -> Mapping[UUID, list[dict[str, Any]]]:
    """Return the active jobs of users as {"org", "number", "name", "url"}."""
    found: dict[UUID, list[dict[str, Any]]] = {}
    for answer in declared("providers", "ACTIVE_JOBS_OF_USERS"):
        found |= answer(users)
    return found


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
        return active_jobs_of(users)
