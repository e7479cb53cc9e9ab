"""Query experiments and runs within what the actor may see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Model, Q, QuerySet

from experiments import jobs
from experiments.models import Experiment, LoggedModel, Run
from portal import series
from portal.core.errors import NotFound
from portal.core.joined_select import JoinedSelect
from portal.core.messages import Message
from portal.series.models import Series
from portal.series.points import NO_STEP, Row
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission

M = TypeVar("M", bound=Model)
ID = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class LastPoint(NamedTuple):
    """A point of a metric. `value` can be NaN or infinite."""

    value: float
    step: int | None
    at_ms: int


def visible_experiments(actor: Actor, view: str = "active") -> QuerySet[Experiment]:
    """Return the experiments that the actor may read: `active`, `deleted` (in the trash) or `all`."""
    return _in_view(_in_teams(actor, Experiment.objects.all(), "team_id"), view, Q(deleted_at=None))


def visible_runs(actor: Actor, view: str = "active") -> QuerySet[Run]:
    """Return the runs that the actor may read: `active`, `deleted` or `all`.

    Those of an experiment in the trash are deleted.
    """
    rows = _in_teams(actor, Run.objects.all(), "team_id")
    return _in_view(rows, view, Q(deleted_at=None, experiment__deleted_at=None))


def visible_logged_models(actor: Actor, view: str = "active") -> QuerySet[LoggedModel]:
    """Return the logged models that the actor may read: `active`, `deleted` or `all`."""
    rows = _in_teams(actor, LoggedModel.objects.all(), "experiment__team_id")
    return _in_view(rows, view, Q(deleted_at=None, experiment__deleted_at=None))


def find_experiment(actor: Actor, number: int | str, *, with_trash: bool = False) -> Experiment:
    """Return an experiment by its number.

    Raises NotFound, also for one that the actor may not see.
    """
    text = str(number)
    found = None
    if text.isascii() and text.isdigit() and len(text) < 19:
        rows = visible_experiments(actor, "all" if with_trash else "active")
        found = rows.select_related("team", "owner", "org").filter(number=int(text)).first()
    if found is None:
        raise NotFound(Message("There is no experiment {x} that you can see.", x=text[:40]))
    return found


def find_run(
    actor: Actor,
    run_id: str | UUID,
    *,
    with_trash: bool = False,
    related: Sequence[str] = ("experiment", "owner", "team", "org", "job"),
) -> Run:
    """Return a run by its id. Raises NotFound, also for a run that the actor may not see.

    The run of a job or task is created if that is so new that it has none. `related` are the rows
    that are read with it: those of wide tables cost more than the run, which matters for each step
    of a loop.
    """
    text = str(run_id)
    found = None
    if ID.fullmatch(text):
        rows = visible_runs(actor, "all" if with_trash else "active")
        rows = rows.select_related(*related).filter(id=UUID(text))
        found = rows.first()
        if found is None and (
            jobs.follow_job(UUID(text), is_asked=actor.is_job)
            or jobs.follow_task(actor, UUID(text))
        ):
            found = rows.first()
    if found is None:
        raise NotFound(Message("There is no run {x} that you can see.", x=text[:40]))
    return found


_RUN = (
    "id",
    "org_id",
    "experiment_id",
    "team_id",
    "owner_id",
    "job_id",
    "name",
    "series_owner",
    "deleted_at",
)
_EXPERIMENT = ("id", "org_id", "number", "team_id", "name", "deleted_at")
_TO_LOG = JoinedSelect(
    "SELECT {columns} FROM {run} JOIN {experiment} ON experiment.id = run.experiment_id "
    "WHERE run.org_id = %s AND run.id = %s",
    {"run": Run, "experiment": Experiment},
    [("run", _RUN), ("experiment", _EXPERIMENT)],
)


def find_run_to_log(actor: Actor, run_id: str) -> Run:
    """Return a run, also from the trash, with what a logged step needs. Raises NotFound.

    Training loops ask for each step, and the ORM takes longer for it than the database.
    """
    rows = None
    if ID.fullmatch(run_id) and actor.org_id is not None:
        ids = (actor.org_id, UUID(run_id))
        rows = _TO_LOG.rows([Run._meta.pk.get_db_prep_value(pk, connection) for pk in ids])
    teams = actor.teams_where(Permission.EXPERIMENTS_READ)
    if not rows or not (teams is None or rows[0][3] in teams):
        return find_run(actor, run_id, with_trash=True, related=("experiment",))
    run = Run.from_db(connection.alias, _RUN, rows[0][: len(_RUN)])
    run.experiment = Experiment.from_db(connection.alias, _EXPERIMENT, rows[0][len(_RUN) :])
    return run


def find_logged_model(
    actor: Actor, model_id: str | UUID, *, with_trash: bool = False
) -> LoggedModel:
    """Return a logged model by its id. Raises NotFound, also for one the actor may not see."""
    text = str(model_id).removeprefix("m-")
    found = None
    if ID.fullmatch(text):
        rows = visible_logged_models(actor, "all" if with_trash else "active")
        rows = rows.select_related("experiment", "owner", "run", "org")
        found = rows.filter(id=UUID(text)).first()
    if found is None:
        raise NotFound(Message("There is no model {x} that you can see.", x=text[:40]))
    return found


def last_metrics(runs: Iterable[Run]) -> dict[UUID, dict[str, LastPoint]]:
    """Return the last point of each metric of many runs, in one query."""
    owners = {run.series_owner: run.id for run in runs}
    found: dict[UUID, dict[str, LastPoint]] = {pk: {} for pk in owners.values()}
    rows = Series.objects.filter(owner__in=owners, labels="{}").order_by("name")
    for owner, name, value, special, step, at in rows.values_list(
        "owner", "name", "last_value", "last_special", "last_step", "last_at"
    ):
        found[owners[owner]][name] = LastPoint(
            float(special or ("nan" if value is None else value)), step, at
        )
    return found


def metric_history(run: Run, name: str, most: int | None = None) -> list[Row]:
    """Return all points of a metric as (step, Unix ms, value), by step and time.

    The step of a point without one is 0, as for MLflow's clients. There may be millions of points, so
    these are plain tuples. Of more than `most` there are coarse ones, which keep extremes.
    """
    rows = series.history(run.series_owner, name, most)
    if rows and rows[0][0] == NO_STEP:  # the least step of all
        rows = [(0 if step == NO_STEP else step, at, value) for step, at, value in rows]
    return rows


def _in_teams(actor: Actor, rows: QuerySet[M], field: str) -> QuerySet[M]:
    teams = actor.teams_where(Permission.EXPERIMENTS_READ)
    return rows if teams is None else rows.filter(**{f"{field}__in": teams})


def _in_view(rows: QuerySet[M], view: str, active: Q) -> QuerySet[M]:
    conditions: dict[str, Any] = {"active": active, "deleted": ~active, "all": Q()}
    return rows.filter(conditions[view])
