"""Arithmetic of limits and guarantees. Pure: planner, pending reasons and holds share it.

A guarantee of a team or user is kept free within the organization's limit while it is unused:
`promised` on the organization's meter is that amount. Requests within the requester's guarantee are
served from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

GPU_HOURS = "gpu-hours"  # of a calendar month: consumed by running, not held
STORAGE = "storage"  # bytes of closed logs and of artifacts, until they are deleted
RESOURCE_UNITS = {
    "cpu": "cores",
    "memory": "bytes",
    "gpu": "GPUs",
    "jobs": "jobs",
    GPU_HOURS: "GPU-hours",
    STORAGE: "bytes",
}
ORG, TEAM, USER = "org", "team", "user"


@dataclass(frozen=True)
class Meter:
    """The key of a meter: scope, subject and resource."""

    org_id: UUID
    scope: str
    subject_id: UUID
    resource: str


class QuotaUsage(NamedTuple):
    """The state of a meter.

    `promised` (only on meters of the organization): what is kept free for unused guarantees.
    """

    used: int = 0
    limit: int | None = None
    guaranteed: int = 0
    promised: int = 0

    @property
    def idle(self) -> int:
        """Return the unused part of the guarantee."""
        return max(self.guaranteed - self.used, 0)

    def limited(self, limit: int | None) -> QuotaUsage:
        """Return a copy with another limit."""
        return self._replace(limit=limit)

    def moved(self, amount: int, freed: int = 0) -> QuotaUsage:
        """Return a copy with `amount` more (or less) held, `freed` of it from guarantees."""
        return self._replace(used=self.used + amount, promised=self.promised - freed)


Standings = Mapping[Meter, QuotaUsage]
Amounts = Mapping[Meter, int]


def unit_of(resource: str) -> str:
    """Return the display unit: cpu is stored in thousandths and shown in cores."""
    return RESOURCE_UNITS[resource.partition(".")[0]]


def checked_resources(resources: Mapping[str, int]) -> Mapping[str, int]:
    """Return the resources to check before a start.

    Adds a first byte of log, so that a full storage limit blocks starts, and for GPUs a first
    millisecond, so that used-up GPU-hours do.
    """
    return {**resources, **({GPU_HOURS: 1} if resources.get("gpu") else {}), STORAGE: 1}


def meters(
    org_id: UUID, team_id: UUID, user_id: UUID, resources: Mapping[str, int]
) -> dict[Meter, int]:
    """Return the amount to hold on each meter: the user's, the team's and the organization's."""
    subjects = ((USER, user_id), (TEAM, team_id), (ORG, org_id))
    return {
        Meter(org_id, scope, subject, resource): amount
        for scope, subject in subjects
        for resource, amount in resources.items()
        if amount
    }


def first_full_meter(standings: Standings, amounts: Amounts) -> Meter | None:
    """Return the first meter without room for its amount, or None."""
    return next(
        (
            meter
            for meter, amount in (amounts.items() if standings else ())
            if (now := standings.get(meter))
            and now.limit is not None
            and not _fits(meter, now, amount, standings, amounts)
        ),
        None,
    )


def _fits(
    meter: Meter, now: QuotaUsage, amount: int, standings: Standings, amounts: Amounts
) -> bool:
    assert now.limit is not None
    if now.used + amount > now.limit:
        return False
    if not now.promised:
        return True
    freed = freed_by(meter, standings, amounts)
    return freed >= amount or now.used + amount + now.promised - freed <= now.limit


def freed_by(meter: Meter, standings: Standings, amounts: Amounts) -> int:
    """Return how much these amounts take from the promised amount; negative: give back."""
    if meter.scope != ORG:
        return 0
    return sum(
        now.idle - now.moved(amount).idle
        for child, amount in amounts.items()
        if child.scope != ORG
        and child.resource == meter.resource
        and child.org_id == meter.org_id
        and (now := standings.get(child))
        and now.guaranteed
    )


def meters_after(standings: Standings, amounts: Amounts) -> dict[Meter, QuotaUsage]:
    """Return the meters after the amounts are held, without unknown ones."""
    return {
        meter: now.moved(amount, freed_by(meter, standings, amounts))
        for meter, amount in (amounts.items() if standings else ())
        if (now := standings.get(meter))
    }
