"""Page of storage use: jobs with the largest logs, which can be deleted."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from jobs import storage
from jobs.lists import JOBS
from jobs.web.job_page import may_change
from portal.core.errors import PortalError
from portal.core.messages import Message
from schedulers.states import State
from workspaces.organizations import selectors as people
from workspaces.quotas.limits import STORAGE
from workspaces.web.base import page

SHOWN = 100


@page()
def kept_logs(request: Any) -> HttpResponse:
    """List visible jobs by size of logs, of a team (`?team=`) or the viewer (`?owner=me`)."""
    query = {name: request.GET.get(name, "")[:254] for name in ("team", "owner")}
    error, found = "", []
    try:
        found = storage.largest(JOBS.narrowed(request.actor, query), SHOWN)
    except PortalError as caught:
        error = caught.message
    rows = [
        (
            job,
            size,
            State(job.state).is_final and not job.log_delete_asked_at and may_change(request, job),
        )
        for size, job in found
    ]
    teams = people.teams_for(request.actor)
    visible_teams = {query["team"], *(team["slug"] for team in teams if team["role"])}
    return render(
        request,
        "jobs/storage.html",
        {
            "page_title": _("Storage"),
            "crumbs": [(Message("Quotas"), f"/{request.org.slug}/quotas")],
            "rows": rows,
            "asked": query,
            "error": error,
            "teams": teams,
            "query": urlencode({name: value for name, value in query.items() if value}),
            "quotas": [
                q
                for q in people.quotas_for(request.actor)
                if q["resource"] == STORAGE and _is_relevant(request, q, visible_teams)
            ],
        },
    )


def _is_relevant(request: Any, quota: dict[str, Any], visible_teams: set[str]) -> bool:
    """Return whether the quota is the organization's, the viewer's or one of these teams'."""
    return quota["scope"] == "org" or quota["subject"] in (
        visible_teams if quota["scope"] == "team" else {request.actor.email}
    )
