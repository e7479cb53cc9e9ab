"""Create and change runs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from experiments.models import Experiment, Run, RunStatus
from experiments.services import limits
from jobs.models import Job
from portal.core import clock
from portal.core.errors import Conflict, InvalidInput, NotFound
from portal.core.events import EventRecord, changes, record, record_all
from portal.core.messages import Message
from workspaces.access.actors import Actor, authorize
from workspaces.access.permissions import Permission

# Tags of MLflow's clients that are columns here
NAME_TAG, PARENT_TAG = "mlflow.runName", "mlflow.parentRunId"
ENDED = frozenset({RunStatus.FINISHED, RunStatus.FAILED, RunStatus.KILLED})
_ADJECTIVES = (
    *("amber", "brave", "bright", "brisk", "calm", "clear", "clever", "crisp", "eager", "early"),
    *("fair", "fine", "fresh", "gentle", "grand", "happy", "keen", "kind", "light", "lively"),
    *("lucky", "mellow", "neat", "noble", "quick", "quiet", "rapid", "sharp", "silver", "smooth"),
    *("solid", "steady", "sunny", "swift", "tidy", "vivid", "warm", "wise"),
)
_NOUNS = (
    *("badger", "beaver", "bison", "crane", "deer", "dolphin", "eagle", "falcon", "finch", "fox"),
    *("gecko", "hare", "hawk", "heron", "ibex", "jay", "koala", "lark", "lynx", "marten"),
    *("moose", "newt", "orca", "otter", "owl", "panda", "puffin", "quail", "raven", "robin"),
    *("seal", "shrew", "sparrow", "stork", "swan", "tern", "trout", "whale", "wren", "yak"),
)


@transaction.atomic
def create_run(
    *,
    actor: Actor,
    experiment: Experiment,
    name: str = "",
    started_ms: int | None = None,
    tags: Mapping[str, str] | None = None,
    parent: Run | None = None,
    job: Job | None = None,
    status: str = RunStatus.RUNNING,
) -> Run:
    """Start a run. Without a name it gets one of two words and a number.

    The run of a job has the job's id and owner; if it exists, it is returned. Raises NotPermitted,
    InvalidInput, and Conflict if the experiment is in the trash.
    """
    authorize(actor, Permission.EXPERIMENTS_WRITE, experiment.team_id)
    given = dict(tags or {})
    limits.check_texts("tags", given, limits.TAG_VALUE)
    limits.check_time("started_ms", started_ms)
    name = name or given.pop(NAME_TAG, "") or (job.name if job else random_name())
    given.pop(NAME_TAG, None)
    if parent is not None:
        given[PARENT_TAG] = parent.id.hex
    owner_id = job.owner_id if job else actor.user_id
    assert owner_id is not None
    # Keep the experiment out of the trash until the run is there
    here = Experiment.objects.select_for_update(of=("self",), no_key=True).get(id=experiment.id)
    if here.deleted_at is not None:
        raise Conflict(
            Message("{name} is in the trash. Restore it first.", name=here.name), code="deleted"
        )
    row = Run(
        org_id=here.org_id,
        experiment=here,
        team_id=here.team_id,
        owner_id=owner_id,
        job=job,
        parent=parent,
        name=limits.clean_name(name, limits.RUN_NAME),
        status=_status(status),
        started_ms=clock.now_ms() if started_ms is None else started_ms,
        tags=given,
    )
    if job is not None:
        row.id = job.id
    row.series_owner = f"job:{job.id.hex}" if job else f"run:{row.id.hex}"
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        if job is None or (found := Run.objects.filter(id=job.id).first()) is None:
            raise
        return found  # type: ignore[no-any-return]
    after = {"name": row.name, "status": row.status}
    record(_event(actor, row, "run.created", {"experiment": here.number, "after": after}))
    return row


@transaction.atomic
def update_run(
    *,
    actor: Actor,
    run: Run,
    name: str | None = None,
    status: str | None = None,
    ended_ms: int | None = None,
) -> Run:
    """Change the name or the state; a run that ends without a time ends now.

    Raises NotPermitted, InvalidInput, Conflict.
    """
    limits.check_time("ended_ms", ended_ms)
    row = lock(actor, run)
    before = _state(row)
    if name is not None:
        row.name = limits.clean_name(name, limits.RUN_NAME)
    if status is not None:
        row.status = _status(status)
    if row.status not in ENDED:
        row.ended_ms = None
    elif ended_ms is not None or row.ended_ms is None:
        row.ended_ms = clock.now_ms() if ended_ms is None else ended_ms
    changed = changes(before, _state(row))
    if changed["before"] or changed["after"]:
        row.updated_at = clock.now()
        row.save(update_fields=["name", "status", "ended_ms", "updated_at"])
        record(_event(actor, row, "run.updated", changed))
    return row


def archive_runs(*, actor: Actor, runs: Iterable[Run]) -> int:
    """Hide runs from lists; return the number changed. Raises NotPermitted, Conflict."""
    return _mark(actor, runs, "run.archived", "archived_at", is_set=True)


def unarchive_runs(*, actor: Actor, runs: Iterable[Run]) -> int:
    """Show runs in lists again; return the number changed. Raises NotPermitted, Conflict."""
    return _mark(actor, runs, "run.unarchived", "archived_at", is_set=False)


def delete_runs(*, actor: Actor, runs: Iterable[Run]) -> int:
    """Move runs to the trash; return the number changed. Raises NotPermitted."""
    return _mark(actor, runs, "run.deleted", "deleted_at", is_set=True)


def restore_runs(*, actor: Actor, runs: Iterable[Run]) -> int:
    """Take runs out of the trash; return the number changed. Raises NotPermitted."""
    return _mark(actor, runs, "run.restored", "deleted_at", is_set=False)


def lock(actor: Actor, run: Run) -> Run:
    """Return the locked row. Raises NotPermitted, NotFound, and Conflict if it is in the trash."""
    authorize(actor, Permission.EXPERIMENTS_WRITE, run.team_id)
    rows = Run.objects.select_for_update(of=("self",), no_key=True)
    row = rows.select_related("experiment", "owner").filter(id=run.id).first()
    if row is None:
        raise NotFound(Message("There is no run {x} that you can see.", x=run.id.hex))
    check_not_in_trash(row)
    return row  # type: ignore[no-any-return]


def lock_all(actor: Actor, runs: Iterable[Run]) -> Sequence[Run]:
    """Return the locked rows. Raises NotPermitted, and Conflict if one is in the trash."""
    rows = _locked(_writable(actor, runs), {})
    for row in rows:
        check_not_in_trash(row)
    return rows


def check_not_in_trash(run: Run) -> None:
    """Raise Conflict if the run or its experiment is in the trash."""
    for row in (run, run.experiment):
        if row.deleted_at is not None:
            raise Conflict(
                Message("{name} is in the trash. Restore it first.", name=row.name), code="deleted"
            )


def random_name() -> str:
    """Return a name such as `brisk-otter-412`."""
    words = secrets.choice(_ADJECTIVES), secrets.choice(_NOUNS)
    return f"{'-'.join(words)}-{secrets.randbelow(1000)}"


@transaction.atomic
def _mark(actor: Actor, runs: Iterable[Run], kind: str, column: str, *, is_set: bool) -> int:
    """Set or remove a time of those rows that do not have it yet, or still have it."""
    rows = _locked(_writable(actor, runs), {f"{column}__isnull": is_set})
    if not rows:
        return 0
    Run.objects.filter(id__in=[row.id for row in rows]).update(
        **{column: clock.now() if is_set else None}, updated_at=clock.now()
    )
    states = {"before": {column: not is_set}, "after": {column: is_set}}
    record_all(_event(actor, row, kind, states) for row in rows)
    return len(rows)


def _writable(actor: Actor, runs: Iterable[Run]) -> list[UUID]:
    given = {run.id: run.team_id for run in runs}
    for team_id in set(given.values()):
        authorize(actor, Permission.EXPERIMENTS_WRITE, team_id)
    return list(given)


def _locked(ids: Iterable[UUID], having: Mapping[str, bool]) -> Sequence[Run]:
    rows = Run.objects.select_for_update(of=("self",), no_key=True).select_related("experiment")
    return list(rows.filter(id__in=list(ids), **having).order_by("id"))


def _status(text: str) -> str:
    if text not in RunStatus.values:
        raise InvalidInput.at(
            "status",
            Message(
                "must be one of {names}",
                context="error of a field",
                names=", ".join(RunStatus.values),
            ),
        )
    return text


def _state(row: Run) -> dict[str, Any]:
    ended = row.ended_ms and datetime.fromtimestamp(row.ended_ms / 1000, UTC).isoformat()
    return {"name": row.name, "status": row.status, "ended_at": ended}


def _event(actor: Actor, row: Run, kind: str, data: Mapping[str, Any]) -> EventRecord:
    about = {"name": row.name, **data}
    return EventRecord(kind, row.org_id, "run", row.id, actor.email, about)


event: Callable[..., EventRecord] = _event
