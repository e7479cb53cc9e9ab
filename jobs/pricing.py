"""What jobs cost: asked of the app that knows prices, which registers at startup."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from schedulers.spec import JobSpec
from workspaces.access.actors import Actor
from workspaces.models import Team


@dataclass(frozen=True)
class Pricing:
    """Functions that answer what jobs cost.

    `of_jobs(ids)` returns the cost of these jobs so far as text, "" if nothing has a price.
    `of_spec(actor, team, spec)` returns the cost until the time limit and for an hour, or None.
    `check(team)` raises QuotaExceeded if a spent budget stops new jobs of the team.
    """

    of_jobs: Callable[[Collection[UUID]], str]
    of_spec: Callable[[Actor, Team | None, JobSpec], dict[str, Any] | None]
    check: Callable[[Team], None]


_registered: list[Pricing] = []


def register(pricing: Pricing) -> None:
    """Set who answers."""
    _registered[:] = [pricing]


def cost_of_jobs(job_ids: Collection[UUID]) -> str:
    """Return the cost of jobs so far with its currency, "" if unknown. Run in their organization."""
    return _registered[0].of_jobs(job_ids) if _registered and job_ids else ""


def price_of(actor: Actor, team: Team | None, spec: JobSpec) -> dict[str, Any] | None:
    """Return `hourly`, `most` (until the time limit, None without one), or None without prices."""
    return _registered[0].of_spec(actor, team, spec) if _registered else None


def check_budget(team: Team) -> None:
    """Refuse a new job if a budget that stops jobs is spent. Raises QuotaExceeded."""
    if _registered:
        _registered[0].check(team)
