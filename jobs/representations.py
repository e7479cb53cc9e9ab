"""Represent jobs as JSON: one shape for the API, the pages, the CLI and live topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet

from clusters.models import Cluster
from jobs.job_specs import spec_of
from jobs.models import Attempt, Dependency, Job, JobInput, JobWorkspace
from jobs.models.job import PRIORITIES
from jobs.outputs import output_text
from jobs.ports.listing import port_rows
from jobs.reruns import parent_of
from jobs.saving.represent import output_rows
from jobs.scheduling.pending_summary import pending_summary
from jobs.storage import deleting
from jobs.utilization.selectors import gpu_utilization_of
from jobs.workload_kinds import page_of
from portal.core import clock
from portal.core.formatting import span_text
from portal.core.messages import Message
from schedulers import title_of
from schedulers.shares import share_of
from schedulers.spec.names import data_variable
from schedulers.states import Reason, State

_PRIORITY_NAMES = {rank: name for name, rank in PRIORITIES.items()}
SILENT_AFTER = 30.0  # Seconds without a response from the cluster until its reports count as stale.


def listed(rows: QuerySet[Job]) -> QuerySet[Job]:
    """Join what `job_row` reads, in one query."""
    return rows.select_related("org", "team", "owner", "cluster")


def job_rows(jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Return list items of the API with the GPU utilization of running jobs."""
    used = gpu_utilization_of(jobs)
    return [job_row(job) | {"gpu_utilization": used.get(job.id)} for job in jobs]


def job_row(job: Job) -> dict[str, Any]:
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
        "state_at": _iso(job.state_at),
        "is_stale": is_stale(job),
        "reason": reason_of(job.reason, job.evidence),
        "pending": _with_iso(pending_summary(job)),
        "priority": _PRIORITY_NAMES.get(job.priority, "normal"),
        "created_at": _iso(job.created_at),
        "started_at": _iso(job.started_at),
        "finished_at": _iso(job.finished_at),
        "exit_code": job.exit_code,
        "array": {"size": job.array_size} if job.array_size is not None else None,
        "attempt_count": job.attempt_count,
        "resources": _resources(job.resources),
        "labels": job.labels,
        "kind": job.kind,
        "origin": job.origin.as_dict() if job.origin else None,
        "node": job.node.partition(",")[0],
        "nodes": _nodes(job),
        "cluster": job.cluster.name,
        "image": job.spec.get("image", ""),
        "is_held": job.is_held,
        "page": page_of(job),
    }


def job_detail(job: Job) -> dict[str, Any]:
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
    return row | {
        "spec": job.spec,
        "yaml": spec_of(job).to_yaml(),
        "attempts": [attempt_row(a) for a in current],
        "after": [need.needs.number for need in needs],
        "inputs": [input_row(one) for one in inputs_of(job)],
        "workspaces": workspace_rows(job),
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


def input_row(one: JobInput) -> dict[str, Any]:
    """Return a version that a job reads; without a page once it was deleted."""
    repository = one.version.repository if one.version else None
    is_there = repository is not None and repository.deleted_at is None
    return {
        "name": one.name,
        "variable": data_variable("MUSTER_INPUT", one.name),
        "kind": one.kind,
        "repository": repository.name if repository else one.repository,
        "version": one.number,
        "commit": one.commit,
        "exists": is_there,
    }


def workspace_rows(job: Job) -> list[dict[str, Any]]:
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


def deletion_row(job: Job) -> dict[str, Any] | None:
    """Return who requested the deletion of logs, when, and its progress.

    `done` and `total` are null once all logs are deleted.
    """
    if job.log_delete_asked_at is None:
        return None
    going = deleting(job)
    return {
        "by": job.log_delete_asked_by,
        "at": _iso(job.log_delete_asked_at),
        "is_over": going is None,
        "done": going and going.done,
        "total": going and going.total,
    }


def new_job(job: Job) -> dict[str, Any]:
    """Return the response to a submission, without a query."""
    return job_row(job) | {"spec": job.spec}


def attempt_row(attempt: Attempt) -> dict[str, Any]:
    """Return one attempt."""
    state = State(attempt.state)
    return {
        "id": str(attempt.id),
        "index": attempt.index,
        "ordinal": attempt.ordinal,
        "state": state.label,
        "state_at": _iso(attempt.state_at),
        "reason": reason_of(attempt.reason, attempt.evidence),
        "queued_at": _iso(attempt.queued_at),
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


def reason_of(code: str, evidence: str) -> dict[str, Any] | None:
    """Return why the job ended, for people and programs; None if it has not."""
    if not code:
        return None
    reason = Reason(code)
    return {
        "code": code,
        "headline": reason.headline,
        "advice": reason.advice,
        "evidence": evidence,
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
    word = Message(state.label)
    if source_of(job) == "muster":
        time = span_text(clock.now() - job.state_at)
        if state.is_final:
            return Message("{state}, {time} ago", state=word, time=time)
        return Message("{state}, for {time}", state=word, time=time)
    silence = _silence(job.cluster)
    time = span_text(silence)
    if silence > SILENT_AFTER:
        return Message(
            "unknown: cluster {who} hasn't responded for {time}; last seen {state}",
            who=job.cluster.name,
            time=time,
            state=word,
        )
    who = Message(title_of(job.cluster.backend))
    return Message("{state}, reported by {who} {time} ago", state=word, who=who, time=time)


def _silence(cluster: Cluster) -> float:
    """Return the seconds since the cluster last responded."""
    return max((clock.now() - (cluster.seen_at or cluster.created_at)).total_seconds(), 0)


def _resources(held: Mapping[str, int]) -> dict[str, Any]:
    typed = next((name.partition(".")[2] for name in held if name.startswith("gpu.")), None)
    return {
        "cpus": held.get("cpu", 0) / 1000,
        "memory": held.get("memory", 0),
        "gpus": held.get(f"gpu.{typed}", 0) if share_of(typed or "") else held.get("gpu", 0),
        "gpu_type": typed,
    }


def _iso(at: datetime | None) -> str | None:
    return at.isoformat().replace("+00:00", "Z") if at else None


def _with_iso(pending: dict[str, Any] | None) -> dict[str, Any] | None:
    return pending and pending | {"since": _iso(pending["since"])}
