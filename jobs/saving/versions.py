"""Make versions of what a job wrote, and delete those that its `keep` rules no longer keep."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping
from dataclasses import replace
from math import inf, isfinite
from typing import Any
from uuid import UUID

from datasets import services
from datasets.access import check_may_write, visible
from datasets.models import Ref, Repository, Version
from datasets.names import LONGEST_MESSAGE, checked_name
from datasets.selectors import find_repository, tree_of, version_or_none
from datasets.services import Add, Change, Delete
from jobs.models import Attempt, Job, JobOutput
from jobs.saving.folder import paths_text
from jobs.specs.stored import spec_of
from portal import series
from portal.core.errors import Conflict, InvalidInput, NotPermitted
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from schedulers.spec.data import Output, Resume
from schedulers.spec.environment import task_run_id
from workspaces.access.actors import Actor, TokenFacts, actor_of, authorize
from workspaces.access.permissions import Permission
from workspaces.credentials.tokens import JOB_SCOPES
from workspaces.models import Team

# Files about the repository rather than of it: they stay when a job does not write them.
_CARD = frozenset({"README.md", ".gitattributes"})
_MOVED = 5  # commits of others during one of ours
_INCOMPLETE = "(may be incomplete: "  # in the message of a version with files that may be cut


def check_output(actor: Actor, team: Team, output: Output) -> None:
    """Raise InvalidInput or NotPermitted unless the actor may save this output as a job of the team.

    A repository that does not exist is made at the first save.
    """
    org, _, _ = output.repository.rpartition("/")
    if org not in ("", actor.org_slug):
        raise InvalidInput(
            Message("{name} belongs to another organization.", name=output.repository)
        )
    name = name_of(output)
    row = _named(output)
    if row is None:
        checked_name(name)
        authorize(actor, Permission.DATASETS_WRITE, team)
        return
    if not visible(actor, Repository.objects.filter(id=row.id)).exists():
        raise InvalidInput(
            Message(
                "The {kind} {name} belongs to another team, which does not share it. Choose "
                "another name.",
                kind=Message(output.kind),
                name=name,
            ),
            code="no_repository",
        )
    try:  # by the token of the job, which is limited to its team
        check_may_write(as_job(actor, team.id), row)
    except NotPermitted as error:
        if row.team_id == team.id:
            raise
        raise InvalidInput(
            Message(
                "The {kind} {name} belongs to {owner}. A job of {team} can't write to it. Choose "
                "another name.",
                kind=Message(output.kind),
                name=name,
                owner=row.team.name,
                team=team.name,
            ),
            code="other_team",
        ) from error


def repository_of(attempt: Attempt, output: Output, actor: Actor) -> Repository:
    """Return the repository of an output; it is made at the first use.

    Raises NotFound, Conflict, NotPermitted.
    """
    if _named(output) is None:
        try:
            return services.create_repository(
                actor=actor,
                team=attempt.job.team,
                kind=output.kind,
                name=name_of(output),
            )
        except Conflict:  # made meanwhile
            pass
    return find_repository(actor, output.kind, name_of(output))


def actor_for(attempt: Attempt) -> Actor:
    """Return the actor of a job: its submitter, limited as the token of the attempt is.

    Raises NotFound for people who have left the organization.
    """
    job = attempt.job
    return as_job(actor_of(job.owner).enter(job.org), job.team_id, attempt.id)


def as_job(actor: Actor, team_id: UUID, attempt_id: UUID | None = None) -> Actor:
    """Return the actor with the limits of a job's token."""
    assert actor.org_id is not None
    facts = TokenFacts(
        id=attempt_id or UUID(int=0),
        org_id=actor.org_id,
        team_id=team_id,
        attempt_id=attempt_id,
        scopes=frozenset(str(scope) for scope in JOB_SCOPES),
        name="output",
    )
    return replace(actor, token=facts, is_operator=False)


def resume_version(row: JobOutput, repository: Repository, output: Output) -> Version | None:
    """Return the version that a new attempt continues from; None to begin with an empty folder.

    With `resume: none` there is none. Otherwise it is the newest that the job itself has made
    without files that may be cut, and of a job that has made none, with `resume: latest`, that of
    the default branch, or the one before if files of that may be cut.
    """
    if output.resume == Resume.NONE:
        return None
    if row.version is not None and row.version.job_id == row.job_id:
        return row.version  # type: ignore[no-any-return]
    own = versions_by(row.job, repository).exclude(message__contains=_INCOMPLETE).first()
    if own is not None or output.resume != Resume.LATEST:
        return own
    version = version_or_none(repository)
    while version is not None and version.job_id and _INCOMPLETE in version.message:
        version = version.parent
    return version


def versions_by(job: Job, repository: Repository) -> Any:
    """Return the versions that a job has made of a repository, the last one first."""
    rows = Version.objects.filter(repository=repository, job_id=job.id)
    return rows.select_related("author").order_by("-number")


def save_version(
    row: JobOutput,
    repository: Repository,
    actor: Actor,
    files: Mapping[str, str],
    left_out: Collection[str] = (),
    cut: Collection[str] = (),
) -> Version | None:
    """Make a version of the files (SHA-256 by path), which the repository has already.

    Files that were `left_out` keep their last content; those that may be `cut` are named in its
    message. Returns None if nothing was written yet, and
    the version before if nothing has changed. Raises InvalidInput with the code `not_uploaded`.
    """
    if not files and not left_out:
        return None
    prefix = prefix_of(row)
    base = {entry.path: entry.sha256 for entry in tree_of(row.version).below(prefix)}
    wanted = {f"{prefix}/{path}" if prefix else path: sha256 for path, sha256 in files.items()}
    for path in left_out:
        full = f"{prefix}/{path}" if prefix else path
        if full in base:
            wanted[full] = base[full]
    if not wanted:
        return None
    for _ in range(_MOVED):
        head = version_or_none(repository)
        changes = _changes(head, wanted, prefix)
        if not changes:
            return head
        try:
            version = services.commit(
                actor=actor,
                repository=repository,
                changes=changes,
                message=message_of(row, cut),
                parent=head.commit if head else "",
                job_id=row.job_id,
            )
        except Conflict as error:
            if error.kind != "moved":
                raise
            continue
        _note(row, repository, version, is_cut=bool(cut))
        return version
    raise Conflict(Message("Others commit to {name} all the time.", name=repository.name))


def _changes(head: Version | None, wanted: Mapping[str, str], prefix: str) -> list[Change]:
    before = {entry.path: entry.sha256 for entry in tree_of(head).below(prefix)}
    gone = (path for path in before if path not in wanted and path not in _CARD)
    deleted: list[Change] = [Delete(path) for path in gone]
    return deleted + [
        Add(path, sha256) for path, sha256 in wanted.items() if before.get(path) != sha256
    ]


def _note(row: JobOutput, repository: Repository, version: Version, *, is_cut: bool) -> None:
    record(
        EventRecord(
            "job.output_saved",
            row.org_id,
            "job",
            row.job_id,
            "muster",
            {
                "output": row.name,
                "index": row.index,
                "attempt": row.attempt_id.hex if row.attempt_id else "",
                repository.kind: repository.name,
                "version": version.number,
                "files": version.files,
                "bytes": version.bytes,
                **({"is_incomplete": True} if is_cut else {}),
            },
        )
    )


def message_of(row: JobOutput, cut: Collection[str] = ()) -> str:
    """Return the message of a version: "Job #12: step 400"."""
    job = row.job
    task = "" if job.array_size is None else f", task {row.index}"
    step = series.last_step(_series_owner(row))
    incomplete = f" {_INCOMPLETE}{paths_text([*cut])})" if cut else ""
    text = f"Job #{job.number}{task}" + ("" if step is None else f": step {step}") + incomplete
    return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 2]}…)"


def prune(row: JobOutput, repository: Repository) -> int:
    """Delete the versions of this job that `keep` does not keep; return their number.

    Tagged versions and heads of branches stay, and everything under a legal hold.
    """
    spec = spec_of(row.job).outputs.get(row.name)
    if spec is None or (spec.keep.last is None and spec.keep.best is None):
        return 0
    made = list(versions_by(row.job, repository).defer("blocks"))
    kept = {version.id for version in made[: spec.keep.last or 1]} | {
        version.id for version in best_of(row, made)
    }
    named = Ref.objects.filter(repository=repository).values_list("version_id", flat=True)
    kept.update(pk for pk in named if pk)
    kept.add(row.version_id)  # from which a retry continues
    doomed = [version for version in made if version.id not in kept]
    return services.prune_versions(repository, doomed)


def best_of(row: JobOutput, versions: Collection[Version]) -> list[Version]:
    """Return the best versions by the metric of `keep.best`, the best one first."""
    spec = spec_of(row.job).outputs.get(row.name)
    best = spec.keep.best if spec else None
    if best is None:
        return []
    values = metric_values(row, best.metric, versions)
    sign = -1 if best.mode == "max" else 1
    found = [version for version in versions if version.id in values]
    found.sort(key=lambda version: (sign * values[version.id], -version.number))
    return found[: best.n]


def metric_values(row: JobOutput, metric: str, versions: Collection[Version]) -> dict[UUID, float]:
    """Return the last value of a metric before each version was made, where there is one."""
    points = sorted(
        (at, value)
        for _, at, value in series.history(_series_owner(row), metric)
        if isfinite(value)
    )
    found: dict[UUID, float] = {}
    for version in versions:
        at = version.created_at.timestamp() * 1000
        if place := bisect_right(points, (at, inf)):
            found[version.id] = points[place - 1][1]
    return found


def _series_owner(row: JobOutput) -> str:
    if row.job.array_size is None:
        return f"job:{row.job_id.hex}"
    return f"run:{task_run_id(row.job_id, row.index).hex}"


def prefix_of(row: JobOutput) -> str:
    """Return the folder of the version that the files go to: each task of an array has its own."""
    array = spec_of(row.job).array
    return "" if array is None else str(array.task_id(row.index))


def name_of(output: Output) -> str:
    """Return the name of the repository, without the organization that may be before it."""
    return output.repository.rpartition("/")[2]


def _named(output: Output) -> Repository | None:
    rows = Repository.objects.filter(
        kind=output.kind, name__iexact=name_of(output), deleted_at=None
    )
    return rows.select_related("team", "owner").first()  # type: ignore[no-any-return]
