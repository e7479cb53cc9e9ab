"""Decide what data jobs may read, and prepare it for their launch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from datasets import access
from datasets.models import Repository, Version
from datasets.uses import VersionUse
from jobs.kinds.workload_kinds import page_of
from jobs.models import Attempt, Job, JobInput, JobOutput
from jobs.selectors.jobs import visible_jobs
from portal.core.errors import PortalError
from portal.core.messages import Message
from schedulers.contract import InputFiles
from schedulers.states import State
from workspaces.access.actors import ALL_SCOPES, Actor, TokenFacts, actor_of
from workspaces.models import Team
from workspaces.tenancy.scope import org_scope

MOST_SHOWN = 20  # jobs on the page of a dataset's versions


def job_reader(actor: Actor, team: Team) -> Actor:
    """Return the actor as a job of this team: it reads no more than its token does."""
    scopes = actor.token.scopes if actor.token else frozenset({ALL_SCOPES})
    facts = TokenFacts(
        id=team.id, org_id=team.org_id, team_id=team.id, attempt_id=None, scopes=scopes
    )
    return replace(actor, token=facts)


def files_of(name: str, version: Version, path: str) -> InputFiles:
    """Return what a backend needs to know about an input."""
    repository = version.repository
    return InputFiles(
        name=name,
        org=repository.org.slug,
        kind=repository.kind,
        repository=repository.name,
        number=version.number,
        commit=version.commit,
        path=path,
        files=version.files,
        bytes=version.bytes,
    )


@dataclass(frozen=True)
class JobData:
    """The inputs of a job, with their versions; `refusal` is why it must not start."""

    inputs: Sequence[InputFiles] = ()
    versions: Sequence[Version] = ()
    refusal: str = ""


def data_of(attempts: Sequence[Attempt]) -> dict[UUID, JobData]:
    """Return the inputs of these attempts by job. One query, or none if no job has any."""
    jobs = {a.job_id: a.job for a in attempts if a.job.spec.get("inputs")}
    if not jobs:
        return {}
    rows = defaultdict[UUID, list[JobInput]](list)
    found = JobInput.objects.filter(job__in=list(jobs)).order_by("name")
    for row in found.select_related("version__repository__org", "version__repository__team"):
        rows[row.job_id].append(row)
    return {pk: _data_of(job, rows[pk]) for pk, job in jobs.items()}


def _data_of(job: Job, rows: Sequence[JobInput]) -> JobData:
    with org_scope(job.org_id):
        try:
            readable = _readable(job, rows)
        except PortalError as error:  # the owner has left the organization
            return JobData(refusal=error.message)
    for row in rows:
        if refusal := _refusal(job, row, readable):
            return JobData(refusal=refusal)
    paths = {name: _path_of(entry) for name, entry in job.spec["inputs"].items()}
    versions = [row.version for row in rows if row.version]
    return JobData(
        [files_of(row.name, row.version, paths.get(row.name, "")) for row in rows if row.version],
        versions,
    )


def _readable(job: Job, rows: Sequence[JobInput]) -> set[UUID]:
    """Return the repositories that the job may read now."""
    reader = job_reader(actor_of(job.owner).enter(job.org), job.team)
    ids = [row.version.repository_id for row in rows if row.version]
    repositories = Repository.objects.filter(id__in=ids, deleted_at=None)
    return set(access.visible(reader, repositories).values_list("id", flat=True))


def _refusal(job: Job, row: JobInput, readable: set[UUID]) -> str:
    text = f"{row.repository}@{row.number}"
    if row.version is None:
        return Message("{version} was deleted before the job started.", version=text)
    if row.version.repository.deleted_at is not None:
        return Message(
            "{version} was moved to the trash before the job started. Restore it and run the job "
            "again.",
            version=text,
        )
    if row.version.repository_id not in readable:
        return Message(
            "{version} is no longer shared with the job's owner and team {team}.",
            version=text,
            team=job.team.slug,
        )
    return ""


def _path_of(entry: object) -> str:
    return str(entry.get("path", "")) if isinstance(entry, dict) else ""


def commits_in_use(org_id: UUID) -> set[str]:
    """Return the versions that jobs read which have not ended. For `datasets.uses`."""
    rows = JobInput.objects.filter(org_id=org_id, job__state__lt=State.SUCCEEDED)
    resumed = JobOutput.objects.filter(org_id=org_id, is_over=False, version__isnull=False)
    return set(rows.values_list("commit", flat=True)) | set(
        resumed.values_list("version__commit", flat=True)
    )


def jobs_reading(actor: Actor, repository: Repository) -> list[VersionUse]:
    """Return the last jobs that read a repository and that the actor may see."""
    rows = JobInput.objects.filter(version__repository=repository, job__in=visible_jobs(actor))
    return [
        VersionUse(
            version=row.number,
            title=f"#{row.job.number} {row.job.name}",
            url=page_of(row.job),
            state=State(row.job.state).label,
        )
        for row in rows.select_related("job__org").order_by("-job__number")[:MOST_SHOWN]
    ]
