"""Pages of storage use: all kinds, what nothing refers to, and logs, which can be deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from jobs.lists import STORAGE as KEPT_LOGS
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.models import User
from workspaces.organizations import selectors as people
from workspaces.quotas import space
from workspaces.quotas.limits import STORAGE
from workspaces.web.base import page

MOST_ROWS = 100


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
            "page_title": Message("Storage", context="page title"),
            "crumbs": [(Message("Quotas", context="navigation"), f"/{request.org.slug}/quotas")],
            "list": asked,
            "tab": "logs",
            **_quotas(request, visible_teams),
        },
    )


@page()
def storage_use(request: Any) -> HttpResponse:
    """List what takes the space: all kinds with their totals, and the largest of all."""
    return _overview(request, "use")


@page()
def unused(request: Any) -> HttpResponse:
    """List what nothing refers to, with the next step for each."""
    return _overview(request, "unused")


def _overview(request: Any, tab: str) -> HttpResponse:
    teams = people.teams_for(request.actor)
    slug = request.GET.get("team", "")
    ids = {team["slug"]: team["id"] for team in teams}
    if slug and slug not in ids:
        raise NotFound(Message("There is no team {x} that you can see.", x=slug[:40]))
    asked = space.SpaceQuery(
        request.actor, request.org.slug, UUID(str(ids[slug])) if slug else None
    )
    context: dict[str, Any] = {
        "page_title": Message("Storage", context="page title"),
        "crumbs": [(Message("Quotas", context="navigation"), f"/{request.org.slug}/quotas")],
        "tab": tab,
        "teams": teams,
        "team": slug,
        **_quotas(request, {slug} if slug else {one["slug"] for one in teams}),
    }
    if tab == "use":
        totals = space.totals(asked)
        context |= {
            "totals": totals,
            "sum": sum(total.bytes for _, total in totals),
            "rows": _with_names(space.largest(asked, MOST_ROWS), teams),
        }
    else:
        context["rows"] = _with_names(space.unused(asked, MOST_ROWS), teams)
    return render(request, "jobs/storage_use.html", context)


def _with_names(
    rows: Sequence[tuple[space.SpaceSource, space.SpaceUse]], teams: Sequence[people.TeamShape]
) -> list[tuple[space.SpaceSource, space.SpaceUse, str, str]]:
    """Return the rows with the names of their owners and teams."""
    emails = {use.owner for _, use in rows}
    owners = {user.email: user.display_name for user in User.objects.filter(email__in=emails)}
    names = {team["slug"]: team["name"] for team in teams}
    return [
        (source, use, owners.get(use.owner, use.owner), names.get(use.team, use.team))
        for source, use in rows
    ]


def _quotas(request: Any, teams: set[str]) -> dict[str, Any]:
    """Return the context of the quotas: with the name of whose each is, and whether any has a limit."""
    names = {team["slug"]: team["name"] for team in people.teams_for(request.actor)}
    found = [
        quota | {"name": _name(request, quota, names)}
        for quota in people.quotas_for(request.actor, STORAGE)
        if _is_relevant(request, quota, teams)
    ]
    return {"quotas": found, "has_limit": any(quota["limit"] is not None for quota in found)}


def _name(request: Any, quota: dict[str, Any], teams: dict[str, str]) -> str:
    match quota["scope"]:
        case "org":
            return str(request.org.name)
        case "team":
            return teams.get(quota["subject"], quota["subject"])
    return Message("You", context="heading")


def _is_relevant(request: Any, quota: dict[str, Any], visible_teams: set[str]) -> bool:
    """Return whether the quota is the organization's, the viewer's or one of these teams'."""
    return quota["scope"] == "org" or quota["subject"] in (
        visible_teams if quota["scope"] == "team" else {request.actor.email}
    )
