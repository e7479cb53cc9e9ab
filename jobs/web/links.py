"""Registry of links of the page of a job to what other apps keep of it, such as its run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from jobs.models import Job
from portal.core.messages import Message


@dataclass(frozen=True)
class Link:
    """A link in the head of the page; `label` says what `title` is."""

    label: Message
    title: str
    url: str


_finders: list[Callable[[Any, Job], Iterable[Link]]] = []


def register(find: Callable[[Any, Job], Iterable[Link]]) -> None:
    """Add a function that returns links for an actor and a job."""
    if find not in _finders:
        _finders.append(find)


def links_of(actor: Any, job: Job) -> list[Link]:
    """Return the links of a job that the actor may follow."""
    return [link for find in _finders for link in find(actor, job)]
