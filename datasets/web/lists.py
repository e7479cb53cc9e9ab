"""Pages: datasets, checkpoints, and the trash of each."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from datasets import services
from datasets.access import may_manage
from datasets.lists import LISTS, TRASHES
from datasets.models import Repository, RepositoryKind, Visibility
from datasets.selectors import visible_repositories
from datasets.web.base import PLURALS, teams_to_write
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.web.base import action, page


@page(None, ("GET", "HEAD", "POST"))
def datasets(request: Any) -> HttpResponse:
    """List the datasets; create one."""
    return _list(request, RepositoryKind.DATASET)


@page(None, ("GET", "HEAD", "POST"))
def checkpoints(request: Any) -> HttpResponse:
    """List the checkpoints; create one."""
    return _list(request, RepositoryKind.CHECKPOINT)


def _list(request: Any, kind: RepositoryKind) -> HttpResponse:
    if request.method == "POST":
        return _create(request, kind)
    teams = teams_to_write(request.actor)
    return LISTS[kind].render(
        request,
        "datasets/list.html",
        {
            "page_title": PLURALS[kind],
            "kind": kind.value,
            "teams": teams,
            "team": request.GET.get("team", ""),
            "has_trash": visible_repositories(request.actor, kind, is_deleted=True).exists(),
            "may_default": request.actor.may(P.DATASETS_ADMIN),
            "api": f"/api/v1/orgs/{request.org.slug}/{kind}s",
        },
    )


def _create(request: Any, kind: RepositoryKind) -> HttpResponse:
    given = request.POST
    with FormErrors(request):
        row = services.create_repository(
            actor=request.actor,
            team=_team(request.actor, given.get("team", "")),
            kind=kind,
            name=given.get("name", ""),
            description=given.get("description", ""),
            visibility=given.get("visibility", Visibility.TEAM),
        )
        return redirect("repository", org=request.org.slug, kind=kind.value, repository=row.name)
    return redirect(f"{kind}s", org=request.org.slug)


def _team(actor: Any, slug: str) -> Team:
    row = next((team for team in teams_to_write(actor) if team.slug == slug), None)
    if row is None:
        raise InvalidInput.at("team", Message("choose one", context="error of a field"))
    return row


@page(None, ("GET", "HEAD", "POST"))
def trash(request: Any, kind: str) -> HttpResponse:
    """List what was deleted; restore it, or delete it permanently."""
    listed = reverse(f"{kind}s", args=[request.org.slug])
    if request.method == "POST":
        return _act(request, kind)
    rows = visible_repositories(request.actor, kind, is_deleted=True)
    return TRASHES[RepositoryKind(kind)].render(
        request,
        "datasets/trash.html",
        {
            "page_title": Message("Trash", context="page title"),
            "crumbs": [(PLURALS[RepositoryKind(kind)], listed)],
            "back": listed,
            "manageable": {str(row.id) for row in rows[:200] if may_manage(request.actor, row)},
            "days": settings.MUSTER_TRASH_DAYS,
        },
    )


def _act(request: Any, kind: str) -> HttpResponse:
    row = _find_deleted(request, kind)
    match request.POST.get("do", ""):
        case "restore":
            page_of = reverse("repository", args=[request.org.slug, kind, row.name])
            return action(
                request,
                page_of,
                Message("{name} was restored.", name=row.name),
                lambda: services.restore_repository(actor=request.actor, repository=row),
            )
        case "purge":
            return action(
                request,
                request.path,
                Message("{name} was deleted permanently.", name=row.name),
                lambda: services.purge_repository(actor=request.actor, repository=row),
            )
    raise InvalidInput(Message("The form names nothing that can be done here."))


def _find_deleted(request: Any, kind: str) -> Repository:
    try:
        pk = UUID(request.POST.get("repository", ""))
    except ValueError:
        raise InvalidInput.at(
            "repository", Message("choose one", context="error of a field")
        ) from None
    row = visible_repositories(request.actor, kind, is_deleted=True).filter(id=pk).first()
    if row is None:
        raise NotFound(Message("It is not in the trash."), code="no_repository")
    return row
