"""Pages: the list of experiments, and changes of one."""

from __future__ import annotations

import shlex
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect

from experiments import services
from experiments.lists import EXPERIMENTS
from experiments.models import Experiment
from experiments.selectors import find_experiment
from portal.core.errors import InvalidInput, NotFound, NotPermitted
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.organizations.selectors import teams_for
from workspaces.web.base import action, page

POST = ("POST",)


@page(None, ("GET", "HEAD", "POST"))
def experiments(request: Any) -> HttpResponse:
    """Show the list, or create an experiment and open it."""
    if request.method == "POST":
        return _create(request)
    teams = [
        team
        for team in teams_for(request.actor)
        if request.actor.may(P.EXPERIMENTS_WRITE, team["id"])
    ]
    return EXPERIMENTS.render(
        request,
        "experiments/list.html",
        {
            "page_title": Message("Experiments", context="page title"),
            "teams": teams,
            "team": request.GET.get("team", ""),
            "command": tracking_command(request, teams[0]["slug"] if teams else "TEAM"),
        },
    )


def tracking_command(request: Any, team: str = "TEAM", experiment: str = "") -> str:
    """Return the command that points an MLflow client to a team."""
    url = f"{request.scheme}://{request.get_host()}/mlflow/{request.org.slug}/{team}"
    name = f" MLFLOW_EXPERIMENT_NAME={shlex.quote(experiment)}" if experiment else ""
    return f"MLFLOW_TRACKING_URI={url} MLFLOW_TRACKING_TOKEN=$MUSTER_TOKEN{name} python train.py"


def _create(request: Any) -> HttpResponse:
    with FormErrors(request):
        team = Team.objects.filter(slug=request.POST.get("team", "")).first()
        if team is None:
            raise NotPermitted(Message("Choose the team of the experiment."))
        made = services.create_experiment(
            actor=request.actor,
            team=team,
            name=request.POST.get("name", "").strip(),
            description=request.POST.get("description", "").strip(),
        )
        return redirect(f"/{request.org.slug}/experiments/{made.number}")
    return redirect(f"/{request.org.slug}/experiments")


@page(None, POST)
def act_on_experiment(request: Any, number: str) -> HttpResponse:
    """Rename, describe, delete or restore an experiment; then redirect back."""
    actor, verb = request.actor, request.POST.get("verb", "")
    lists = f"/{request.org.slug}/experiments"
    if verb == "restore":
        row = _in_trash(request, number)
        done = Message("Experiment {name} is restored.", name=row.name)
        return action(
            request,
            f"{lists}/{row.number}",
            done,
            lambda: services.restore_experiment(actor=actor, experiment=row),
        )
    row = find_experiment(actor, number)
    if verb == "delete":
        done = Message("Experiment {name} is in the trash.", name=row.name)
        undo = Undo(request.path, {"verb": "restore"})
        return action(
            request,
            lists,
            done,
            lambda: services.delete_experiment(actor=actor, experiment=row),
            undo,
        )
    if verb != "edit":
        raise InvalidInput.at(
            "verb",
            Message(
                "must be one of {names}", context="error of a field", names="edit, delete, restore"
            ),
        )
    return action(
        request,
        f"{lists}/{row.number}",
        Message("The experiment is saved."),
        lambda: services.update_experiment(
            actor=actor,
            experiment=row,
            name=request.POST.get("name", "").strip(),
            description=request.POST.get("description", "").strip(),
            was=request.POST.get("was"),
        ),
    )


def _in_trash(request: Any, number: str) -> Experiment:
    teams = request.actor.teams_where(P.EXPERIMENTS_READ)
    rows = Experiment.objects.exclude(deleted_at=None)
    rows = rows if teams is None else rows.filter(team_id__in=teams)
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    found = rows.filter(number=int(number)).first() if is_number else None
    if found is None:
        raise NotFound(Message("There is no experiment {x} in the trash.", x=number[:40]))
    return found
