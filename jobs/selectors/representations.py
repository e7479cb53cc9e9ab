"""Represent jobs as JSON, for the API, the pages, the CLI and live topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from django.db.models import Count, QuerySet

from clusters.models import Cluster
from jobs.data.log_storage import deleting
from jobs.data.outputs import output_text
from jobs.kinds.reruns import parent_of
from jobs.kinds.workload_kinds import page_of
from jobs.models import Attempt, Dependency, Job, JobInput, JobWorkspace
from jobs.models.job import PRIORITIES
from jobs.ports.listing import JobPortShape, port_rows
from jobs.saving.represent import JobOutputShape, output_rows
from jobs.scheduling.advice import ExpectedStartShape, SuggestionShape
from jobs.scheduling.pending_summary import PendingShape, pending_summary
from jobs.specs.stored import spec_of
from jobs.utilization.selectors import gpu_utilization_of
from portal.core import clock
from portal.core.formatting import span_text
from portal.core.messages import Message
from portal.core.shapes import Id, PersonShape, Time, time_text
from schedulers import title_of
from schedulers.exit_reasons import headline_of, missing_program
from schedulers.shares import share_of
from schedulers.spec.names import data_variable
from schedulers.states import Reason, State

_PRIORITY_NAMES = {rank: name for name, rank in PRIORITIES.items()}
SILENT_AFTER = 30.0  # Seconds without a response from the cluster until its reports count as stale.


class ReasonShape(TypedDict):
    code: str
    headline: str
    advice: str
    evidence: str
    fault: Annotated[str, "user, platform or nobody"]


class ResourcesShape(TypedDict):
    cpus: Annotated[float, "In cores."]
    memory: Annotated[int, "In bytes."]
    gpus: int
    gpu_type: str | None


class ArrayShape(TypedDict):
    size: int
    states: NotRequired[Annotated[dict[str, int], "Number of tasks by state."]]


class JobOriginShape(TypedDict):
    kind: str
    id: Id
    label: str


class JobShape(TypedDict):
    id: Id
    number: int
    name: str
    org: str
    team: str
    owner: PersonShape
    state: Annotated[str, "State of a job."]
    state_text: Annotated[str, "With its source and age."]
    state_source: str
    state_at: Time
    is_stale: bool
    reason: ReasonShape | None
    pending: PendingShape | None
    priority: str
    created_at: Time
    started_at: Time | None
    finished_at: Time | None
    exit_code: int | None
    array: ArrayShape | None
    attempt_count: int
    resources: ResourcesShape
    labels: dict[str, str]
    kind: Annotated[str, "The kind of workload: batch."]
    origin: Annotated[JobOriginShape | None, "What submitted it for its owner, such as a rerun."]
    node: str
    nodes: Annotated[list[str], "All nodes; `node` is the first."]
    cluster: str
    image: str
    is_held: bool
    page: str
    gpu_utilization: NotRequired[
        Annotated[float | None, "Of the last 5 minutes, from 0 to 1. In lists and of one job."]
    ]


class NewJobShape(JobShape):
    spec: dict[str, Any]


class AttemptShape(TypedDict):
    id: Id
    index: Annotated[int, "Array task; else 0."]
    ordinal: int
    state: Annotated[str, "State of a job."]
    state_at: Time
    reason: ReasonShape | None
    queued_at: Time
    started_at: Time | None
    finished_at: Time | None
    exit_code: int | None
    signal: int | None
    node: str
    nodes: list[str]
    native_id: Annotated[str, "Of the cluster's scheduler."]
    avoids: Annotated[list[str], "Nodes on which an earlier attempt failed."]
    gpus: list[int]
    peak_memory: int | None
    is_log_sealed: bool


class JobInputShape(TypedDict):
    name: str
    variable: Annotated[str, "The variable with its path in the job."]
    kind: Literal["dataset", "checkpoint"]
    repository: str
    version: int
    commit: str
    exists: Annotated[bool, "Whether the version was not deleted since."]


class JobWorkspaceShape(TypedDict):
    name: Annotated[str, "As in the spec."]
    variable: Annotated[str, "The variable that has its path."]
    workspace: str
    read_only: bool
    exists: bool


class LogDeletionShape(TypedDict):
    by: str
    at: Time
    is_over: bool
    done: Annotated[int | None, "Attempts whose logs are deleted; null once all are."]
    total: int | None


class JobDetailShape(JobShape):
    spec: dict[str, Any]
    yaml: str
    attempts: list[AttemptShape]
    after: list[int]
    inputs: list[JobInputShape]
    workspaces: list[JobWorkspaceShape]
    parent: int | None
    cancel_asked_by: str
    pool: str | None
    place_why: Annotated[str, "Reason for the placement, if there was a choice."]
    output: Annotated[
        str,
        "What becomes of what it writes to MUSTER_OUTPUT_DIR: where it is found, or that it is "
        "lost.",
    ]
    outputs: Annotated[list[JobOutputShape], "With the versions that the job has made."]
    ports: Annotated[list[JobPortShape], "Of the first task."]
    log_deletion: Annotated[
        LogDeletionShape | None, "null unless deletion of its logs was requested"
    ]
    expected_start: NotRequired[
        Annotated[ExpectedStartShape | None, "Of a pending job. Only with `advice`."]
    ]
    suggestions: NotRequired[
        Annotated[
            list[SuggestionShape], "What helps if it waits or has failed. Only with `advice`."
        ]
    ]


def listed(rows: QuerySet[Job]) -> QuerySet[Job]:
    """Join what `job_row` reads, in one query."""
    return rows.select_related("org", "team", "owner", "cluster")


def job_rows(jobs: Sequence[Job]) -> list[JobShape]:
    """Return list items of the API with the GPU utilization of running jobs."""
    used = gpu_utilization_of(jobs)
    rows = [job_row(job) for job in jobs]
    for job, row in zip(jobs, rows, strict=True):
        row["gpu_utilization"] = used.get(job.id)
    return rows


def job_row(job: Job) -> JobShape:
    """Return the list item of the API, without a query and so without `gpu_utilization`."""
    state = State(job.state)
    return {
        "id": str(job.id),
        "number": job.number,
        "name": job.name,
        "org": job.org.slug,
        "team": job.team.slug,
        "owner": {"email": job.owner.email, "name": job.owner.display_name},
        "state": state.label,
        "state_text": state_text(job),
        "state_source": source_of(job),
        "state_at": time_text(job.state_at),
        "is_stale": is_stale(job),
        "reason": reason_of(job.reason, job.evidence),
        "pending": pending_summary(job),
        "priority": _PRIORITY_NAMES.get(job.priority, "normal"),
        "created_at": time_text(job.created_at),
        "started_at": _iso(job.started_at),
        "finished_at": _iso(job.finished_at),
        "exit_code": job.exit_code,
        "array": {"size": job.array_size} if job.array_size is not None else None,
        "attempt_count": job.attempt_count,
        "resources": _resources(job.resources),
        "labels": job.labels,
        "kind": job.kind,
        "origin": _origin(job),
        "node": job.node.partition(",")[0],
        "nodes": _nodes(job),
        "cluster": job.cluster.name,
        "image": job.spec.get("image", ""),
        "is_held": job.is_held,
        "page": page_of(job),
    }


def job_detail(job: Job) -> JobDetailShape:
    """Return `job_row` with the spec, the attempts and the dependencies."""
    row = job_rows([job])[0]
    if job.array_size is not None:
        row["array"] = {"size": job.array_size, "states": array_states(job)}
    current = list(
        Attempt.objects.filter(job=job)
        .select_related("cluster")
        .order_by("index", "-ordinal")[:200]
    )
    needs = Dependency.objects.filter(job=job).select_related("needs").order_by("needs__number")
    return {
        **row,
        "spec": job.spec,
        "yaml": spec_of(job).to_yaml(),
        "attempts": [attempt_row(a) for a in current],
        "after": [need.needs.number for need in needs],
        "inputs": [input_row(one) for one in inputs_of(job)],
        "workspaces": folder_rows(job),
        "parent": parent.number if (parent := parent_of(job)) else None,
        "cancel_asked_by": job.cancel_asked_by,
        "pool": job.pool.name if job.pool else None,
        "place_why": job.place_why,
        "output": output_text(current[0]) if current else "",
        "outputs": output_rows(job),
        "ports": port_rows(current[0], job) if current else [],
        "log_deletion": deletion_row(job),
    }


def inputs_of(job: Job) -> list[JobInput]:
    """Return the versions that a job reads."""
    rows = JobInput.objects.filter(job=job).select_related("version__repository")
    return list(rows.order_by("name"))


def input_row(one: JobInput) -> JobInputShape:
    """Return a version that a job reads; without a page once it was deleted."""
    repository = one.version.repository if one.version else None
    is_there = repository is not None and repository.deleted_at is None
    return {
        "name": one.name,
        "variable": data_variable("MUSTER_INPUT", one.name),
        "kind": one.kind,  # type: ignore[typeddict-item]  # a choice of the model
        "repository": repository.name if repository else one.repository,
        "version": one.number,
        "commit": one.commit,
        "exists": is_there,
    }


def folder_rows(job: Job) -> list[JobWorkspaceShape]:
    """Return the workspaces that a job mounts; without a page once one was deleted."""
    if not job.spec.get("workspaces"):
        return []
    rows = JobWorkspace.objects.filter(job=job).select_related("folder").order_by("name")
    return [
        {
            "name": one.name,
            "variable": data_variable("MUSTER_WORKSPACE", one.name),
            "workspace": one.folder.name if one.folder else one.workspace,
            "read_only": one.read_only,
            "exists": one.folder is not None and one.folder.deleted_at is None,
        }
        for one in rows
    ]


def deletion_row(job: Job) -> LogDeletionShape | None:
    """Return who requested the deletion of logs, when, and its progress."""
    if job.log_delete_asked_at is None:
        return None
    going = deleting(job)
    return {
        "by": job.log_delete_asked_by,
        "at": time_text(job.log_delete_asked_at),
        "is_over": going is None,
        "done": going and going.done,
        "total": going and going.total,
    }


def new_job(job: Job) -> NewJobShape:
    """Return the response to a submission, without a query."""
    return {**job_row(job), "spec": job.spec}


def attempt_row(attempt: Attempt) -> AttemptShape:
    """Return one attempt."""
    state = State(attempt.state)
    return {
        "id": str(attempt.id),
        "index": attempt.index,
        "ordinal": attempt.ordinal,
        "state": state.label,
        "state_at": time_text(attempt.state_at),
        "reason": reason_of(attempt.reason, attempt.evidence),
        "queued_at": time_text(attempt.queued_at),
        "started_at": _iso(attempt.started_at),
        "finished_at": _iso(attempt.finished_at),
        "exit_code": attempt.exit_code,
        "signal": attempt.signal,
        "node": attempt.node,
        "nodes": _nodes(attempt),
        "native_id": attempt.native_id,
        "avoids": (attempt.avoid or {}).get("nodes", []),
        "gpus": (attempt.placement or {}).get("gpus", []),
        "peak_memory": attempt.peak_memory,
        "is_log_sealed": attempt.is_log_sealed,
    }


def _nodes(row: Job | Attempt) -> list[str]:
    """Return all nodes, the first one first; empty before placement.

    Rows older than `nodes` have a comma-separated `node`.
    """
    return row.nodes or [name for name in row.node.split(",") if name]


def array_states(job: Job) -> dict[str, int]:
    """Count the tasks by state."""
    rows = (
        Attempt.objects.filter(job=job, is_current=True)
        .values("state")
        .annotate(n=Count("id"))
        .order_by("state")
    )
    return {State(row["state"]).label: row["n"] for row in rows}


def reason_of(code: str, evidence: str) -> ReasonShape | None:
    """Return why the job ended, for people and programs; None if it has not."""
    if not code:
        return None
    reason = Reason(code)
    is_missing = bool(missing_program(evidence))
    return {
        "code": code,
        "headline": headline_of(reason, evidence),
        "advice": Message("Choose an image that has it.") if is_missing else reason.advice,
        "evidence": "" if is_missing else evidence,  # the headline says it
        "fault": str(reason.fault),
    }


def source_of(job: Job) -> str:
    """Return who reports the state: the cluster that has the job, else Muster."""
    state = State(job.state)
    return job.cluster.backend if state.is_active and state > State.DISPATCHING else "muster"


def is_stale(job: Job) -> bool:
    """Return whether the job's cluster has been silent for too long to trust the shown state."""
    return source_of(job) != "muster" and _silence(job.cluster) > SILENT_AFTER


def state_text(job: Job) -> str:
    """Return the state with its source and age: "running, reported by this machine 4 s ago"."""
    state = State(job.state)
    label = Message(state.label)
    if source_of(job) == "muster":
        time = span_text(clock.now() - job.state_at)
        if state.is_final:
            return Message("{state}, {time} ago", context="state of a job", state=label, time=time)
        return Message("{state}, for {time}", context="state of a job", state=label, time=time)
    silence = _silence(job.cluster)
    time = span_text(silence)
    if silence > SILENT_AFTER:
        return Message(
            "unknown: cluster {who} hasn't responded for {time}; last seen {state}",
            who=job.cluster.name,
            time=time,
            state=label,
        )
    who = Message(title_of(job.cluster.backend))
    return Message("{state}, reported by {who} {time} ago", state=label, who=who, time=time)


def _silence(cluster: Cluster) -> float:
    """Return the seconds since the cluster last responded."""
    return max((clock.now() - (cluster.seen_at or cluster.created_at)).total_seconds(), 0)


def _resources(held: Mapping[str, int]) -> ResourcesShape:
    typed = next((name.partition(".")[2] for name in held if name.startswith("gpu.")), None)
    return {
        "cpus": held.get("cpu", 0) / 1000,
        "memory": held.get("memory", 0),
        "gpus": held.get(f"gpu.{typed}", 0) if share_of(typed or "") else held.get("gpu", 0),
        "gpu_type": typed,
    }


def _origin(job: Job) -> JobOriginShape | None:
    origin = job.origin
    if origin is None:
        return None
    return {"kind": origin.kind, "id": str(origin.id), "label": origin.label}


def _iso(at: datetime | None) -> str | None:
    return time_text(at) if at else None
