"""What a run ran with, and what a new job can repeat of it."""

from __future__ import annotations

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
    "commit": Message("Commit"),
    "branch": Message("Branch"),
    "repository": Message("Repository"),
    "source": Message("Source"),
    "version": Message("Version"),
}


@dataclass(frozen=True)
class Part:
    """A part of a run that a new job repeats or cannot repeat, with its value and why."""

    label: Message
    value: str
    note: Message | str = ""


@dataclass(frozen=True)
class Reproduction:
    """`job` is the number to run again; None if the run has no job."""

    job: int | None
    pinned: list[Part] = field(default_factory=list)
    unpinned: list[Part] = field(default_factory=list)


def environment_of(run: Run) -> list[tuple[Message, str]]:
    """Return where and with what the run ran, as pairs of label and value."""
    found = [
        (_LABELS[name], run.tags[tag]) for tag, name in SOURCE_TAGS.items() if run.tags.get(tag)
    ]
    job = run.job
    if job is None:
        return found
    kinds = [name.removeprefix("gpu.").upper() for name in job.resources if name.startswith("gpu.")]
    gpus = job.resources.get("gpu", 0)
    facts = (
        (Message("Image"), job.spec.get("image", "")),
        (Message("GPUs"), f"{gpus} × {kinds[0] if kinds else 'GPU'}" if gpus else ""),
        (Message("Cluster"), job.cluster.name),
        (Message("Node"), ", ".join((job.nodes or [job.node])[:4]) if job.node else ""),
    )
    return found + [(label, value) for label, value in facts if value]


def reproduction_of(run: Run, job: Job | None) -> Reproduction:
    """Return what a new job with the spec of the run's job would repeat."""
    if job is None:
        return Reproduction(None)
    spec: dict[str, Any] = job.spec
    pinned = [Part(Message("Command"), str(spec.get("run", "")))]
    unpinned = []
    if spec.get("envs"):
        names = ", ".join(sorted(spec["envs"]))
        pinned.append(Part(Message("Environment variables"), names))
    gpus = [
        f"{n} × {k.removeprefix('gpu.').upper()}"
        for k, n in job.resources.items()
        if k.startswith("gpu.")
    ]
    if gpus:
        pinned.append(Part(Message("GPUs"), ", ".join(gpus)))
    image = str(spec.get("image", ""))
    if "@sha256:" in image:
        pinned.append(Part(Message("Image"), image))
    elif image:
        note = Message("The tag may point to another image now. Use its digest to pin it.")
        unpinned.append(Part(Message("Image"), image, note))
    else:
        note = Message("The job uses the programs of the node, which may have changed.")
        unpinned.append(Part(Message("Programs"), "", note))
    commit = run.tags.get(COMMIT, "")
    if commit and commit[:7] in f"{spec.get('run', '')} {spec.get('setup', '')}":
        pinned.append(Part(Message("Commit"), commit))
    elif commit:
        note = Message("The command doesn't check it out. Check out this commit in `setup`.")
        unpinned.append(Part(Message("Commit"), commit, note))
    else:
        note = Message("The run has recorded no commit. Run it from a git repository with MLflow.")
        unpinned.append(Part(Message("Code"), "", note))
    for given in run.inputs:
        dataset = given.get("dataset") or {}
        note = Message("The digest is recorded; the program decides which version it reads.")
        value = f"{dataset.get('name', '')} {dataset.get('digest', '')}".strip()
        unpinned.append(Part(Message("Data"), value, note))
    command = f"{spec.get('run', '')}"
    loose = [
        name
        for name, value in run.params.items()
        if str(value) not in command and str(value) not in map(str, spec.get("envs", {}).values())
    ]
    if run.params and not loose:
        pinned.append(Part(Message("Parameters"), ", ".join(sorted(run.params))))
    elif loose:
        note = Message(
            "Neither the command nor a variable sets them; the program's defaults apply."
        )
        unpinned.append(Part(Message("Parameters"), ", ".join(sorted(loose)), note))
    if job.node:
        note = Message("The scheduler may choose another node.")
        unpinned.append(Part(Message("Node"), ", ".join((job.nodes or [job.node])[:4]), note))
    return Reproduction(job.number, pinned, unpinned)
