"""Page: imports of a repository; start, cancel and resume one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render

from datasets import selectors, services
from datasets.imports import sources
from datasets.imports.directories import roots_for
from datasets.models import Import
from datasets.web.base import RepositoryPage
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.credentials.secret_selectors import references_for
from workspaces.web.base import action, page

SHOWN = 20
STATES = {
    Import.State.QUEUED: Message("queued", context="state of an import"),
    Import.State.RUNNING: Message("running", context="state of an import"),
    Import.State.SUCCEEDED: Message("succeeded", context="state of an import"),
    Import.State.FAILED: Message("failed", context="state of an import"),
    Import.State.CANCELED: Message("canceled", context="state of an import"),
}
_SCHEMES = {"s3": "s3://", "http": "", "hub": "hf://", "directory": "cluster://"}
_LABELS = {
    "s3": Message("S3", context="field"),
    "http": Message("Web addresses", context="field"),
    "hub": Message("Hugging Face Hub"),
    "directory": Message("Directory on a cluster"),
}


@page(None, ("GET", "HEAD", "POST"))
def imports(request: Any, kind: str, repository: str) -> HttpResponse:
    """Show the imports with their progress, and the form of a new one."""
    place = RepositoryPage(request, kind, repository)
    if request.method == "POST":
        return _act(place)
    asked = request.GET.get("from", "s3")
    chosen = asked if asked in _LABELS else "s3"
    rows = list(selectors.imports_of(place.row)[:SHOWN])
    team, actor = place.row.team, request.actor
    return render(
        request,
        "datasets/imports.html",
        place.context("imports", title=Message("Import", context="heading"))
        | {
            "rows": [_shown(row) for row in rows],
            "is_active": any(row.state in Import.ACTIVE for row in rows),
            "source": chosen,
            "labels": [
                (
                    name,
                    label,
                    place.url("repository-imports", {"from": name, "dialog": "new-import"}),
                )
                for name, label in _LABELS.items()
            ],
            "secrets": references_for(actor, team) if actor.may(P.JOBS_SUBMIT, team.id) else [],
            "roots": roots_for(team),
            "target": place.branch or place.row.default_branch,
        },
    )


def _shown(row: Import) -> dict[str, Any]:
    addresses = sources.shown_address(row.source).splitlines()
    return {
        "row": row,
        "state": STATES[Import.State(row.state)],
        "source": addresses[0],
        "more": len(addresses) - 1,
        "share": _share(row),
        "is_active": row.state in Import.ACTIVE,
        "may_resume": row.state in {Import.State.FAILED, Import.State.CANCELED},
    }


def _share(row: Import) -> float | None:
    """Return how much is done, from 0 to 1; None if that is not known."""
    if row.bytes:
        return min(row.bytes_done / row.bytes, 1.0)
    return row.files_done / row.files if row.files else None


def _act(place: RepositoryPage) -> HttpResponse:
    request, given = place.request, place.request.POST
    here = place.url("repository-imports", {"from": request.GET.get("from", "")})
    match given.get("do", "start"):
        case "start":
            return _start(place)
        case "cancel":
            row = _find(place)
            return action(
                request,
                here,
                Message("The import was canceled."),
                lambda: services.cancel_import(actor=request.actor, imported=row),
            )
        case "resume":
            row = _find(place)
            return action(
                request,
                here,
                Message("The import continues."),
                lambda: services.resume_import(actor=request.actor, imported=row),
            )
    raise InvalidInput(Message("The form names nothing that can be done here."))


def _start(place: RepositoryPage) -> HttpResponse:
    request, given = place.request, place.request.POST
    kind = given.get("from", "")
    with FormErrors(request):
        if kind not in _SCHEMES:
            raise InvalidInput.at("from", Message("choose one", context="error of a field"))
        services.start_import(
            actor=request.actor,
            repository=place.row,
            source=_address(kind, given.get("source", "")),
            options={name: given.get(name, "") for name in ("endpoint", "region")},
            secrets={name: given.get(name, "") for name in sources.SECRETS[kind]},
            branch=given.get("branch", ""),
            folder=given.get("folder", ""),
            message=given.get("message", ""),
        )
    return redirect(place.url("repository-imports", {"from": kind}))


def _address(kind: str, text: str) -> str:
    """Return an address with its scheme, which the form does not ask for."""
    scheme = _SCHEMES[kind]
    lines = text.strip().splitlines()
    return "\n".join(one if one.startswith(scheme) else scheme + one for one in lines)


def _find(place: RepositoryPage) -> Import:
    try:
        pk = UUID(place.request.POST.get("import", ""))
    except ValueError:
        raise NotFound(Message("There is no such import."), code="no_import") from None
    return services.find_import(place.row, pk)
