"""Build what a backend starts from an attempt: names, environment variables and token."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.conf import settings

from clusters.holds import fits_in, reservations_in
from clusters.models import Cluster, Pool, PoolGrant, PoolReservation
from clusters.sharing import not_served_text, only_org_id, uids_of
from jobs.dispatch.avoidance import excluded_nodes
from jobs.examples import contents
from jobs.inputs import JobData
from jobs.job_specs import request_of, spec_of
from jobs.models import Attempt, Job
from jobs.saving.launching import with_outputs
from jobs.saving.starting import Begun, begin
from jobs.workspaces import JobFolders
from portal.core.messages import Message
from schedulers.capacity import ResourceRequest
from schedulers.contract import FolderMount, Identity, InputFiles, Launch, Placement
from schedulers.spec import JobSpec, Launcher, Task, environment, script
from workspaces.access.actors import Actor
from workspaces.credentials.secrets import OpenedSecrets, SecretReferences, open_secrets
from workspaces.credentials.tokens import Bearer, issue_attempt_tokens
from workspaces.models import Team

NIL = UUID(int=0)


def build_launches(
    attempts: Sequence[Attempt],
    known: Collection[UUID],
    cluster: Cluster | None = None,
    data: Mapping[UUID, JobData] | None = None,
    begun: Mapping[UUID, Sequence[Begun]] | None = None,
    folders: Mapping[UUID, JobFolders] | None = None,
) -> list[Launch]:
    """Build the launches of these attempts, with their tokens, secrets, data and system users.

    `begun` are the outputs of attempts (`jobs.saving.starting`), `known` those that may have been
    handed over before. System users are looked up only for clusters that need them.
    """
    grants, kept = _grants(attempts), reservations_of(attempt.job for attempt in attempts)
    tokens = issue_attempt_tokens(
        [
            Bearer(a.job.org_id, a.job.team_id, a.job.owner_id, a.id, f"job #{a.job.number}")
            for a in attempts
        ]
    )
    opened = open_secrets([_secret_use(attempt) for attempt in attempts])
    uids = uids_of(cluster, {attempt.job.team_id for attempt in attempts}) if cluster else {}
    only = only_org_id(cluster) if cluster else None
    begun = begin(attempts) if begun is None else begun
    avoided = excluded_nodes(cluster, attempts) if cluster else {}
    return [
        _build(
            attempt,
            token,
            secrets.values,
            begun.get(attempt.id, ()),
            is_new=attempt.id not in known,
            uid=uids.get(attempt.job.team_id, 0),
            **_grant_options(attempt.job.pool, grants.get(_grant_key(attempt)))
            | _reservation(attempt.job, kept)
            | _block_missing_secret(secrets)
            | _block_other_organization(cluster, only, attempt)
            | _inputs_of((data or {}).get(attempt.job_id))
            | _workspaces_of((folders or {}).get(attempt.job_id))
            | ({"exclude_nodes": names} if (names := avoided.get(attempt.id)) else {}),
        )
        for attempt, token, secrets in zip(attempts, tokens, opened, strict=True)
    ]


def _build(
    attempt: Attempt,
    token: str,
    secrets: Mapping[str, str],
    outputs: Sequence[Begun] = (),
    **more: Any,
) -> Launch:
    job = attempt.job
    spec, task = spec_of(job), _task(attempt, token, secrets)
    files = {name: secrets[name] for name in spec.secret_files if name in secrets}
    launch = _launch(
        spec, task, attempt.key, task.placement, job.owner.email, job.pool, files=files, **more
    )
    return with_outputs(launch, attempt, outputs) if outputs else launch


def _secret_use(attempt: Attempt) -> SecretReferences:
    job = attempt.job
    references = {**(job.spec.get("secrets") or {}), **(job.spec.get("secret_files") or {})}
    return SecretReferences(
        job.org_id,
        job.team_id,
        job.team.slug,
        references,
        job.id,
        {"number": job.number, "attempt": str(attempt.id)},
    )


def _block_missing_secret(opened: OpenedSecrets) -> dict[str, Any]:
    """Bar a launch whose secret was deleted since; it would fail without explanation."""
    return {"block_reason": opened.lacks, "blocked_field": "secrets"} if opened.lacks else {}


def _inputs_of(data: JobData | None) -> dict[str, Any]:
    """Return the inputs of a launch; data that may no longer be read bars it."""
    if data is None:
        return {}
    if data.refusal:
        return {"block_reason": data.refusal, "blocked_field": "inputs"}
    return {"inputs": tuple(data.inputs)}


def _workspaces_of(folders: JobFolders | None) -> dict[str, Any]:
    """Return the workspaces of a launch; one that may no longer be used bars it."""
    if folders is None:
        return {}
    if folders.refusal:
        return {"block_reason": folders.refusal, "blocked_field": "workspaces"}
    return {"workspaces": tuple(folders.mounts)}


def _block_other_organization(
    cluster: Cluster | None, only: UUID | None, attempt: Attempt
) -> dict[str, Any]:
    """Bar a launch that was claimed before the cluster was restricted to one organization."""
    return (
        {}
        if cluster is None or only in (None, attempt.job.org_id)
        else {"block_reason": not_served_text(cluster)}
    )


def environment_for(attempt: Attempt) -> dict[str, str]:
    """Return the environment variables of the attempt, without its token."""
    return environment(spec_of(attempt.job), _task(attempt, "(secret)", {}))


def _task(attempt: Attempt, token: str, secrets: Mapping[str, str]) -> Task:
    job = attempt.job
    return Task(
        job_id=job.id,
        number=job.number,
        attempt_id=attempt.id,
        attempt=attempt.ordinal,
        index=attempt.index,
        org=job.org.slug,
        team=job.team.slug,
        url=settings.MUSTER_BASE_URL,
        token=token,
        placement=placement_of(attempt),
        examples_dir=str(settings.MUSTER_EXAMPLES),
        secrets=secrets,
    )


def rehearsal_launch(pool: Pool | None, team: Team, actor: Actor, spec: JobSpec) -> Launch:
    """Build what would be handed over, with placeholders for ids and token."""
    task = Task(
        job_id=NIL,
        number=0,
        attempt_id=NIL,
        org=actor.org_slug,
        team=team.slug,
        url=settings.MUSTER_BASE_URL,
        token="(made when it starts)",  # noqa: S106  no secret
        examples_dir=str(settings.MUSTER_EXAMPLES),
    )
    grant = PoolGrant.objects.filter(pool=pool, team=team).first() if pool else None
    kept = reservations_in({pool.id}, {team.id}) if pool else ()
    request = request_of(spec)
    inputs = [
        InputFiles(name, actor.org_slug, entry.kind, entry.name, 0, "0" * 40, path=entry.path)
        for name, entry in spec.inputs.items()
    ]
    return _launch(
        spec,
        task,
        "muster-rehearsal",
        None,
        actor.email,
        pool,
        inputs=tuple(inputs),
        workspaces=tuple(
            FolderMount(name, "", entry.path, entry.read_only, text=entry.workspace)
            for name, entry in spec.workspaces.items()
        ),
        reservation=next((row.name for row in kept if fits_in(row, request)), ""),
        **_grant_options(pool, grant),
    )


def _grants(attempts: Sequence[Attempt]) -> dict[tuple[UUID | None, UUID], PoolGrant]:
    """Load the grants by pool and team: one query, or none if no job has a pool."""
    jobs = [attempt.job for attempt in attempts if attempt.job.pool_id]
    rows = (
        PoolGrant.objects.filter(
            pool__in={j.pool_id for j in jobs}, team__in={j.team_id for j in jobs}
        )
        if jobs
        else ()
    )
    return {(row.pool_id, row.team_id): row for row in rows}


def reservations_of(jobs: Iterable[Job]) -> list[PoolReservation]:
    """Return the reservations of these jobs' teams in their pools that the clusters keep."""
    found = {(job.pool_id, job.team_id) for job in jobs if job.pool_id}
    return reservations_in({pool for pool, _ in found if pool}, {team for _, team in found})


def _reservation(job: Job, kept: Sequence[PoolReservation]) -> dict[str, str]:
    """Return the reservation that a job runs in: the smallest of its team that it fits into."""
    need = ResourceRequest.of_totals(job.resources, job.spec.get("num_nodes", 1))
    names = (
        row.name
        for row in kept
        if (row.pool_id, row.team_id) == (job.pool_id, job.team_id) and fits_in(row, need)
    )
    return {"reservation": next(names, "")}


def _grant_key(attempt: Attempt) -> tuple[UUID | None, UUID]:
    return attempt.job.pool_id, attempt.job.team_id


def _grant_options(pool: Pool | None, grant: PoolGrant | None) -> dict[str, Any]:
    """Return what the grant adds to the launch.

    A revoked grant bars the launch, which would otherwise run as the wrong user.
    """
    if grant is not None:
        return {"identity": Identity(grant.run_as, grant.account, grant.qos)}
    return (
        {}
        if pool is None or pool.is_open
        else {"block_reason": Message("The team may no longer use pool {name}.", name=pool.name)}
    )


def placement_of(attempt: Attempt) -> Placement | None:
    """Return the portal's placement; None if the cluster's own scheduler chooses."""
    place = attempt.placement
    if not place:
        return None
    return Placement(
        node=place["node"],
        cpus=place["cpus"] / 1000,
        memory=place["memory"],
        gpus=tuple(place["gpus"]),
        gpu_uuids=tuple(place["uuids"]),
    )


def _launch(
    spec: JobSpec,
    task: Task,
    key: str,
    placement: Placement | None,
    user: str,
    pool: Pool | None,
    **more: Any,
) -> Launch:
    """Build a launch; example files travel along unless the node sees the portal's files."""
    resources, text = spec.resources, script(spec)
    is_away = placement is None and "MUSTER_EXAMPLES" in text
    return Launch(
        key=key,
        name=spec.name,
        script=text,
        env=environment(spec, replace(task, examples_dir="") if is_away else task),
        examples=contents(settings.MUSTER_EXAMPLES) if is_away else {},
        image=spec.image,
        cpus=resources.cpus,
        memory=resources.memory,
        gpus=resources.gpus,
        gpu_type=resources.gpu_type,
        num_nodes=spec.num_nodes,
        shm_size=resources.shm_size,
        time_limit=spec.policy.max_runtime,
        grace=spec.policy.grace,
        placement=placement,
        is_on_first_node_only=spec.launcher in {Launcher.MPI, Launcher.SRUN},
        org=task.org,
        team=task.team,
        user=user,
        partition=pool.partition if pool else "",
        node_labels=dict(pool.labels) if pool else {},
        native=spec.native,
        **more,
    )
