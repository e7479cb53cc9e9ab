"""Nodes of the lineage: which rows the viewer may see, and how they are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.urls import reverse

from datasets.access import visible
from datasets.models import Ref, Repository, Version
from experiments.lists import STATES
from experiments.models import LoggedModel, Run, RunStatus
from experiments.selectors import visible_logged_models, visible_runs
from jobs.kinds.workload_kinds import page_at
from jobs.models import Job
from jobs.selectors.jobs import visible_jobs
from portal.core.messages import Message
from registry.models import ModelVersion
from registry.selectors import in_readable_teams
from schedulers.states import State
from workspaces.access.actors import Actor

KINDS = {  # in the order of a legend
    "dataset": Message("Dataset", context="kind"),
    "checkpoint": Message("Checkpoint", context="kind"),
    "data": Message("External dataset", context="kind"),
    "job": Message("Job", context="kind"),
    "run": Message("Run", context="kind, training run"),
    "logged_model": Message("Logged model", context="kind"),
    "model": Message("Model", context="kind, machine learning"),
    "hidden": Message("Hidden", context="kind"),
}


class LineageKey(NamedTuple):
    """A row. `kind` is version, job (also for a run, which has its job's id), logged, model or data."""

    kind: str
    id: UUID | str


@dataclass
class Node:
    """A node as it is shown.

    `kind` is one of KINDS: `data` is a dataset that MLflow's client named; a hidden node says only
    how many there are. `level` is the distance from the node that was asked for, negative before
    it.
    """

    id: str
    kind: str
    title: str = ""
    detail: str = ""
    page: str = ""
    state: str = ""
    at: datetime | None = None
    level: int = 0
    count: int = 1
    is_deleted: bool = False


def shown(
    actor: Actor, org: str, keys: Collection[LineageKey], data: dict[LineageKey, dict[str, Any]]
) -> dict[LineageKey, Node]:
    """Return the nodes that the viewer may see. `org` is the slug for addresses of pages."""
    found: dict[LineageKey, Node] = {}
    for kind, nodes in (
        ("version", _versions),
        ("job", _jobs),
        ("job", _runs),
        ("logged", _logged_models),
        ("model", _models),
    ):
        ids = [key.id for key in keys if key.kind == kind and key not in found]
        if ids:
            found.update((LineageKey(kind, pk), node) for pk, node in nodes(actor, org, ids))
    for key in keys:
        if key.kind == "data":
            given = data.get(key, {})
            name, digest = str(given.get("name", "")), str(given.get("digest", ""))
            kind = given.get("kind", "data")  # of a version that was deleted
            found[key] = Node(
                f"data:{key.id}", kind, name[:200], digest[:100], is_deleted=kind != "data"
            )
    return found


def existing(keys: Collection[LineageKey]) -> set[LineageKey]:
    """Return the keys of rows that exist, whether or not the viewer may see them."""
    found: set[LineageKey] = set()
    for kind, models in (
        ("version", (Version,)),
        ("job", (Job, Run)),
        ("logged", (LoggedModel,)),
        ("model", (ModelVersion,)),
    ):
        ids = [key.id for key in keys if key.kind == kind]
        for model in models if ids else ():
            rows = model.objects.filter(id__in=ids).values_list("id", flat=True)
            found |= {LineageKey(kind, pk) for pk in rows}
    return found


Found = Iterator[tuple[UUID, Node]]


def _versions(actor: Actor, org: str, ids: Collection[Any]) -> Found:
    repositories = visible(actor, Repository.objects.all())
    rows = Version.objects.filter(id__in=ids, repository__in=repositories)
    tags: dict[UUID, str] = dict(
        Ref.objects.filter(version__in=ids, kind=Ref.Kind.TAG)
        .order_by("-name")
        .values_list("version_id", "name")
    )
    for row in rows.select_related("repository").defer("blocks"):
        repository, is_deleted = row.repository, row.repository.deleted_at is not None
        route = {"org": org, "kind": repository.kind, "repository": repository.name}
        yield (
            row.id,
            Node(
                f"version:{row.id}",
                repository.kind,
                f"{repository.name} v{row.number}",
                tags.get(row.id) or row.message,
                "" if is_deleted else f"{reverse('repository', kwargs=route)}?at={row.number}",
                at=row.created_at,
                is_deleted=is_deleted,
            ),
        )


def _jobs(actor: Actor, org: str, ids: Collection[Any]) -> Found:
    for row in visible_jobs(actor).filter(id__in=ids):
        yield (
            row.id,
            Node(
                f"job:{row.number}",
                "job",
                f"#{row.number} {row.name}",
                page=page_at(org, row.kind, row.number),
                state=State(row.state).label,
                at=row.created_at,
            ),
        )


def _runs(actor: Actor, org: str, ids: Collection[Any]) -> Found:
    rows = visible_runs(actor, "all").filter(id__in=ids).select_related("experiment")
    for row in rows:
        is_deleted = row.deleted_at is not None or row.experiment.deleted_at is not None
        yield (
            row.id,
            Node(
                f"run:{row.id.hex}",
                "run",
                row.name,
                row.experiment.name,
                "" if is_deleted else f"/{org}/runs/{row.id.hex}",
                STATES[RunStatus(row.status)],
                row.created_at,
                is_deleted=is_deleted,
            ),
        )


def _logged_models(actor: Actor, org: str, ids: Collection[Any]) -> Found:
    rows = visible_logged_models(actor, "all").filter(id__in=ids)
    for row in rows:
        page = f"/{org}/runs/{row.run_id.hex}?tab=artifacts" if row.run_id else ""
        yield (
            row.id,
            Node(
                f"logged:{row.id.hex}",
                "logged_model",
                row.name,
                row.model_type,
                page,
                at=row.created_at,
                is_deleted=row.deleted_at is not None,
            ),
        )


def _models(actor: Actor, org: str, ids: Collection[Any]) -> Found:
    rows = in_readable_teams(actor, ModelVersion.objects.filter(id__in=ids))
    for row in rows.select_related("model__team"):
        model, is_deleted = row.model, row.model.deleted_at is not None
        aliases = sorted(a for a, number in model.aliases.items() if number == row.version)
        page = reverse("model-version", args=[org, model.team.slug, model.name, row.version])
        yield (
            row.id,
            Node(
                f"model:{row.id}",
                "model",
                f"{model.name} v{row.version}",
                f"{model.team.slug} {' '.join(f'@{a}' for a in aliases)}".strip(),
                "" if is_deleted else page,
                at=row.created_at,
                is_deleted=is_deleted,
            ),
        )
