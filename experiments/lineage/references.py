"""Names of nodes of the lineage, as people and programs write them."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from datasets.access import visible
from datasets.models import Repository, Version
from datasets.selectors import find_repository, find_version
from experiments.lineage.nodes import LineageKey
from experiments.selectors import ID, find_logged_model, find_run
from jobs.selectors.jobs import find_job
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from registry import selectors as registry
from workspaces.access.actors import Actor


def find_key(actor: Actor, reference: str) -> LineageKey:
    """Return the row that a reference names. Raises NotFound, InvalidInput.

    `dataset:NAME@REVISION`, `checkpoint:NAME@REVISION`, `version:ID`, `job:NUMBER`, `run:ID`,
    `model:TEAM/NAME@VERSION`, `model:ID` or `logged:ID`.
    """
    kind, _, name = reference.partition(":")
    if name and kind in _FINDERS:
        return _FINDERS[kind](actor, name)
    raise InvalidInput.at(
        "of",
        Message(
            "must be dataset:NAME@VERSION, checkpoint:NAME@VERSION, job:NUMBER, run:ID or "
            "model:TEAM/NAME@VERSION"
        ),
    )


def key_of(kind: str, pk: UUID) -> LineageKey:
    """Return the key of a row of a page: a version, job, run or model."""
    return LineageKey("job" if kind == "run" else kind, pk)


def _repository_version(kind: str) -> Callable[[Actor, str], LineageKey]:
    def find(actor: Actor, name: str) -> LineageKey:
        alone, _, revision = name.partition("@")
        return LineageKey("version", find_version(find_repository(actor, kind, alone), revision).id)

    return find


def _version(actor: Actor, name: str) -> LineageKey:
    rows = Version.objects.filter(repository__in=visible(actor, Repository.objects.all()))
    if not ID.fullmatch(name) or not rows.filter(id=UUID(name)).exists():
        raise NotFound(Message("There is no version {x} that you can see.", x=name[:40]))
    return LineageKey("version", UUID(name))


def _model(actor: Actor, name: str) -> LineageKey:
    if ID.fullmatch(name):
        row = registry.visible_versions(actor).filter(id=UUID(name)).first()
        if row is None:
            raise NotFound(Message("There is no version {x} that you can see.", x=name))
        return LineageKey("model", row.id)
    team, _, rest = name.partition("/")
    alone, at, which = rest.rpartition("@")
    model = registry.find_model(actor, team, alone if at else rest)
    return LineageKey("model", registry.find_version(actor, model, which if at else "latest").id)


_FINDERS: dict[str, Callable[[Actor, str], LineageKey]] = {
    "version": _version,
    "dataset": _repository_version("dataset"),
    "checkpoint": _repository_version("checkpoint"),
    "job": lambda actor, name: LineageKey("job", find_job(actor, name).id),
    "run": lambda actor, name: LineageKey("job", find_run(actor, name).id),
    "logged": lambda actor, name: LineageKey("logged", find_logged_model(actor, name).id),
    "model": _model,
}
