"""Find the versions of data that a job names, and pin them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from datasets.models import Ref, Repository, Version
from datasets.selectors import find_repository, find_version, refs_of
from datasets.services.records import keep_versions
from jobs.data.inputs import job_reader
from jobs.models import Job, JobInput
from portal.core.errors import InvalidInput, NotFound
from portal.core.formatting import bytes_text
from portal.core.messages import Message
from schedulers.spec import Input, JobSpec
from workspaces.access.actors import Actor
from workspaces.models import Team

MOST_NAMED = 8  # tags in a message


@dataclass(frozen=True)
class ResolvedInput:
    """An input of the spec and the version that it names."""

    name: str
    input: Input
    version: Version


def resolve_inputs(actor: Actor, team: Team, spec: JobSpec) -> list[ResolvedInput]:
    """Return the versions that the spec names, which the actor and the job's team may read.

    Raises InvalidInput that says what exists.
    """
    found, errors = list[ResolvedInput](), list[dict[str, str]]()
    for name, entry in spec.inputs.items():
        try:
            found.append(ResolvedInput(name, entry, _version(actor, team, entry)))
        except NotFound as error:
            errors.append({"field": f"inputs.{name}", "message": error.message})
    if errors:
        first = Message.joined(": ", (errors[0]["field"], errors[0]["message"]))
        raise InvalidInput(first, errors=errors)
    return found


def keep_inputs(inputs: Sequence[ResolvedInput]) -> None:
    """Keep the versions from being deleted until the job is submitted.

    Raises InvalidInput if one was deleted in the meantime. To be called before quotas are locked,
    as whoever deletes versions locks them first as well.
    """
    kept = keep_versions([one.version.id for one in inputs]) if inputs else set()
    for one in inputs:
        if one.version.id not in kept:
            raise InvalidInput.at(
                f"inputs.{one.name}",
                Message(
                    "{version} was deleted in the meantime. Choose another version.",
                    version=f"{one.version.repository.name}@{one.version.number}",
                ),
            )


def record_inputs(job: Job, inputs: Sequence[ResolvedInput]) -> None:
    """Pin the versions of a new job."""
    JobInput.objects.bulk_create(
        JobInput(
            org_id=job.org_id,
            job=job,
            name=one.name,
            version=one.version,
            kind=one.version.repository.kind,
            repository=one.version.repository.name,
            number=one.version.number,
            commit=one.version.commit,
        )
        for one in inputs
    )


def with_pinned_inputs(job: Job, spec: JobSpec) -> JobSpec:
    """Return the spec of a job with the versions that it read, as far as they still exist."""
    rows = {row.name: row for row in JobInput.objects.filter(job=job).exclude(version=None)}
    pinned = {
        name: entry.model_copy(update={entry.kind: f"{entry.name}@{rows[name].number}"})
        if name in rows
        else entry
        for name, entry in spec.inputs.items()
    }
    return spec.model_copy(update={"inputs": pinned}) if pinned else spec


def text_of(inputs: Sequence[ResolvedInput]) -> str:
    """Say what a job reads, in one sentence."""
    words = ", ".join(
        f"{one.version.repository.name}@{one.version.number} ({bytes_text(one.version.bytes)})"
        for one in inputs
    )
    return Message("Reads {versions}.", context="text, jobs", versions=words)


def _version(actor: Actor, team: Team, entry: Input) -> Version:
    org, slash, name = entry.name.rpartition("/")
    if slash and org != actor.org_slug:
        raise NotFound(
            Message(
                "There is no {kind} {name}. Names of your own organization begin with {org}/.",
                kind=entry.kind,
                name=repr(entry.name),
                org=actor.org_slug,
            )
        )
    repository = find_repository(actor, entry.kind, name)
    try:
        find_repository(job_reader(actor, team), entry.kind, name)
    except NotFound:
        raise NotFound(
            Message(
                "Jobs of team {team} may not read {name}, which belongs to team {owner}. Share it "
                "with {team}.",
                team=team.slug,
                name=repository.name,
                owner=repository.team.slug,
            )
        ) from None
    try:
        return find_version(repository, entry.revision)
    except NotFound as error:
        raise NotFound(
            error.message
            if error.kind == "empty"
            else Message.joined(
                " ",
                (
                    Message(
                        "{name} has no version {revision}.",
                        name=repository.name,
                        revision=entry.revision,
                    ),
                    _what_exists(repository),
                ),
            )
        ) from None


def _what_exists(repository: Repository) -> str:
    tags = [ref.name for ref in refs_of(repository, Ref.Kind.TAG)]
    last = Version.objects.filter(repository=repository).order_by("-number").first()
    if tags:
        more = ", …" if len(tags) > MOST_NAMED else ""
        return Message("Its tags are {tags}.", tags=", ".join(tags[-MOST_NAMED:]) + more)
    if last is not None:
        return Message("It has no tags; its newest version is {number}.", number=last.number)
    return Message("It has no files yet.")
