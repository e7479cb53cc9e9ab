"""Page for a new job: from a template, from an earlier job, or as a rerun with changes."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters.models import Cluster
from jobs import services
from jobs.models import Job
from jobs.scheduling.pending_summary import is_pending
from jobs.scheduling.placement import names_for
from jobs.selectors.jobs import find_job, visible_jobs
from jobs.services.change import may_change
from jobs.services.suggestions import with_changes
from jobs.specs.changes import compare
from jobs.specs.stored import spec_of
from portal.core.errors import NotPermitted, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from schedulers.spec import JobSpec, SpecErrors, examples, parse_mapping, parse_text
from schedulers.spec.document import dump
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.organizations import selectors as people
from workspaces.web.base import page

RECENT, RECENT_READ = 8, 60
BLANK, HELLO = "blank", "hello"
BLANK_YAML = '# Only `run` is required.\nrun: ""\n'
TITLES = {
    HELLO: Message("Hello", context="example job"),
    "gpu check": Message("Single GPU", context="example job"),
    "two gpus": Message("Multi-GPU (torchrun)"),
    "two nodes": Message("Two nodes", context="example job"),
    "digits": Message("Train on CPU", context="example job"),
    "digits from a dataset": Message("Train on a dataset"),
    "learning rates": Message("Sweep", context="example job"),
    "typo": Message("A failing job", context="example job"),
}


@dataclass(frozen=True)
class Start:
    """Where the form starts: its YAML, the template's key, and the job that is run again."""

    yaml: str
    template: str = ""
    parent: Job | None = None


@page(None, ("GET", "HEAD", "POST"))
def new_job(request: Any) -> HttpResponse:
    """Show form and YAML, and submit them; a rejected submission keeps what was typed."""
    faults: list[dict[str, Any]] = []
    if request.method == "POST":
        start = _typed(request)
        try:
            return redirect(f"/{request.org.slug}/jobs/{_submit(request, start).number}")
        except SpecErrors as error:
            faults = [fault.as_dict() for fault in error.errors]
        except PortalError as error:
            record_denied_request(request, error)
            faults = error.data.get("errors") or [{"field": "", "message": error.message}]
    else:
        start = start_of(request)
    return render(
        request, "jobs/new.html", _context(request, start, faults), status=400 if faults else 200
    )


def start_of(request: Any) -> Start:
    """Return the start that the address asks for.

    `?from=12` runs a job again, `?copy=12` copies it, `?example=` is a template. Otherwise people
    without a job get the template that runs anywhere, and others a blank form. `?experiment=sft`
    is a blank form for a job of that experiment.
    `set=image=python@sha256:…` sets fields of any start as `muster job rerun --set` does.
    """
    query, fields = request.GET, request.GET.getlist("set")
    if former := query.get("from"):
        parent = find_job(request.actor, former)
        spec = spec_of(parent).model_copy(update={"after": ()}) if fields else spec_of(parent)
        return Start(_with_fields(spec, fields).to_yaml(), parent=parent)
    if fields:
        return _blank_with(fields)
    if former := query.get("copy"):
        return Start(spec_of(find_job(request.actor, former)).to_yaml())
    if (name := query.get("experiment", "")) and name.isprintable():
        return Start(f"{BLANK_YAML}experiment: {json.dumps(name, ensure_ascii=False)}\n", BLANK)
    chosen = query.get("example") or (BLANK if _last_job(request) else HELLO)
    known = {e.title: e.yaml for e in examples()}
    return Start(known[chosen], chosen) if chosen in known else Start(BLANK_YAML, BLANK)


def _blank_with(fields: list[str]) -> Start:
    """Return a blank form with these fields, such as the data that a job shall use."""
    spec = _with_fields(parse_mapping({"run": "true"}), fields)
    rest = {name: value for name, value in spec.to_mapping().items() if name != "run"}
    run = spec.run if spec.run != "true" else ""
    return Start(dump({"run": run, **rest}), BLANK)


def _typed(request: Any) -> Start:
    parent = request.POST.get("parent")
    row = find_job(request.actor, parent) if parent else None
    return Start(request.POST.get("yaml", ""), parent=row)


def _submit(request: Any, start: Start) -> Job:
    spec = parse_text(start.yaml).spec
    team = Team.objects.filter(slug=request.POST.get("team", "")).first()
    if team is None:
        raise NotPermitted(Message("Choose the team to submit to."))
    if start.parent:
        made = services.rerun_job(actor=request.actor, job=start.parent, spec=spec, team=team)
        if request.POST.get("replace") and _may_replace(request, start.parent):
            why = Message("Replaced by #{n}.", n=made.number)
            services.cancel_job(actor=request.actor, job=start.parent, why=why)
        return made
    return services.submit_job(actor=request.actor, team=team, spec=spec)


def _may_replace(request: Any, job: Job | None) -> bool:
    """Return whether the job still waits, so that its rerun may take its place."""
    return job is not None and is_pending(job) and may_change(request.actor, job)


def _context(request: Any, start: Start, faults: list[dict[str, Any]]) -> dict[str, Any]:
    teams = [
        t for t in people.teams_for(request.actor) if request.actor.may(P.JOBS_SUBMIT, t["id"])
    ]
    last, notes = _last_job(request), {e.title: e.description for e in examples()}
    team = request.POST.get("team") or request.GET.get("team") or _team_slug(start.parent or last)
    return {
        "page_title": Message("Rerun #{n}", context="page title", n=start.parent.number)
        if start.parent
        else Message("New job", context="page title"),
        "crumbs": [(Message("Jobs", context="navigation"), f"/{request.org.slug}/jobs")],
        "start": start,
        "changes": _changes(start),
        "yaml": start.yaml,
        "errors": faults,
        "templates": [(key, title, notes[key]) for key, title in TITLES.items()],
        "may_replace": _may_replace(request, start.parent),
        "last": last,
        "recent": _recent(request),
        "teams": teams,
        "places": names_for(Team.objects.filter(id__in=[t["id"] for t in teams])),
        "team_chosen": team,
        "has_cluster": Cluster.objects.filter(is_enabled=True).exists(),
        "may_connect": request.actor.may(P.CLUSTERS_WRITE),
        "may_invite": request.actor.may(P.TEAMS_WRITE),
        "may_submit": bool(teams),
    }


def _changes(start: Start) -> list[dict[str, Any]]:
    """Return what a rerun changes before anybody has typed, such as the fields of `?set=`."""
    try:
        found = compare(start.parent, parse_text(start.yaml).spec) if start.parent else None
    except SpecErrors:
        found = None
    return [asdict(change) for change in found.changes] if found else []


def _last_job(request: Any) -> Job | None:
    rows = visible_jobs(request.actor).filter(owner_id=request.actor.user_id)
    return rows.select_related("team").order_by("-number").first()  # type: ignore[no-any-return]


def _team_slug(job: Job | None) -> str:
    return job.team.slug if job else ""


def _recent(request: Any) -> list[Job]:
    """Return recent jobs of the organization with different names, the newest first."""
    rows = visible_jobs(request.actor).select_related("owner").order_by("-number")
    found: dict[str, Job] = {}
    for job in rows[:RECENT_READ]:
        found.setdefault(job.name, job)
    return list(found.values())[:RECENT]


def _with_fields(spec: JobSpec, texts: list[str]) -> JobSpec:
    """Return the spec with fields such as "image=python:3.12"; as it is if they don't fit.

    An empty value removes a field.
    """
    fields = {path: value for path, _equals, value in (text.partition("=") for text in texts)}
    return with_changes(spec, {path: _value(value) for path, value in fields.items()}) or spec


def _value(text: str) -> Any:
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text or None
