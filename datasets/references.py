"""Ask what refers to versions besides branches and tags: apps above answer in `providers.py`.

A reference says only that somebody may want the version. `datasets.uses` says what must stay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from portal.core.declarations import declared

Provider = Callable[[Collection[UUID]], set[UUID]]


def providers() -> Sequence[Provider]:
    """Return the functions that return those ids of versions that something refers to."""
    return declared("providers", "VERSION_REFERENCES")


def referred_to(ids: Collection[UUID]) -> set[UUID]:
    """Return those ids of versions that a job has read or a model was made from."""
    return {pk for provider in providers() for pk in provider(ids)} if ids else set()
