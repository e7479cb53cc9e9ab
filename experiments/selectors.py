"""Query experiments and runs within what the actor may see."""

from __future__ import annotations

import re
from uuid import UUID

from django.db.models import QuerySet

from experiments.models import Experiment, Run
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission


def visible_runs(actor: Actor) -> QuerySet[Run]:
    """Return the runs that the actor may read, without those in the trash."""
    teams = actor.teams_where(Permission.EXPERIMENTS_READ)
    rows = Run.objects.filter(deleted_at=None, experiment__deleted_at=None)
    return rows if teams is None else rows.filter(team_id__in=teams)


def find_run(actor: Actor, run_id: str) -> Run:
    """Return a run by its id. Raises NotFound, also for a run that the actor may not see."""
    found = None
    if re.fullmatch(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", run_id):
        found = visible_runs(actor).select_related("experiment").filter(id=UUID(run_id)).first()
    if found is None:
        raise NotFound(Message("There is no run {x} that you can see.", x=run_id[:40]))
    return found


def visible_experiments(actor: Actor) -> QuerySet[Experiment]:
    """Return the experiments that the actor may read, without those in the trash."""
    teams = actor.teams_where(Permission.EXPERIMENTS_READ)
    rows = Experiment.objects.filter(deleted_at=None)
    return rows if teams is None else rows.filter(team_id__in=teams)


def find_experiment(actor: Actor, number: str) -> Experiment:
    """Return an experiment by its number.

    Raises NotFound, also for one that the actor may not see.
    """
    found = None
    if number.isascii() and number.isdigit() and len(number) < 19:
        rows = visible_experiments(actor).select_related("team", "owner", "org")
        found = rows.filter(number=int(number)).first()
    if found is None:
        raise NotFound(Message("There is no experiment {x} that you can see.", x=number[:40]))
    return found
