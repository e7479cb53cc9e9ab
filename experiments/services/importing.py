"""Import runs of other tracking servers. Repeatable: a second import changes only what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID, uuid5

from django.db import IntegrityError, transaction

from experiments.models import Experiment, Run
from experiments.services import limits
from experiments.services.runs import NAME_TAG, PARENT_TAG, lock, random_name
from jobs.models import Job
from portal.core import clock
from portal.core.errors import Conflict
from portal.core.events import EventRecord, record
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission
from workspaces.tenancy.scope import platform_scope

SOURCE_TAG = "muster.imported_from"  # "<server> <run id there>"


@dataclass(frozen=True)
class ForeignRun:
    """A run of the tracking server `server`; `run_id` is its id there, 32 hexadecimal digits."""

    server: str
    run_id: str
    name: str = ""
    status: str = "FINISHED"
    started_ms: int = 0
    ended_ms: int | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return f"{self.server} {self.run_id}"


@transaction.atomic
def import_run(*, actor: Actor, experiment: Experiment, run: ForeignRun) -> tuple[Run, bool]:
    """Create or update the run of another server; return it, and whether it is new.

    It keeps its id if nobody has it here. Parameters and tags that are missing here are added;
    what was changed here since stays. Raises NotPermitted, InvalidInput, Conflict.
    """
    authorize(actor, Permission.EXPERIMENTS_WRITE, experiment.team_id)
    limits.check_texts("params", run.params, limits.PARAM_VALUE)
    limits.check_texts("tags", run.tags, limits.TAG_VALUE)
    limits.check_time("started_ms", run.started_ms)
    limits.check_time("ended_ms", run.ended_ms)
    if experiment.deleted_at is not None:
        raise Conflict(
            Message("{name} is in the trash. Restore it first.", name=experiment.name),
            code="deleted",
        )
    row, is_new = _found(run, experiment), False
    if row is None:
        row, is_new = _created(actor, experiment, run), True
    row = lock(actor, row)
    tags = {key: value for key, value in run.tags.items() if key not in {NAME_TAG, PARENT_TAG}}
    row.params = {**run.params, **row.params}
    row.tags = {**tags, **row.tags, SOURCE_TAG: run.source}
    limits.check_total("params", row.params)
    limits.check_total("tags", row.tags)
    parent = run.tags.get(PARENT_TAG, "")
    if parent and row.parent_id is None:
        row.parent = _found(ForeignRun(run.server, parent), experiment)
        row.tags |= {PARENT_TAG: row.parent.id.hex if row.parent else parent}
    row.status, row.ended_ms, row.updated_at = run.status, run.ended_ms, clock.now()
    row.save(update_fields=["params", "tags", "parent", "status", "ended_ms", "updated_at"])
    return row, is_new


def ids_of(run: ForeignRun, experiment: Experiment) -> list[UUID]:
    """Return the ids that an imported run may have: its own, else one that follows from it.

    Ids of version 5 follow from others, as those of tasks that have not started: nobody may take them.
    """
    other = uuid5(experiment.org_id, run.source)
    try:
        own = UUID(hex=run.run_id)
    except ValueError:
        return [other]
    return [other] if own.version == other.version else [own, other]


def _found(run: ForeignRun, experiment: Experiment) -> Run | None:
    rows = Run.objects.filter(id__in=ids_of(run, experiment), team_id=experiment.team_id)
    return next((row for row in rows if row.tags.get(SOURCE_TAG) == run.source), None)


def _created(actor: Actor, experiment: Experiment, run: ForeignRun) -> Run:
    """Write the row under the first id that is free in the installation."""
    assert actor.user_id is not None
    for pk in ids_of(run, experiment):
        with platform_scope("ids of jobs belong to their runs"):
            if Job.objects.filter(id=pk).exists():
                continue
        row = Run(
            id=pk,
            org_id=experiment.org_id,
            experiment=experiment,
            team_id=experiment.team_id,
            owner_id=actor.user_id,
            name=(run.name.strip() or random_name())[: limits.RUN_NAME],
            status=run.status,
            started_ms=run.started_ms,
            series_owner=f"run:{pk.hex}",
            tags={SOURCE_TAG: run.source},
        )
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            continue
        after = {"name": row.name, "status": row.status, "source": run.source}
        about = {"name": row.name, "experiment": experiment.number, "after": after}
        record(EventRecord("run.imported", row.org_id, "run", row.id, actor.email, about))
        return row
    raise Conflict(Message("The run {x} exists here already.", x=run.run_id))
