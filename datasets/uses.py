"""Ask what uses versions: apps above answer in `providers.py`.

A version in use is not deleted, and its files stay where jobs read them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from portal.core.declarations import declared

if TYPE_CHECKING:
    from datasets.models import Repository
    from workspaces.access.actors import Actor

Provider = Callable[[UUID], set[str]]


def providers() -> Sequence[Provider]:
    """Return the functions that return the commits of an organization that are in use."""
    return declared("providers", "COMMITS_IN_USE")


def commits_in_use(org_id: UUID) -> set[str]:
    """Return the commits of an organization that something needs."""
    return {commit for provider in providers() for commit in provider(org_id)}


@dataclass(frozen=True)
class VersionUse:
    """Something that reads a version, such as a job, for the page of the versions."""

    version: int
    title: str
    url: str
    state: str


Finder = Callable[["Actor", "Repository"], Sequence[VersionUse]]


def uses_of(actor: Actor, repository: Repository) -> list[VersionUse]:
    """Return what reads versions of a repository, as far as the actor may see it."""
    finders: Sequence[Finder] = declared("providers", "VERSION_USES")
    return [use for find in finders for use in find(actor, repository)]
