"""Choose the audit logs that record events of a user's account."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from workspaces.models import Membership
from workspaces.tenancy.scope import platform_scope


def orgs_of(user_id: UUID | None) -> Iterable[UUID | None]:
    """Return the user's organizations, or None (the installation) for users without any."""
    if user_id is None:
        return [None]
    with platform_scope("record account events in each organization of the user"):
        return list(
            Membership.objects.filter(user_id=user_id)
            .order_by("org_id")
            .values_list("org_id", flat=True)
        ) or [None]
