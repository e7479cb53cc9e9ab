"""Edges of the lineage. They are rows that exist for other reasons; nothing is stored here."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Exists, OuterRef

from datasets.models import Version
from experiments.lineage.nodes import LineageKey
from experiments.models import LoggedModel, Run
from experiments.selectors import ID
from jobs.models import JobInput
from registry.models import ModelVersion

MOST_INPUTS = 100  # of one run, as clients may log any number
MOST_EDGES = 2000  # of a kind from one level, the last ones: more than a graph shows


class Edge(NamedTuple):
    """`source` went into `target`. `data` describes a source that only the client knows."""

    source: LineageKey
    target: LineageKey
    label: str = ""
    data: dict[str, Any] | None = None


def before(keys: Collection[LineageKey]) -> Iterator[Edge]:
    """Yield the edges that end at these nodes."""
    yield from _before_versions(_ids(keys, "version"))
    yield from _before_jobs(_ids(keys, "job"))
    for pk, run_id in LoggedModel.objects.filter(
        id__in=_ids(keys, "logged"), run__isnull=False
    ).values_list("id", "run_id"):
        yield Edge(LineageKey("job", run_id), LineageKey("logged", pk))
    rows = ModelVersion.objects.filter(id__in=_ids(keys, "model"))
    for row in rows.only("run_id", "logged_model_id", "promoted_from_id", "checkpoint_id"):
        yield from _before_model(row)


def after(keys: Collection[LineageKey]) -> Iterator[Edge]:
    """Yield the edges that begin at these nodes."""
    versions, jobs = _ids(keys, "version"), _ids(keys, "job")
    logged, models = _ids(keys, "logged"), _ids(keys, "model")
    if jobs:
        made = Version.objects.filter(job_id__in=jobs).values_list("id", "job_id")
        for pk, job_id in _last(made):
            yield Edge(LineageKey("job", job_id), LineageKey("version", pk))
        logs = LoggedModel.objects.filter(run__in=jobs).values_list("id", "run_id")
        for pk, run_id in _last(logs):
            yield Edge(LineageKey("job", run_id), LineageKey("logged", pk))
        yield from _children(jobs)
    if versions:
        for read in _last(JobInput.objects.filter(version__in=versions)):
            yield Edge(
                LineageKey("version", read.version_id), LineageKey("job", read.job_id), read.name
            )
        rows = ModelVersion.objects.filter(checkpoint_id__in=versions)
        for pk, version_id in rows.values_list("id", "checkpoint_id"):
            yield Edge(LineageKey("version", version_id), LineageKey("model", pk), "registered")
    for field, kind, ids in (
        ("run_id", "job", jobs),
        ("logged_model_id", "logged", logged),
        ("promoted_from_id", "model", models),
    ):
        if ids:
            rows = ModelVersion.objects.filter(**{f"{field}__in": ids})
            for row in rows.only("run_id", "logged_model_id", "promoted_from_id", "checkpoint_id"):
                yield from (
                    edge
                    for edge in _before_model(row)
                    if edge.source == LineageKey(kind, getattr(row, field))
                )


def referred_to(ids: Collection[UUID]) -> set[UUID]:
    """Return those ids of versions that a job has read or a model was made from."""
    read = JobInput.objects.filter(version__in=list(ids)).values_list("version_id", flat=True)
    made = ModelVersion.objects.filter(checkpoint_id__in=list(ids))
    return {pk for pk in [*read, *made.values_list("checkpoint_id", flat=True)] if pk}


def _before_versions(ids: Collection[UUID]) -> Iterator[Edge]:
    rows = Version.objects.filter(id__in=ids, job_id__isnull=False)
    for pk, job_id in rows.values_list("id", "job_id"):
        yield Edge(LineageKey("job", job_id), LineageKey("version", pk))


def _before_jobs(ids: Collection[UUID]) -> Iterator[Edge]:
    for read in JobInput.objects.filter(job__in=ids):
        if read.version_id:
            yield Edge(
                LineageKey("version", read.version_id), LineageKey("job", read.job_id), read.name
            )
        else:  # deleted; the job says what it was
            gone = {"name": f"{read.repository} v{read.number}", "kind": read.kind}
            yield Edge(
                LineageKey("data", read.commit), LineageKey("job", read.job_id), read.name, gone
            )
    rows = Run.objects.filter(id__in=ids).only("inputs", "parent_id")
    for run in rows:
        key = LineageKey("job", run.id)
        if run.parent_id:
            yield Edge(LineageKey("job", run.parent_id), key, "child")
        for given in run.inputs[:MOST_INPUTS]:
            if ID.fullmatch(text := str(given.get("model_id", "")).removeprefix("m-")):
                yield Edge(LineageKey("logged", UUID(text)), key)
            elif isinstance(data := given.get("dataset"), dict):
                about = f"{data.get('name', '')}\n{data.get('digest', '')}"
                digest = hashlib.sha256(about.encode()).hexdigest()[:32]
                named = {name: data.get(name, "") for name in ("name", "digest")}
                yield Edge(LineageKey("data", digest), key, _context(given.get("tags")), named)


def _before_model(row: ModelVersion) -> Iterator[Edge]:
    """Yield the nearest origins of a model version: its run only if nothing is between them."""
    key = LineageKey("model", row.id)
    if row.promoted_from_id:
        yield Edge(LineageKey("model", row.promoted_from_id), key, "promoted")
    elif row.checkpoint_id:
        yield Edge(LineageKey("version", row.checkpoint_id), key, "registered")
    elif row.logged_model_id:
        yield Edge(LineageKey("logged", row.logged_model_id), key, "registered")
    elif row.run_id:
        yield Edge(LineageKey("job", row.run_id), key, "registered")


def _children(jobs: Collection[UUID]) -> Iterator[Edge]:
    """Yield the child runs, such as the tasks of an array, that models were made from."""
    has_model = Exists(LoggedModel.objects.filter(run=OuterRef("id"))) | Exists(
        ModelVersion.objects.filter(run_id=OuterRef("id"))
    )
    rows = Run.objects.filter(has_model, parent__in=jobs)
    for pk, parent_id in _last(rows.values_list("id", "parent_id")):
        yield Edge(LineageKey("job", parent_id), LineageKey("job", pk), "child")


def _last(rows: Any) -> Any:
    return rows.order_by("-id")[:MOST_EDGES]


def _context(tags: Any) -> str:
    """Return what a dataset was used for, such as "training", from the tags of an input."""
    if isinstance(tags, list):
        tags = {tag.get("key"): tag.get("value") for tag in tags if isinstance(tag, dict)}
    return str((tags or {}).get("mlflow.data.context", ""))[:50] if isinstance(tags, dict) else ""


def _ids(keys: Collection[LineageKey], kind: str) -> list[Any]:
    return [key.id for key in keys if key.kind == kind]
