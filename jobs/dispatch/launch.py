"""Build what a backend starts from an attempt: names, environment variables and token."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from django.conf import settings

from clusters.models import Cluster, Pool, PoolGrant, PoolReservation
from clusters.reserved_gpus import fits_in, reservations_in
from clusters.sharing import not_served_text, only_org_id, uids_of
from jobs.data.folders import JobFolders
from jobs.data.inputs import JobData
from jobs.dispatch.avoidance import excluded_nodes
from jobs.kinds.workload_kinds import kind_of, page_of
from jobs.models import Attempt, Job
from jobs.models.attempt import placed_on
from jobs.ports.ssh import shell_secret
from jobs.ports.terminal import terminal_page
from jobs.saving.launching import with_outputs
from jobs.saving.starting import Begun, begin
from jobs.specs.examples import contents
from jobs.specs.stored import request_of, spec_of
from portal.core.messages import Message
from schedulers.capacity import ResourceRequest
from schedulers.contract import (
    FolderMount,
    Identity,
    InputFiles,
    Launch,
    LaunchBlock,
    LaunchData,
    LaunchIdentity,
    LaunchLimits,
    LaunchNetwork,
    LaunchPlace,
    LaunchPort,
    Placement,
)
from schedulers.programs import with_shell
from schedulers.spec import JobSpec, Launcher, Task, environment, ports_of, script
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
    launches = []
    for attempt, token, secrets in zip(attempts, tokens, opened, strict=True):
        job, grant = attempt.job, grants.get(_grant_key(attempt))
        inputs, mounts = (data or {}).get(job.id), (folders or {}).get(job.id)
        spec = spec_of(job)
        launch = _launch(
            spec,
            _task(attempt, token, secrets.values),
            attempt.key,
            job.pool,
            _identity(attempt, grant, uids.get(job.team_id, 0)),
            LaunchPlace(
                reservation=_reservation(job, kept), exclude_nodes=avoided.get(attempt.id, ())
            ),
            LaunchData(
                secret_files=_secret_files(spec, secrets.values),
                inputs=tuple(inputs.inputs) if inputs else (),
                folders=tuple(mounts.mounts) if mounts else (),
            ),
        )
        blocks = (
            _block_folders(mounts),
            _block_inputs(inputs),
            _block_other_organization(cluster, only, attempt),
            _block_missing_secret(secrets),
            _block_revoked_grant(job.pool, grant),
        )
        launch = replace(
            launch,
            is_new=attempt.id not in known,
            block=next((block for block in blocks if block), None),
        )
        launch = with_shell(
            kind_of(job).with_programs(launch, job),
            shell_secret(attempt.key),
            partial(terminal_page, spec.name, page_of(job)),
        )
        outputs = begun.get(attempt.id, ())
        launches.append(with_outputs(launch, attempt, outputs) if outputs else launch)
    return launches


def _identity(attempt: Attempt, grant: PoolGrant | None, uid: int) -> LaunchIdentity:
    job = attempt.job
    return LaunchIdentity(job.org.slug, job.team.slug, job.owner.email, uid, _run_as(grant))


def _run_as(grant: PoolGrant | None) -> Identity:
    return Identity(grant.run_as, grant.account, grant.qos) if grant else Identity()


def _secret_files(spec: JobSpec, secrets: Mapping[str, str]) -> dict[str, str]:
    return {name: secrets[name] for name in spec.secret_files if name in secrets}


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


def _block_missing_secret(opened: OpenedSecrets) -> LaunchBlock | None:
    """Bar a launch whose secret was deleted since; it would fail without explanation."""
    return LaunchBlock(opened.lacks, "secrets") if opened.lacks else None


def _block_inputs(data: JobData | None) -> LaunchBlock | None:
    """Bar a launch whose data may no longer be read."""
    return LaunchBlock(data.refusal, "inputs") if data and data.refusal else None


def _block_folders(folders: JobFolders | None) -> LaunchBlock | None:
    """Bar a launch whose workspaces may no longer be used."""
    return LaunchBlock(folders.refusal, "workspaces") if folders and folders.refusal else None


def _block_other_organization(
    cluster: Cluster | None, only: UUID | None, attempt: Attempt
) -> LaunchBlock | None:
    """Bar a launch that was claimed before the cluster was restricted to one organization."""
    if cluster is None or only in (None, attempt.job.org_id):
        return None
    return LaunchBlock(not_served_text(cluster))


def _block_revoked_grant(pool: Pool | None, grant: PoolGrant | None) -> LaunchBlock | None:
    """Bar a launch whose grant was revoked; it would otherwise run as the wrong user."""
    if grant is not None or pool is None or pool.is_open:
        return None
    return LaunchBlock(Message("The team may no longer use pool {name}.", name=pool.name))


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
    launch = _launch(
        spec,
        task,
        "muster-rehearsal",
        pool,
        LaunchIdentity(actor.org_slug, team.slug, actor.email, run_as=_run_as(grant)),
        LaunchPlace(
            reservation=next((row.name for row in kept if fits_in(row, request)), ""),
        ),
        LaunchData(
            inputs=tuple(
                InputFiles(
                    name, actor.org_slug, entry.kind, entry.name, 0, "0" * 40, path=entry.path
                )
                for name, entry in spec.inputs.items()
            ),
            folders=tuple(
                FolderMount(name, "", entry.path, entry.read_only, text=entry.workspace)
                for name, entry in spec.workspaces.items()
            ),
        ),
    )
    return replace(launch, block=_block_revoked_grant(pool, grant))


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


def _reservation(job: Job, kept: Sequence[PoolReservation]) -> str:
    """Return the reservation that a job runs in: the smallest of its team that it fits into."""
    need = ResourceRequest.of_totals(job.resources, job.spec.get("num_nodes", 1))
    names = (
        row.name
        for row in kept
        if (row.pool_id, row.team_id) == (job.pool_id, job.team_id) and fits_in(row, need)
    )
    return next(names, "")


def _grant_key(attempt: Attempt) -> tuple[UUID | None, UUID]:
    return attempt.job.pool_id, attempt.job.team_id


def placement_of(attempt: Attempt) -> Placement | None:
    """Return the portal's placement; None if the cluster's own scheduler chooses."""
    parts = [
        Placement(
            node=part["node"],
            cpus=part["cpus"] / 1000,
            memory=part["memory"],
            gpus=tuple(part["gpus"]),
            gpu_uuids=tuple(part["uuids"]),
        )
        for part in placed_on(attempt.placement)
    ]
    return replace(parts[0], others=tuple(parts[1:])) if parts else None


def _launch(
    spec: JobSpec,
    task: Task,
    key: str,
    pool: Pool | None,
    identity: LaunchIdentity,
    place: LaunchPlace,
    data: LaunchData,
) -> Launch:
    """Build a launch; example files travel along unless the node sees the portal's files."""
    resources, text = spec.resources, script(spec)
    is_away = task.placement is None and "MUSTER_EXAMPLES" in text
    return Launch(
        key=key,
        name=spec.name,
        script=text,
        env=environment(spec, replace(task, examples_dir="") if is_away else task),
        image=spec.image,
        native=spec.native,
        identity=identity,
        place=replace(
            place,
            num_nodes=spec.num_nodes,
            is_on_first_node_only=spec.launcher in {Launcher.MPI, Launcher.SRUN},
            partition=pool.partition if pool else "",
            node_labels=dict(pool.labels) if pool else {},
            placement=task.placement,
        ),
        data=replace(data, examples=contents(settings.MUSTER_EXAMPLES)) if is_away else data,
        limits=LaunchLimits(
            cpus=resources.cpus,
            memory=resources.memory,
            gpus=resources.gpus,
            gpu_type=resources.gpu_type,
            shm_size=resources.shm_size,
            time_limit=spec.policy.max_runtime,
            grace=spec.policy.grace,
        ),
        network=_network(spec, task),
    )


def _network(spec: JobSpec, task: Task) -> LaunchNetwork:
    if not spec.ports:
        return LaunchNetwork()
    numbers = ports_of(spec, task.attempt_id)
    ports = (LaunchPort(port.name, numbers[port.name], port.protocol) for port in spec.ports)
    return LaunchNetwork(tuple(ports), settings.MUSTER_GATEWAY_URL)
