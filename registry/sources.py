"""Where versions come from: the files and facts of runs, logged models and checkpoints.

The registry is below experiments in the import order, so experiments answers in its
`providers.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from portal.core.declarations import declared
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.access.actors import Actor


@dataclass(frozen=True)
class SourceFile:
    """A file that is stored in `portal.blobs.files`; `path` is relative to the model's folder."""

    path: str
    sha256: str
    size: int  # bytes


@dataclass(frozen=True)
class VersionSource:
    """What a version is registered from; `metrics` are the last values when it is registered."""

    files: Sequence[SourceFile]
    run_id: UUID | None = None
    logged_model_id: UUID | None = None
    checkpoint_id: UUID | None = None  # of a version
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceOrigin:
    """A run or logged model on the page of a version; `url` is the path of its page."""

    title: str
    url: str
    kind: str = "run"  # or "model"


class SourceProvider(Protocol):
    """Finds runs and logged models."""

    def find(
        self, actor: Actor, uri: str, run_id: UUID | None, logged_model_id: UUID | None
    ) -> VersionSource:
        """Return the files below a source URI, such as `runs:/<id>/model` or `checkpoints:/resnet@3`.

        The ids are used where the URI does not say it. Raises NotFound for what the actor cannot
        read, and InvalidInput for other URIs.
        """

    def origins(
        self, actor: Actor, org: str, run_id: UUID | None, logged_model_id: UUID | None
    ) -> Sequence[SourceOrigin]:
        """Return the pages of a version's run and logged model that the actor may see."""


def providers() -> Sequence[SourceProvider]:
    """Return what finds runs and logged models; empty if no app above does."""
    return declared("providers", "MODEL_SOURCES")


def find(
    actor: Actor, uri: str, run_id: UUID | None = None, logged_model_id: UUID | None = None
) -> VersionSource:
    """Return what a version is to be registered from. Raises InvalidInput, NotFound."""
    if not providers():
        raise InvalidInput.at("source", Message("runs are not available in this installation"))
    return providers()[0].find(actor, uri, run_id, logged_model_id)


def origins(
    actor: Actor, org: str, run_id: UUID | None, logged_model_id: UUID | None
) -> Sequence[SourceOrigin]:
    """Return the pages of a version's run and logged model that the actor may see."""
    if not providers() or not (run_id or logged_model_id):
        return ()
    return providers()[0].origins(actor, org, run_id, logged_model_id)
