"""What jobs cost: asked of the app that knows prices, which declares PRICING in `providers.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from portal.core.declarations import declared
from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.models import Team


@dataclass(frozen=True)
class Pricing:
    """Functions that answer what jobs cost.

    `of_jobs(ids)` returns the cost of these jobs so far as text, "" if nothing has a price.
    `of_spec(actor, team, spec)` returns the cost until the time limit and for an hour, or None.
    `of_month(actor)` returns the cost of this month of the teams that the actor sees, or "".
    `check(team)` raises QuotaExceeded if a spent budget stops new jobs of the team.
    """

    of_jobs: Callable[[Collection[UUID]], str]
    of_spec: Callable[[Actor, Team | None, JobSpec], dict[str, Any] | None]
    of_month: Callable[[Actor], str]
    check: Callable[[Team], None]


def _answers() -> Sequence[Pricing]:
    return declared("providers", "PRICING")


def cost_of_jobs(job_ids: Collection[UUID]) -> str:
    """Return the cost of jobs so far with its currency, "" if unknown. Run in their organization."""
    return _answers()[0].of_jobs(job_ids) if _answers() and job_ids else ""


def price_of(actor: Actor, team: Team | None, spec: JobSpec) -> dict[str, Any] | None:
    """Return `hourly`, `most` (until the time limit, None without one), or None without prices."""
    return _answers()[0].of_spec(actor, team, spec) if _answers() else None


def cost_of_month(actor: Actor) -> str:
    """Return the cost of this month of what the actor sees, with its currency; "" if unknown."""
    return _answers()[0].of_month(actor) if _answers() else ""


def check_budget(team: Team) -> None:
    """Refuse a new job if a budget that stops jobs is spent. Raises QuotaExceeded."""
    for pricing in _answers():
        pricing.check(team)
