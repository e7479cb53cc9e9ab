"""Pages: the organization's home, the list of jobs, one job, a new job."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render

from jobs import representations, selectors, services
from jobs.first_steps import guide_for
from jobs.lists import JOBS
from jobs.models import Job
from jobs.scheduling import pending_explanation
from jobs.scheduling.pending_summary import pending_summary
from jobs.scheduling.placement import names_for
from jobs.web.job_page import job_context
from jobs.web.starting import starting_text
from portal.core import clock
from portal.core.errors import InvalidInput, NotPermitted, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from portal.web.translation import translated
from schedulers.spec import SpecErrors, examples, parse_text
from schedulers.states import State
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.organizations import selectors as people
from workspaces.web.base import action, page, show_error

POST = ("POST",)
SHOWN = 12
IN_BULK: dict[str, Callable[..., Any]] = {
    "cancel": services.cancel_job,
    "rerun": services.rerun_job,
    "delete-logs": services.delete_logs,
}
LONG_WAIT = timedelta(minutes=10)


@page()
def home(request: Any) -> HttpResponse:
    """Show what needs attention, running and pending jobs, quota use and recent failures."""
    rows = representations.listed(selectors.visible_jobs(request.actor)).order_by("-number")
    week = clock.now() - timedelta(days=7)
    running = [
        representations.job_row(j)
        for j in rows.filter(state__gt=State.QUEUED, state__lt=State.SUCCEEDED)[:SHOWN]
    ]
    waiting = [_waiting_row(j, request.actor) for j in rows.filter(state=State.QUEUED)[:SHOWN]]
    failed = [
        representations.job_row(j)
        for j in rows.filter(state=State.FAILED, finished_at__gte=week)[:SHOWN]
    ]
    finished = [representations.job_row(j) for j in rows.filter(state=State.SUCCEEDED)[:5]]
    response = render(
        request,
        "workspaces/home.html",
        {
            "page_title": request.org.name,
            "guide": guide_for(request.actor, request.org),
            "running": running,
            "waiting": waiting,
            "failed": failed,
            "finished": finished,
            "quotas": people.quotas_for(request.actor),
            "is_empty": not (running or waiting or failed or finished) and not rows.exists(),
            "example": examples()[0],
            "first_team": _first_team(request),
            "may_submit": _may_submit(request),
            "running_count": len(running),
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


@page()
def job_list(request: Any) -> HttpResponse:
    """Show the list of jobs; its whole state is in the URL."""
    is_part = request.headers.get("HX-Request") and not request.headers.get("HX-Boosted")
    return JOBS.render(
        request,
        "jobs/_table.html" if is_part else "jobs/list.html",
        {"page_title": Message("Jobs"), "may_submit": _may_submit(request)},
    )


@page()
def job(request: Any, job: str) -> HttpResponse:
    """Show one job."""
    row = selectors.find_job(request.actor, job)
    return render(request, "jobs/detail.html", job_context(request, row))


@page(None, POST)
def act_on_job(request: Any, job: str, verb: str) -> HttpResponse:
    """Cancel, hold, release or rerun a job, or delete its log; then redirect back."""
    row = selectors.find_job(request.actor, job)
    back = f"/{request.org.slug}/jobs/{row.number}" + ("?tab=logs" if verb == "delete-logs" else "")
    if verb == "rerun":
        return _rerun(request, row, back)
    act, done = {
        "cancel": (services.cancel_job, Message("#{number} is being stopped.", number=row.number)),
        "hold": (
            services.hold_job,
            Message("#{number} is held; it starts when you release it.", number=row.number),
        ),
        "release": (
            services.release_job,
            Message("#{number} takes its turn again.", number=row.number),
        ),
        "delete-logs": (
            services.delete_logs,
            Message("The log of #{number} is being deleted.", number=row.number),
        ),
    }[verb]
    return action(request, back, done, lambda: act(actor=request.actor, job=row))


@page(None, POST)
def act_on_jobs(request: Any) -> HttpResponse:
    """Cancel, rerun or delete the logs of the selected jobs; report each failure by job."""
    from django.contrib import messages

    verb, done, failed = request.POST.get("verb", ""), 0, []
    if (act := IN_BULK.get(verb)) is None:
        raise InvalidInput.at("verb", Message("must be one of {names}", names=", ".join(IN_BULK)))
    for name in request.POST.getlist("job")[:200]:
        try:
            act(actor=request.actor, job=selectors.find_job(request.actor, name))
            done += 1
        except PortalError as error:
            record_denied_request(request, error)
            failed.append(Message.joined(": ", (f"#{name}", error.message)))
    if done:
        message = {
            "cancel": Message("being stopped"),
            "delete-logs": Message("the logs are being deleted"),
        }.get(verb, Message("submitted again"))
        messages.success(
            request,
            Message.plural(
                done,
                Message("{done} job: {said}."),
                Message("{done} jobs: {said}."),
                done=done,
                said=message,
            ),
        )
    for text in failed[:5]:
        messages.error(request, text)
    return redirect(
        f"/{request.org.slug}/{'storage' if verb == 'delete-logs' else 'jobs'}?{request.POST.get('query', '')[:2000]}"
    )


@page(None, ("GET", "HEAD", "POST"))
def new_job(request: Any) -> HttpResponse:
    """Show form and YAML, filled from an example (`?example=`) or an earlier job (`?from=`)."""
    text = starting_text(request)
    faults: list[dict[str, Any]] = []
    if request.method == "POST":
        text = request.POST.get("yaml", "")
        try:
            parsed = parse_text(text)
            made = services.submit_job(actor=request.actor, team=_team(request), spec=parsed.spec)
            return redirect(f"/{request.org.slug}/jobs/{made.number}")
        except SpecErrors as error:
            faults = [
                {"field": f.field, "message": f.message, "line": f.line} for f in error.errors
            ]
        except PortalError as error:
            record_denied_request(request, error)
            faults = error.data.get("errors") or [
                {"field": "", "message": error.message, "line": None}
            ]
    teams = [
        t for t in people.teams_for(request.actor) if request.actor.may(P.JOBS_SUBMIT, t["id"])
    ]
    return render(
        request,
        "jobs/new.html",
        {
            "page_title": Message("New job"),
            "crumbs": [(Message("Jobs"), f"/{request.org.slug}/jobs")],
            "yaml": text,
            "errors": faults,
            "examples": examples(),
            "teams": teams,
            "places": names_for(Team.objects.filter(id__in=[t["id"] for t in teams])),
            "team_chosen": request.POST.get("team") or request.GET.get("team", ""),
            "quotas": people.quotas_for(request.actor),
            "may_submit": _may_submit(request),
        },
        status=400 if faults else 200,
    )


@page()
def find(request: Any) -> JsonResponse:
    """Search for the command palette: jobs by number or name prefix, pages and teams."""
    q = request.GET.get("q", "").strip()[:100]
    jobs = JOBS.narrowed(request.actor, {"q": q}).order_by("-number")[:8]
    return JsonResponse(
        {
            "items": [
                {
                    "kind": "job",
                    "title": f"#{j.number} {j.name}",
                    "note": translated(State(j.state).label),
                    "url": f"/{request.org.slug}/jobs/{j.number}",
                }
                for j in jobs
            ]
        }
    )


def _rerun(request: HttpRequest, row: Job, back: str) -> HttpResponse:
    try:
        made = services.rerun_job(actor=request.actor, job=row)  # type: ignore[attr-defined]
    except PortalError as error:
        record_denied_request(request, error)
        show_error(request, error)
        return redirect(back)
    return redirect(f"/{request.org.slug}/jobs/{made.number}")  # type: ignore[attr-defined]


def _team(request: Any) -> Any:
    slug = request.POST.get("team", "")
    row = Team.objects.filter(slug=slug).first()
    if row is None:
        raise NotPermitted(Message("Choose the team to submit to."))
    return row


def _waiting_row(job: Job, actor: Any) -> dict[str, Any]:
    explanation = pending_explanation.explanation_of(job, actor)
    return representations.job_row(job) | {
        "pending": explanation or pending_summary(job),
        "is_long": clock.now() - job.created_at > LONG_WAIT,
    }


def _first_team(request: Any) -> str:
    return next(
        (
            t["slug"]
            for t in people.teams_for(request.actor)
            if request.actor.may(P.JOBS_SUBMIT, t["id"])
        ),
        "",
    )


def _may_submit(request: Any) -> bool:
    teams = request.actor.teams_where(P.JOBS_SUBMIT)
    return teams is None or bool(teams)
