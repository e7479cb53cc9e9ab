"""Ask what uses versions: apps above register providers at start-up.

A version in use is not deleted, and its files stay where jobs read them.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

Provider = Callable[[UUID], set[str]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Add a function that returns the commits of an organization that are in use."""
    if provider not in _providers:
        _providers.append(provider)


def commits_in_use(org_id: UUID) -> set[str]:
    """Return the commits of an organization that something needs."""
    return {commit for provider in _providers for commit in provider(org_id)}
