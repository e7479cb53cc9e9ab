"""Ask what made a version: apps above answer in `providers.py`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple
from uuid import UUID

from portal.core.declarations import declared
from workspaces.access.actors import Actor


class VersionOrigin(NamedTuple):
    """A job that made versions, as a viewer may see it.

    `resume`: the page that runs it again from the newest version; empty if it has no output.
    """

    text: str
    url: str
    resume: str = ""


Provider = Callable[[Actor, Collection[UUID]], dict[UUID, VersionOrigin]]


def origins_of(actor: Actor, jobs: Collection[UUID]) -> dict[UUID, VersionOrigin]:
    """Return the jobs that made versions, by id."""
    found: dict[UUID, VersionOrigin] = {}
    for provider in declared("providers", "VERSION_ORIGINS") if jobs else ():
        found |= provider(actor, jobs)
    return found
