"""The organization's home page, and the page of idle GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render

from jobs import services
from jobs.quotas.pricing import cost_of_month
from jobs.selectors import dashboard
from jobs.selectors.first_steps import guide_for
from jobs.selectors.jobs import find_job
from jobs.utilization.idle import idle_jobs, notify_owner
from jobs.utilization.selectors import GpuTimeShape, gpu_time_of
from jobs.web.views import may_submit
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from schedulers.spec import examples
from workspaces.access.permissions import Permission as P
from workspaces.organizations import selectors as people
from workspaces.web.base import action, page

Item = dict[str, Any]
IDLE_SHOWN = 5
HAS_CLI = "has_cli"  # session key: the reader says that the CLI is installed


@page(None, ("GET", "HEAD", "POST"))
def home(request: Any) -> HttpResponse:
    """Show GPU use, what needs attention, what runs, idle GPUs, quotas and recent runs.

    POST notes that the reader has installed the CLI.
    """
    if request.method == "POST":
        request.session[HAS_CLI] = True
        return redirect("home", request.org.slug)
    actor = request.actor
    running_count, running = dashboard.running_jobs(actor)
    idle, recent = idle_jobs(actor), dashboard.recent_jobs(actor)
    queued_count = dashboard.queued_jobs(actor)
    quotas, gpu_time = people.quotas_for(actor), gpu_time_of(actor, 24)
    teams = people.teams_for(actor)
    response = render(
        request,
        "workspaces/home.html",
        {
            "page_title": request.org.name,
            "guide": guide_for(actor, request.org),
            "newcomer": dashboard.newcomer_steps(actor, HAS_CLI in request.session),
            "example": examples()[0],
            "first_team": _first_team(actor, teams),
            "may_submit": may_submit(request),
            "may_connect": actor.may(P.CLUSTERS_WRITE),
            "is_empty": not (running or recent or queued_count),
            "gpu_time": gpu_time,
            "has_gpus": bool(gpu_time["gpus"] or gpu_time["teams"]),
            "utilization": _utilization(gpu_time),
            "allocated": sum(team["now"] for team in gpu_time["teams"]),
            "gpu_hours": _gpu_hours(actor, quotas, teams),
            "cost": cost_of_month(actor),
            "queued_count": queued_count,
            "stats": dashboard.job_stats(actor),
            "attention": dashboard.attention(actor),
            "running_jobs": running,
            "running_count": running_count,
            "idle": idle[:IDLE_SHOWN],
            "idle_count": len(idle),
            "asked": [row for row in idle if row["is_own"] and row["notified_at"]],
            "quotas": _limited(actor, quotas, teams),
            "recent": recent,
        },
    )
    response.set_cookie(
        settings.MUSTER_ORG_COOKIE_NAME,
        request.org.slug,
        max_age=31_536_000,
        samesite="Lax",
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


@page(None, ("GET", "HEAD", "POST"))
def idle(request: Any) -> HttpResponse:
    """Show running jobs with idle GPUs; notify the owner of one, or cancel it."""
    if request.method == "POST":
        return _act_on_idle(request)
    rows = idle_jobs(request.actor)
    return render(
        request,
        "jobs/idle.html",
        {
            "page_title": Message("Idle GPUs", context="page title"),
            "rows": rows,
            "gpus": sum(row["gpus"] for row in rows),
            "hours": sum(row["hours"] for row in rows),
        },
    )


def _act_on_idle(request: Any) -> HttpResponse:
    job = find_job(request.actor, request.POST.get("job", ""))
    acts = {
        "notify": (
            lambda: notify_owner(actor=request.actor, job=job),
            Message(
                "{email} was notified about #{number}.", email=job.owner.email, number=job.number
            ),
        ),
        "cancel": (
            lambda: services.cancel_job(
                actor=request.actor, job=job, why=Message("Its GPUs were idle.")
            ),
            Message("#{number} is being canceled.", number=job.number),
        ),
    }
    if (chosen := acts.get(request.POST.get("do", ""))) is None:
        raise InvalidInput.at(
            "do",
            Message("must be one of {names}", context="error of a field", names=", ".join(acts)),
        )
    back = f"/{request.org.slug}/" + ("" if request.POST.get("back") == "home" else "idle")
    return action(request, back, chosen[1], chosen[0])


def _utilization(gpu_time: GpuTimeShape) -> float | None:
    """Return the share of the allocated GPUs that was used in the last 24 hours."""
    measured = sum(team["measured_hours"] for team in gpu_time["teams"])
    used = sum(team["used_hours"] for team in gpu_time["teams"])
    return used / measured if measured else None


def _limited(actor: Any, quotas: list[Item], teams: Sequence[people.TeamShape]) -> list[Item]:
    """Return the limited meters of the organization, the actor's teams and the actor."""
    own = {team["slug"] for team in teams if team["role"]}
    names = {team["slug"]: team["name"] for team in teams}
    return [
        q | {"name": names.get(q["subject"], q["subject"])}
        for q in quotas
        if q["limit"] is not None
        and (
            q["scope"] == "org"
            or (q["scope"] == "team" and (q["subject"] in own or actor.may(P.QUOTAS_WRITE)))
            or (q["scope"] == "user" and q["subject"] == actor.email)
        )
    ]


def _gpu_hours(actor: Any, quotas: list[Item], teams: Sequence[people.TeamShape]) -> float:
    """Return the GPU-hours of this month of the teams whose jobs the actor may read."""
    readable = actor.teams_where(P.JOBS_READ)
    seen = {team["slug"] for team in teams if readable is None or team["id"] in readable}
    return sum(
        q["used"]
        for q in quotas
        if q["resource"] == "gpu-hours" and q["scope"] == "team" and q["subject"] in seen
    )


def _first_team(actor: Any, teams: Sequence[people.TeamShape]) -> str:
    return next((t["slug"] for t in teams if actor.may(P.JOBS_SUBMIT, UUID(str(t["id"])))), "")
