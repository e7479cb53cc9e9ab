"""Represent the outputs of a job: one shape for the API, the page and the CLI."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from datasets.models import Ref, Repository, Version
from jobs.models import Job, JobOutput
from jobs.models.output import OutputState
from jobs.saving.versions import best_of, metric_values, name_of, versions_by
from jobs.specs.stored import spec_of
from portal.core.messages import Message
from portal.core.shapes import Time
from schedulers.spec.data import Output
from schedulers.states import State

SHOWN = 10  # versions of an output


class OutputVersionShape(TypedDict):
    version: int
    commit: str
    message: str
    files: int
    bytes: int
    created_at: Time
    is_latest: bool
    is_best: Annotated[bool, "Kept by keep.best."]
    metric: Annotated[str, "Of keep.best."]
    value: Annotated[float | None, "Last value of the metric before the version was made."]
    tags: list[str]


class JobOutputShape(TypedDict):
    name: str
    index: Annotated[int, "Array task; else 0."]
    kind: str
    repository: str
    page: Annotated[str | None, "null until something was saved."]
    every: Annotated[int, "Seconds; 0: only at the end."]
    resume: str
    keep: dict[str, Any]
    path: str
    state: Annotated[str, "waiting, saving, saved or failed"]
    text: str
    is_resumed: bool
    saved_at: Time | None
    versions: list[OutputVersionShape]


def output_rows(job: Job, index: int | None = None) -> list[JobOutputShape]:
    """Return the outputs of a job, or of one task, with their last versions."""
    outputs = spec_of(job).outputs if job.spec.get("outputs") else {}
    if not outputs:
        return []
    found = JobOutput.objects.filter(job=job).select_related("repository", "version", "attempt")
    known = {(row.index, row.name): row for row in found.defer("seen", "version__blocks")}
    tasks = sorted({at for at, _ in known}) or [0] if index is None else [index]
    return [
        _row(job, at, name, output, known.get((at, name)))
        for at in tasks
        for name, output in outputs.items()
    ]


def _row(job: Job, index: int, name: str, output: Output, row: JobOutput | None) -> JobOutputShape:
    repository = row.repository if row else None
    if repository is not None and repository.deleted_at is not None:
        repository = None
    if row is not None:
        row.job = job
    page = f"/{job.org.slug}/{output.kind}s/{repository.name}" if repository else None
    state = row.state if row else OutputState.WAITING
    return {
        "name": name,
        "index": index,
        "kind": output.kind,
        "repository": repository.name if repository else name_of(output),
        "page": page,
        "every": output.every,
        "resume": str(output.resume),
        "keep": output.keep.model_dump(mode="json", exclude_defaults=True),
        "path": output.path,
        "state": str(state),
        "text": _text(job, name, row),
        "is_resumed": bool(row and row.is_resumed),
        "saved_at": row.saved_at if row else None,
        "versions": _versions(row, repository, output) if row and repository else [],
    }


def _text(job: Job, name: str, row: JobOutput | None) -> str:
    """Return one sentence on what happens with an output; empty if it is simply saved."""
    is_over = State(job.state).is_final
    if row is None or row.attempt is None:
        return Message("The job has not started.") if not is_over else Message("Nothing was saved.")
    if row.state == OutputState.FAILED:
        return Message("Output not saved: {why}", why=row.message)
    has_ended = State(row.attempt.state).is_final
    if row.state == OutputState.SAVING or (has_ended and not row.is_over):
        return Message("Saving output {name}…", context="text, jobs", name=name)
    if row.message:
        return row.message  # type: ignore[no-any-return]
    if row.state == OutputState.WAITING:
        if row.is_over:
            return Message("The job wrote no files there.")
        return Message("Nothing was saved yet.")
    return ""


def _versions(row: JobOutput, repository: Repository, output: Output) -> list[OutputVersionShape]:
    made: list[Version] = list(versions_by(row.job, repository).defer("blocks")[:200])
    best = [version.id for version in best_of(row, made)]
    metric = output.keep.best.metric if output.keep.best else ""
    values = metric_values(row, metric, made[:SHOWN]) if metric else {}
    shown = made[:SHOWN] + [version for version in made[SHOWN:] if version.id in best]
    names = Ref.objects.filter(repository=repository, version__in=shown, kind=Ref.Kind.TAG)
    tags: dict[Any, list[str]] = {}
    for version_id, name in names.order_by("name").values_list("version_id", "name"):
        tags.setdefault(version_id, []).append(name)
    return [
        {
            "version": version.number,
            "commit": version.commit,
            "message": version.message,
            "files": version.files,
            "bytes": version.bytes,
            "created_at": version.created_at,
            "is_latest": version.id == made[0].id,
            "is_best": version.id in best,
            "metric": metric,
            "value": values.get(version.id),
            "tags": tags.get(version.id, []),
        }
        for version in shown
    ]
