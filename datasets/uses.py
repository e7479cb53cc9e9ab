"""Ask what uses versions: apps above register providers at start-up.

A version in use is not deleted, and its files stay where jobs read them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from datasets.models import Repository
    from workspaces.access.actors import Actor

Provider = Callable[[UUID], set[str]]
_providers: list[Provider] = []


def register(provider: Provider) -> None:
    """Add a function that returns the commits of an organization that are in use."""
    if provider not in _providers:
        _providers.append(provider)


def commits_in_use(org_id: UUID) -> set[str]:
    """Return the commits of an organization that something needs."""
    return {commit for provider in _providers for commit in provider(org_id)}


@dataclass(frozen=True)
class Use:
    """Something that reads a version, such as a job, for the page of the versions."""

    version: int
    title: str
    url: str
    state: str


Finder = Callable[["Actor", "Repository"], Sequence[Use]]
_finders: list[Finder] = []


def register_finder(find: Finder) -> None:
    """Add a function that returns what reads a repository and the actor may see, the last first."""
    if find not in _finders:
        _finders.append(find)


def uses_of(actor: Actor, repository: Repository) -> list[Use]:
    """Return what reads versions of a repository, as far as the actor may see it."""
    return [use for find in _finders for use in find(actor, repository)]
