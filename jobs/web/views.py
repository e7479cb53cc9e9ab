"""Pages: the organization's home, the list of jobs, one job, a new job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from jobs import services
from jobs.lists import JOBS
from jobs.models import Job
from jobs.selectors.jobs import find_job
from jobs.utilization.idle_rules import keep_job
from jobs.web.job_page import job_context
from portal.core.errors import InvalidInput, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page

POST = ("POST",)
IN_BULK: dict[str, Callable[..., Any]] = {
    "cancel": services.cancel_job,
    "rerun": services.rerun_job,
    "delete-logs": services.delete_logs,
}


@page()
def job_list(request: Any) -> HttpResponse:
    """Show the list of jobs; its whole state is in the URL."""
    is_part = request.headers.get("HX-Request") and not request.headers.get("HX-Boosted")
    return JOBS.render(
        request,
        "jobs/_table.html" if is_part else "jobs/list.html",
        {"page_title": Message("Jobs", context="page title"), "may_submit": may_submit(request)},
    )


@page()
def job(request: Any, job: str) -> HttpResponse:
    """Show one job."""
    row = find_job(request.actor, job)
    return render(request, "jobs/detail.html", job_context(request, row))


@page(None, POST)
def act_on_job(request: Any, job: str, verb: str) -> HttpResponse:
    """Cancel, hold, keep, release or rerun a job, or delete its log; then redirect back."""
    row = find_job(request.actor, job)
    back = f"/{request.org.slug}/jobs/{row.number}" + ("?tab=logs" if verb == "delete-logs" else "")
    if verb == "rerun":
        return _rerun(request, row, back)
    if verb == "keep":
        return _keep(request, row, back)
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
        raise InvalidInput.at(
            "verb",
            Message("must be one of {names}", context="error of a field", names=", ".join(IN_BULK)),
        )
    for name in request.POST.getlist("job")[:200]:
        try:
            act(actor=request.actor, job=find_job(request.actor, name))
            done += 1
        except PortalError as error:
            record_denied_request(request, error)
            failed.append(Message.joined(": ", (f"#{name}", error.message)))
    if done:
        message = {
            "cancel": Message("being stopped", context="part of a sentence"),
            "delete-logs": Message("the logs are being deleted"),
        }.get(verb, Message("submitted again", context="part of a sentence"))
        messages.success(
            request,
            Message.plural(
                done,
                Message("{done} job: {said}.", context="message"),
                Message("{done} jobs: {said}.", context="message"),
                done=done,
                said=message,
            ),
        )
    for text in failed[:5]:
        messages.error(request, text)
    return redirect(
        f"/{request.org.slug}/{'storage' if verb == 'delete-logs' else 'jobs'}?{request.POST.get('query', '')[:2000]}"
    )


def _keep(request: Any, row: Job, back: str) -> HttpResponse:
    try:
        hours = float(request.POST.get("hours", "2"))
    except ValueError:
        raise InvalidInput.at("hours", Message("must be a number")) from None
    done = Message("#{number} is kept for {n} hours.", number=row.number, n=f"{hours:g}")
    return action(request, back, done, lambda: keep_job(actor=request.actor, job=row, hours=hours))


def _rerun(request: HttpRequest, row: Job, back: str) -> HttpResponse:
    with FormErrors(request):
        made = services.rerun_job(actor=request.actor, job=row)  # type: ignore[attr-defined]
        return redirect(f"/{request.org.slug}/jobs/{made.number}")  # type: ignore[attr-defined]
    return redirect(back)


def may_submit(request: Any) -> bool:
    teams = request.actor.teams_where(P.JOBS_SUBMIT)
    return teams is None or bool(teams)
