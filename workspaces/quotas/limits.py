"""How limits and guarantees add up. Pure: the planner, the pending answer and the hold of a reservation all ask this one module.

A guarantee of a team or a person is kept free inside the organization's limit while its owner does not use it: the organization's
meter knows how much that is (`promised`), and an ask that stays within the asker's own guarantee takes it from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

GPU_HOURS = "gpu-hours"  # of a calendar month: used up by running, not held
STORAGE = "storage"  # bytes of closed logs: held by what is kept, until it is deleted
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
    """Which meter: scope, whose, of what."""

    org_id: UUID
    scope: str
    subject_id: UUID
    resource: str


class Standing(NamedTuple):
    """How a meter stands. `promised` (the organization's meters only): what is kept free for guarantees that are not used."""

    used: int = 0
    limit: int | None = None
    guaranteed: int = 0
    promised: int = 0

    @property
    def idle(self) -> int:
        """How much of its guarantee is not used."""
        return max(self.guaranteed - self.used, 0)

    def limited(self, limit: int | None) -> Standing:
        """With another limit."""
        return self._replace(limit=limit)

    def moved(self, amount: int, freed: int = 0) -> Standing:
        """After so much more (or less) is held, of which `freed` came out of guarantees."""
        return self._replace(used=self.used + amount, promised=self.promised - freed)


Standings = Mapping[Meter, Standing]
Amounts = Mapping[Meter, int]


def unit_of(resource: str) -> str:
    """The unit people read: cpu is stored in thousandths and shown in cores."""
    return RESOURCE_UNITS[resource.partition(".")[0]]


def judged(resources: Mapping[str, int]) -> Mapping[str, int]:
    """What is asked of limits before this may start. Whoever starts something asks for the first byte of its log, too: who keeps as much as
    they may has no room for it. Whoever asks for GPUs asks for their first moment: GPU-hours that are used up
    have no room for it."""
    return {**resources, **({GPU_HOURS: 1} if resources.get("gpu") else {}), STORAGE: 1}


def meters(
    org_id: UUID, team_id: UUID, user_id: UUID, resources: Mapping[str, int]
) -> dict[Meter, int]:
    """The meters that a hold of these resources moves, with the amounts: the person's, the team's, the organization's."""
    subjects = ((USER, user_id), (TEAM, team_id), (ORG, org_id))
    return {
        Meter(org_id, scope, subject, resource): amount
        for scope, subject in subjects
        for resource, amount in resources.items()
        if amount
    }


def refusal(standings: Standings, amounts: Amounts) -> Meter | None:
    """The first meter that has no room for its amount; None when all have."""
    return next(
        (
            meter
            for meter, amount in (amounts.items() if standings else ())
            if (now := standings.get(meter))
            and now.limit is not None
            and not _has_room(meter, now, amount, standings, amounts)
        ),
        None,
    )


def _has_room(
    meter: Meter, now: Standing, amount: int, standings: Standings, amounts: Amounts
) -> bool:
    assert now.limit is not None
    if now.used + amount > now.limit:
        return False
    if not now.promised:
        return True
    freed = freed_by(meter, standings, amounts)
    return freed >= amount or now.used + amount + now.promised - freed <= now.limit


def freed_by(meter: Meter, standings: Standings, amounts: Amounts) -> int:
    """How much of what an organization's meter keeps for guarantees these amounts take up, or give back where they are below 0."""
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


def after(standings: Standings, amounts: Amounts) -> dict[Meter, Standing]:
    """How these meters stand once the amounts are held; those not known are left out."""
    return {
        meter: now.moved(amount, freed_by(meter, standings, amounts))
        for meter, amount in (amounts.items() if standings else ())
        if (now := standings.get(meter))
    }
