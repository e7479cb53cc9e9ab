"""Page for a new job: from a template, from an earlier job, or as a rerun with changes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters.models import Cluster
from jobs import services
from jobs.models import Job
from jobs.scheduling.placement import names_for
from jobs.selectors.jobs import find_job, visible_jobs
from jobs.specs.stored import spec_of
from portal.core.errors import NotPermitted, PortalError
from portal.core.messages import Message
from portal.web.denials import record_denied_request
from schedulers.spec import (
    JobSpec,
    SpecErrors,
    examples,
    parse_mapping,
    parse_text,
    with_overrides,
)
from schedulers.spec.grammar import parse_size
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.organizations import selectors as people
from workspaces.web.base import page

_AMOUNT = re.compile(r"([0-9]{1,15}(\.[0-9]{1,6})?)([KMGTP]?i?B?)", re.ASCII)
RECENT, RECENT_READ = 8, 60
BLANK, HELLO = "blank", "hello"
BLANK_YAML = '# Only `run` is required.\nrun: ""\n'
TITLES = {
    HELLO: Message("Hello"),
    "gpu check": Message("Single GPU"),
    "two gpus": Message("Multi-GPU (torchrun)"),
    "two nodes": Message("Two nodes"),
    "digits": Message("Train on CPU"),
    "digits from a dataset": Message("Train on a dataset"),
    "learning rates": Message("Sweep"),
    "typo": Message("A failing job"),
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
    `?from=12&change=resources.cpus&was=4&to=2` applies the change that was suggested for the job,
    and `?from=12&set=image=python@sha256:…` sets fields as `muster job rerun --set` does.
    """
    query = request.GET
    if former := query.get("from"):
        parent = find_job(request.actor, former)
        change = (query.get(name, "") for name in ("change", "was", "to"))
        spec = with_fields(parent, query.getlist("set")) or changed(spec_of(parent), *change)
        return Start(spec.to_yaml(), parent=parent)
    if former := query.get("copy"):
        return Start(spec_of(find_job(request.actor, former)).to_yaml())
    if (name := query.get("experiment", "")) and name.isprintable():
        return Start(f"{BLANK_YAML}experiment: {json.dumps(name, ensure_ascii=False)}\n", BLANK)
    chosen = query.get("example") or (BLANK if _last_job(request) else HELLO)
    known = {e.title: e.yaml for e in examples()}
    return Start(known[chosen], chosen) if chosen in known else Start(BLANK_YAML, BLANK)


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
        return services.rerun_job(actor=request.actor, job=start.parent, spec=spec, team=team)
    return services.submit_job(actor=request.actor, team=team, spec=spec)


def _context(request: Any, start: Start, faults: list[dict[str, Any]]) -> dict[str, Any]:
    teams = [
        t for t in people.teams_for(request.actor) if request.actor.may(P.JOBS_SUBMIT, t["id"])
    ]
    last, notes = _last_job(request), {e.title: e.description for e in examples()}
    team = request.POST.get("team") or request.GET.get("team") or _team_slug(start.parent or last)
    return {
        "page_title": Message("New job"),
        "crumbs": [(Message("Jobs"), f"/{request.org.slug}/jobs")],
        "start": start,
        "yaml": start.yaml,
        "errors": faults,
        "templates": [(key, title, notes[key]) for key, title in TITLES.items()],
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


def with_fields(job: Job, texts: list[str]) -> JobSpec | None:
    """Return the spec of a job with fields such as "image=python:3.12"; None if they don't fit."""
    fields = {path: value for path, _equals, value in (text.partition("=") for text in texts)}
    before = {name: value for name, value in job.spec.items() if name != "after"}
    try:
        return parse_mapping(with_overrides(before, fields)) if fields else None
    except SpecErrors:
        return None


def changed(spec: JobSpec, field: str, was: str, to: str) -> JobSpec:
    """Reduce one field by a change from `jobs.scheduling.blocking_jobs.offer`.

    Amounts may be per node or in total, as the ratio is the same. Any other change is ignored.
    """
    share = _share(was, to)
    if share is None:
        return spec
    resources, less = spec.resources, dict[str, Any]()
    match field:
        case "resources.accelerators" if resources.gpus:
            less = {
                "accelerators": replace(
                    resources.accelerators, count=max(1, int(resources.gpus * share))
                )
            }
        case "resources.cpus":
            less = {"cpus": max(0.1, int(Fraction(str(resources.cpus)) * share * 1000) / 1000)}
        case "resources.memory" if resources.memory:
            less = {"memory": max(1 << 20, int(resources.memory * share))}
        case "num_nodes":
            return spec.model_copy(update={"num_nodes": max(1, int(spec.num_nodes * share))})
        case _:
            return spec
    return spec.model_copy(update={"resources": resources.model_copy(update=less)})


def _share(was: str, to: str) -> Fraction | None:
    """Return the ratio between 0 and 1, exclusive; None for invalid amounts."""
    if not (before := _amount(was)) or (after := _amount(to)) is None:
        return None
    share = after / before
    return share if 0 < share < 1 else None


def _amount(text: str) -> Fraction | None:
    """Return an amount: a number, or a size with its unit."""
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    return Fraction(parse_size(text)) if match[3] else Fraction(text)
