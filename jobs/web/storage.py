"""Page of storage use: jobs with the largest logs, which can be deleted."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse

from jobs.lists import STORAGE as KEPT_LOGS
from portal.core.messages import Message
from workspaces.organizations import selectors as people
from workspaces.quotas.limits import STORAGE
from workspaces.web.base import page


@page()
def kept_logs(request: Any) -> HttpResponse:
    """List visible jobs by size of logs, with the storage quotas of what is listed."""
    asked = KEPT_LOGS.shown(request.actor, request.GET)
    visible_teams = {
        *asked.filters["team"].split(","),
        *(team["slug"] for team in people.teams_for(request.actor) if team["role"]),
    }
    return KEPT_LOGS.render(
        request,
        "jobs/storage.html",
        {
            "page_title": Message("Storage"),
            "crumbs": [(Message("Quotas"), f"/{request.org.slug}/quotas")],
            "list": asked,
            "quotas": [
                q
                for q in people.quotas_for(request.actor, STORAGE)
                if _is_relevant(request, q, visible_teams)
            ],
        },
    )


def _is_relevant(request: Any, quota: dict[str, Any], visible_teams: set[str]) -> bool:
    """Return whether the quota is the organization's, the viewer's or one of these teams'."""
    return quota["scope"] == "org" or quota["subject"] in (
        visible_teams if quota["scope"] == "team" else {request.actor.email}
    )
