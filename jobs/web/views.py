"""Pages: the organization's home, the list of jobs, one job, a new job."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from jobs import representations, selectors, services, storage
from jobs.lists import JOBS
from jobs.metrics import chart_context
from jobs.models import Job
from jobs.outputs import output_text
from jobs.scheduling import pending_explanation, quota_limits
from jobs.services.change import authorize_change
from jobs.web.reading import facts_of_log
from portal.core.errors import InvalidInput, PortalError
from portal.core.messages import Message
from portal.core.models import Event
from portal.web.denials import record_denied_request
from schedulers.states import State
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page, show_error

POST = ("POST",)
IN_BULK: dict[str, Callable[..., Any]] = {
    "cancel": services.cancel_job,
    "rerun": services.rerun_job,
    "delete-logs": services.delete_logs,
}
TABS = (
    ("overview", Message("Overview")),
    ("logs", Message("Logs")),
    ("metrics", Message("Metrics")),
    ("spec", Message("Spec")),
    ("environment", Message("Environment")),
    ("events", Message("Events")),
)


@page()
def job_list(request: Any) -> HttpResponse:
    """Show the list of jobs; its whole state is in the URL."""
    is_part = request.headers.get("HX-Request") and not request.headers.get("HX-Boosted")
    return JOBS.render(
        request,
        "jobs/_table.html" if is_part else "jobs/list.html",
        {"page_title": Message("Jobs"), "may_submit": may_submit(request)},
    )


@page()
def job(request: Any, job: str) -> HttpResponse:
    """Show one job."""
    row = selectors.find_job(request.actor, job)
    index = int(request.GET["index"]) if request.GET.get("index", "").isdigit() else 0
    ordinal = int(request.GET["attempt"]) if request.GET.get("attempt", "").isdigit() else None
    attempt = selectors.find_attempt(row, min(index, 2**31 - 1), ordinal and min(ordinal, 2**15))
    tries = row.attempts.filter(index=attempt.index).order_by("ordinal")
    explanation = pending_explanation.explanation_of(row, request.actor)
    return render(
        request,
        "jobs/detail.html",
        {
            "page_title": f"#{row.number} {row.name}",
            "crumbs": [(Message("Jobs"), f"/{request.org.slug}/jobs")],
            "job_api": f"/api/v1/orgs/{request.org.slug}/jobs/{row.number}",
            "job": representations.job_detail(row),
            "attempt": representations.attempt_row(attempt),
            "attempt_hex": attempt.id.hex,
            "job_hex": row.id.hex,
            "tries": [representations.attempt_row(a) for a in tries],
            "pending": explanation,
            "more": quota_limits.more(explanation.numbers, row) if explanation else "",
            "output": output_text(attempt),
            "log": facts_of_log(attempt),
            "deletable": _deletable(request, row),
            "events": list(Event.objects.filter(subject_id=row.id).order_by("-position")[:200]),
            "timeline": _timeline(row, attempt.index),
            "env": sorted(representations.environment_of(attempt).items()),
            "children": _children(request, row),
            **chart_context(row, request.GET.get("task") or request.GET.get("index", "")),
            "tab": _tab(request),
            "tabs": TABS,
            "may_change": may_change(request, row),
            "may_admin": request.actor.may(P.JOBS_ADMIN, row.team_id),
            "is_final": State(row.state).is_final,
        },
    )


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


def _rerun(request: HttpRequest, row: Job, back: str) -> HttpResponse:
    try:
        made = services.rerun_job(actor=request.actor, job=row)  # type: ignore[attr-defined]
    except PortalError as error:
        record_denied_request(request, error)
        show_error(request, error)
        return redirect(back)
    return redirect(f"/{request.org.slug}/jobs/{made.number}")  # type: ignore[attr-defined]


def _timeline(row: Job, index: int) -> list[dict[str, Any]]:
    """Return the states of one task over all attempts, with start and duration."""
    events = Event.objects.filter(
        subject_id=row.id, kind__startswith="attempt.", data__index=index
    ).order_by("position")[:100]
    steps = [
        {"state": e.kind.partition(".")[2], "at": e.at, "source": e.actor, "data": e.data}
        for e in events
    ]
    steps = [{"state": "queued", "at": row.created_at, "source": "muster", "data": {}}, *steps]
    for step, following in pairwise(steps):
        step["seconds"] = max((following["at"] - step["at"]).total_seconds(), 0)
        # Another attempt followed; the final state of the last one is added below.
        step["why"] = step["data"].get("reason", "").replace("_", " ")
    return steps


def _children(request: Any, row: Job) -> list[dict[str, Any]]:
    if row.array_size is None:
        return []
    return [
        representations.attempt_row(a)
        for a in row.attempts.filter(is_current=True).order_by("index")[:2000]
    ]


def _tab(request: Any) -> str:
    query = request.GET.get("tab", "")
    return query if query in dict(TABS) else "overview"


def may_submit(request: Any) -> bool:
    teams = request.actor.teams_where(P.JOBS_SUBMIT)
    return teams is None or bool(teams)


def may_change(request: Any, row: Job) -> bool:
    """Return whether the viewer may cancel the job and delete its logs."""
    try:
        authorize_change(request.actor, row, P.JOBS_CANCEL)
    except PortalError:
        return False
    return True


def _deletable(request: Any, row: Job) -> int:
    """Return the bytes of logs that the viewer may delete."""
    return (
        storage.bytes_of(row)
        if State(row.state).is_final and not row.log_delete_asked_at and may_change(request, row)
        else 0
    )
