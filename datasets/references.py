"""Ask what refers to versions besides branches and tags: apps above register at start-up.

A reference says only that somebody may want the version. `datasets.uses` says what must stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from uuid import UUID

Provider = Callable[[Collection[UUID]], set[UUID]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Add a function that returns those ids of versions that something refers to."""
    if provider not in _providers:
        _providers.append(provider)


def referred_to(ids: Collection[UUID]) -> set[UUID]:
    """Return those ids of versions that a job has read or a model was made from."""
    return {pk for provider in _providers for pk in provider(ids)} if ids else set()
