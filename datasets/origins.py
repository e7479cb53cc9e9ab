"""Ask what made a version: apps above register a provider at start-up."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple
from uuid import UUID

from workspaces.access.actors import Actor


class Origin(NamedTuple):
    """A job that made versions, as a viewer may see it."""

    text: str
    url: str


Provider = Callable[[Actor, Collection[UUID]], dict[UUID, Origin]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Add a function that returns those of these jobs that the actor may see."""
    if provider not in _providers:
        _providers.append(provider)


def origins_of(actor: Actor, jobs: Collection[UUID]) -> dict[UUID, Origin]:
    """Return the jobs that made versions, by id."""
    found: dict[UUID, Origin] = {}
    for provider in _providers if jobs else ():
        found |= provider(actor, jobs)
    return found
