"""Who has used a port in the last seconds, as the gateway reports every 10 s.

Kept in the cache: it is about now, and a portal that starts again hears it anew.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from django.core.cache import cache

from jobs.models import Attempt
from portal.core import clock
from portal.gateway.provider import PortUse

FRESH = 30  # seconds for which somebody counts after the last report


def record_people(uses: Sequence[PortUse]) -> None:
    """Store who used ports since the last report, or still does."""
    now = clock.now().timestamp()
    for use in uses:
        if people := [one for one in use.people if one]:
            known = _known(use.key, use.port, now)
            cache.set(_place(use.key, use.port), known | dict.fromkeys(people, now), FRESH)


def people_at(attempt: Attempt, port: int) -> Collection[UUID]:
    """Return the people who have used a port in the last seconds."""
    return [UUID(one) for one in _known(attempt.key, port, clock.now().timestamp())]


def forget_person(attempt: Attempt, port: int, person: UUID) -> None:
    """Take somebody off whose access has ended."""
    known = _known(attempt.key, port, clock.now().timestamp())
    if known.pop(str(person), None):
        cache.set(_place(attempt.key, port), known, FRESH)


def _known(key: str, port: int, now: float) -> dict[str, float]:
    found: dict[str, float] = cache.get(_place(key, port)) or {}
    return {person: at for person, at in found.items() if at > now - FRESH}


def _place(key: str, port: int) -> str:
    return f"port-people:{key}:{port}"
