"""Links of the page of a job to what other apps keep of it, such as its run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jobs.models import Job
from portal.core.declarations import declared
from portal.core.messages import Message


@dataclass(frozen=True)
class Link:
    """A link in the head of the page; `label` says what `title` is."""

    label: Message
    title: str
    url: str


Finder = Callable[[Any, Job], Iterable[Link]]


def links_of(actor: Any, job: Job) -> list[Link]:
    """Return the links of a job that the actor may follow."""
    finders: Sequence[Finder] = declared("providers", "JOB_LINKS")
    return [link for find in finders for link in find(actor, job)]
