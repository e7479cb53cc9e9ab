"""What a run ran with, and what a new job can repeat of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from experiments.models import Run
from jobs.models import Job
from portal.core.messages import Message

# Tags of MLflow clients about the code, and their names here.
SOURCE_TAGS = {
    "mlflow.source.git.commit": "commit",
    "mlflow.source.git.branch": "branch",
    "mlflow.source.git.repoURL": "repository",
    "mlflow.source.name": "source",
    "mlflow.project.version": "version",
}
COMMIT = "mlflow.source.git.commit"
_LABELS = {
    "commit": Message("Commit", context="field"),
    "branch": Message("Branch", context="field"),
    "repository": Message("Repository", context="field"),
    "source": Message("Source", context="field"),
    "version": Message("Version", context="field"),
}


@dataclass(frozen=True)
class ReproductionPart:
    """A part of a run that a new job repeats or cannot repeat, with its value and why."""

    label: Message
    value: str
    note: Message | str = ""


@dataclass(frozen=True)
class Reproduction:
    """`job` is the number to run again; None if the run has no job.

    `changes` are the fields of its spec that pin what it names loosely.
    """

    job: int | None
    changes: dict[str, str] = field(default_factory=dict)
    pinned: list[ReproductionPart] = field(default_factory=list)
    unpinned: list[ReproductionPart] = field(default_factory=list)


def is_source_the_job(run: Run) -> bool:
    """Return whether the source of a run is the page of its job."""
    return bool(run.tags.get("mlflow.source.type") == "JOB")


def environment_of(run: Run) -> list[tuple[Message, str]]:
    """Return where and with what the run ran, as pairs of label and value."""
    job = run.job
    found = [
        (_LABELS[name], run.tags[tag])
        for tag, name in SOURCE_TAGS.items()
        if run.tags.get(tag) and not (name == "source" and is_source_the_job(run))
    ]
    if job is None:
        return found
    kinds = [name.removeprefix("gpu.").upper() for name in job.resources if name.startswith("gpu.")]
    gpus = job.resources.get("gpu", 0)
    facts = (
        (
            Message("Image", context="part of a comparison, container image"),
            job.spec.get("image", ""),
        ),
        (
            Message("GPUs", context="part of a comparison"),
            f"{gpus} × {kinds[0] if kinds else 'GPU'}" if gpus else "",
        ),
        (Message("Cluster", context="part of a comparison"), job.cluster.name),
        (
            Message("Node", context="part of a comparison"),
            ", ".join((job.nodes or [job.node])[:4]) if job.node else "",
        ),
    )
    return found + [(label, value) for label, value in facts if value]


def reproduction_of(run: Run, job: Job | None) -> Reproduction:
    """Return what a new job with the spec of the run's job would repeat."""
    if job is None:
        return Reproduction(None)
    found = Reproduction(job.number, pinned_fields(run, job))
    spec: dict[str, Any] = job.spec
    found.pinned.append(
        ReproductionPart(
            Message("Command", context="part of a comparison"), str(spec.get("run", ""))
        )
    )
    if envs := spec.get("envs"):
        found.pinned.append(
            ReproductionPart(
                Message("Environment variables", context="part of a comparison"),
                ", ".join(sorted(envs)),
            )
        )
    _add_hardware(found, job)
    _add_image(found, found.changes.get("image", str(spec.get("image", ""))))
    _add_code(found, run.tags.get(COMMIT, ""), f"{spec.get('setup', '')} {spec.get('run', '')}")
    _add_data(found, run, job)
    _add_params(found, run, spec)
    return found


def pinned_fields(run: Run, job: Job) -> dict[str, str]:
    """Return changes of the spec: the image by its digest, and each input by its version."""
    found = {}
    image, digest = str(job.spec.get("image", "")), run.tags.get("muster.image_digest", "")
    if image and digest and "@" not in image:
        name = image.rpartition(":")[0] if ":" in image.rpartition("/")[2] else image
        found["image"] = f"{name}@{digest}"
    given = job.spec.get("inputs") or {}
    for one in job.inputs.order_by("name"):
        entry, path = given.get(one.name), f"inputs.{one.name}"
        if isinstance(entry, dict):
            key = "dataset" if entry.get("dataset") else "checkpoint"
            entry, path = entry.get(key), f"{path}.{key}"
        if entry:
            found[path] = f"{str(entry).partition('@')[0]}@{one.number}"
    return found


def _add_hardware(found: Reproduction, job: Job) -> None:
    kinds = [
        f"{n} × {kind.removeprefix('gpu.').upper()}"
        for kind, n in job.resources.items()
        if kind.startswith("gpu.")
    ]
    if kinds:
        found.pinned.append(
            ReproductionPart(Message("GPUs", context="part of a comparison"), ", ".join(kinds))
        )
    if job.node:
        note = Message("The scheduler may choose another node.")
        nodes = ", ".join((job.nodes or [job.node])[:4])
        found.unpinned.append(
            ReproductionPart(Message("Node", context="part of a comparison"), nodes, note)
        )


def _add_image(found: Reproduction, image: str) -> None:
    if "@sha256:" in image:
        found.pinned.append(
            ReproductionPart(
                Message("Image", context="part of a comparison, container image"), image
            )
        )
    elif image:
        note = Message("The tag may point to another image now. Use its digest to pin it.")
        found.unpinned.append(
            ReproductionPart(
                Message("Image", context="part of a comparison, container image"), image, note
            )
        )
    else:
        note = Message("The job uses the programs of the node, which may have changed.")
        found.unpinned.append(
            ReproductionPart(Message("Programs", context="part of a comparison"), "", note)
        )


def _add_code(found: Reproduction, commit: str, commands: str) -> None:
    if commit and commit[:7] in commands:
        found.pinned.append(
            ReproductionPart(Message("Commit", context="part of a comparison"), commit)
        )
    elif commit:
        note = Message("The command doesn't check it out. Check out this commit in `setup`.")
        found.unpinned.append(
            ReproductionPart(Message("Commit", context="part of a comparison"), commit, note)
        )
    else:
        note = Message("The run has recorded no commit. Run it from a git repository with MLflow.")
        found.unpinned.append(
            ReproductionPart(Message("Code", context="part of a comparison"), "", note)
        )


def _add_data(found: Reproduction, run: Run, job: Job) -> None:
    for one in job.inputs.order_by("name"):
        found.pinned.append(
            ReproductionPart(
                Message("Data", context="part of a comparison"), f"{one.repository} v{one.number}"
            )
        )
    note = Message("The digest is recorded; the program decides which version it reads.")
    for given in run.inputs:
        dataset = given.get("dataset") or {}
        value = f"{dataset.get('name', '')} {dataset.get('digest', '')}".strip()
        found.unpinned.append(
            ReproductionPart(Message("Data", context="part of a comparison"), value, note)
        )


def _add_params(found: Reproduction, run: Run, spec: dict[str, Any]) -> None:
    """Parameters are pinned if the command or a variable has their value."""
    words = {
        *re.split(r"[\s=\"']+", str(spec.get("run", ""))),
        *map(str, (spec.get("envs") or {}).values()),
    }
    pinned = sorted(name for name, value in run.params.items() if str(value) in words)
    loose = sorted(set(run.params) - set(pinned))
    if pinned:
        found.pinned.append(
            ReproductionPart(
                Message("Parameters", context="part of a comparison"), ", ".join(pinned)
            )
        )
    if loose:
        note = Message("Neither the command nor a variable sets them, so the program decides.")
        found.unpinned.append(
            ReproductionPart(
                Message("Parameters", context="part of a comparison"), ", ".join(loose), note
            )
        )
