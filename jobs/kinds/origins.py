"""Origins: what submitted a job for somebody, such as another job that it reruns.

A job keeps kind, id and label of its origin. The app that owns a kind declares it in
JOB_ORIGINS of `providers.py`, and draws the link.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from portal.core.declarations import declared
from portal.core.messages import Message

if TYPE_CHECKING:
    from jobs.models import Job


@dataclass(frozen=True)
class Origin:
    """`label` names it for people, with its part: "#12", "nightly #4, step train"."""

    kind: str
    id: UUID
    label: str

    def as_dict(self) -> dict[str, str]:
        return {"kind": self.kind, "id": str(self.id), "label": self.label}


@dataclass(frozen=True)
class OriginKind:
    """A kind of origin. `title`: "Rerun of", before the label.

    `pages(actor, ids)` returns the addresses of those that the actor may see.
    """

    name: str
    title: Message
    pages: Callable[[Any, Collection[UUID]], Mapping[UUID, str]]


def kinds() -> Sequence[OriginKind]:
    return declared("providers", "JOB_ORIGINS")


@dataclass(frozen=True)
class OriginLink:
    """An origin on the page of a job; `page` is empty if the viewer may not see it."""

    title: Message
    label: str
    page: str


def link_of(actor: Any, job: Job) -> OriginLink | None:
    """Return the origin of a job as a link; None without one."""
    origin = job.origin
    if origin is None:
        return None
    # an app that is no longer installed has none
    kind = next((kind for kind in kinds() if kind.name == origin.kind), None)
    if kind is None:
        return OriginLink(Message("Origin", context="text, jobs"), origin.label, "")
    return OriginLink(kind.title, origin.label, kind.pages(actor, {origin.id}).get(origin.id, ""))
