"""Page of a version: files, signature, lineage, approval, aliases and promotion."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.texts import mark_of
from portal.web.asset_actions import AssetAction, asset_actions
from portal.web.form_errors import FormErrors
from portal.web.lineage import lineage_context
from portal.web.transfers import send_file
from portal.web.undo import Undo
from registry import selectors, services, sources
from registry.api.versions import download_of
from registry.api.views import act_on_approval
from registry.models import ModelVersion
from registry.names import STAGES
from registry.representations import file_rows, model_detail, version_detail
from registry.services.approval import KIND
from registry.services.versions import PENDING
from registry.web.views import (
    CRUMB,
    best_alias,
    delete_alias,
    seen_aliases,
    set_alias,
    url_of,
    usage_of,
    use_url,
)
from workspaces.access.permissions import Permission as P
from workspaces.approvals.selectors import history_context, latest_of
from workspaces.web.base import action, page

_DONE = {
    "acknowledge": Message("You acknowledged that loading this version can run code."),
    "request": Message("Approval was requested."),
    "withdraw": Message("The request was withdrawn."),
    "approve": Message("The version is approved."),
    "reject": Message("The version is rejected."),
}


@page(None, ("GET", "HEAD", "POST"))
def version(request: Any, team: str, model: str, version: str) -> HttpResponse:
    """Show a version and act on it."""
    parent = selectors.find_model(request.actor, team, model)
    row = selectors.find_version(request.actor, parent, version)
    here = url_of(request, parent, "model-version", version=row.version)
    if request.method == "POST":
        return _act(request, row, here)
    tab = "lineage" if request.GET.get("tab") == "lineage" else ""
    files = file_rows(row, selectors.files_of(row))
    asked = latest_of(KIND, [row.id]).get(row.id)
    may_approve = request.actor.may(P.MODELS_APPROVE, parent.team_id)
    targets = [t for t in selectors.teams_to_write(request.actor) if t.id != parent.team_id]
    return render(
        request,
        "registry/version.html",
        {
            "page_title": Message("Version {n}", context="page title", n=row.version),
            "crumbs": [
                (CRUMB, reverse("models", args=[request.org.slug])),
                (parent.name, url_of(request, parent)),
            ],
            "model": model_detail(parent),
            "team_name": parent.team.name,
            "version": version_detail(row),
            "folders": _folders(files),
            "origins": sources.origins(
                request.actor, request.org.slug, row.run_id, row.logged_model_id
            ),
            "came_from": _readable_source(request, row),
            "stages": STAGES,
            "targets": targets,
            "may_write": request.actor.may(P.MODELS_WRITE, parent.team_id),
            "may_approve": may_approve,
            "asker": asked.asker.display_name if asked else "",
            "is_mine": asked is not None and asked.asker_id == request.actor.user_id,
            **(history_context(KIND, asked) if asked else {}),
            "is_pending": row.status == PENDING,
            "asset_actions": _actions(request, row),
            "usage": usage_of(
                request, parent, best_alias(selectors.aliases_of(row)) or f"/{row.version}"
            ),
            "columns": _columns(row.signature or {}),
            "seen_aliases": seen_aliases(parent),
            "tab": tab,
            "graph": lineage_context(request, "model", row.id) if tab == "lineage" else None,
        },
    )


def _actions(request: Any, row: ModelVersion) -> list[AssetAction]:
    if row.status == PENDING:
        return asset_actions(request)
    return asset_actions(
        request,
        use=use_url(request, row.model, f"/{row.version}"),
        command=usage_of(request, row.model, f"/{row.version}")["command"],
    )


@page(None)
def download(request: Any, team: str, model: str, version: str, path: str) -> Any:
    """Download a file of a version."""
    parent = selectors.find_model(request.actor, team, model)
    row = selectors.find_version(request.actor, parent, version)
    return send_file(request, download_of(selectors.find_file(row, path)))


def _folders(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Group files by folder, those at the top first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for file in files:
        folder, _slash, name = file["path"].rpartition("/")
        found.setdefault(folder, []).append({**file, "name": name})
    return [
        {"folder": folder, "files": inside, "bytes": sum(file["bytes"] for file in inside)}
        for folder, inside in sorted(found.items())
    ]


def _columns(signature: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a signature; tensors have their type and shape in `tensor-spec`."""
    rows = []
    for kind in ("inputs", "outputs", "params"):
        for column in signature.get(kind) or ():
            if not isinstance(column, dict):
                continue
            spec = column.get("tensor-spec")
            spec = spec if isinstance(spec, dict) else {}
            shape = spec.get("shape") or column.get("shape") or ()
            rows.append(
                {
                    "kind": kind,
                    "name": column.get("name", ""),
                    "type": spec.get("dtype") or column.get("type", ""),
                    "shape": " × ".join(map(str, shape)) if isinstance(shape, list) else "",
                    "default": column.get("default"),
                    "is_optional": column.get("required") is False,
                }
            )
    return rows


def _readable_source(request: Any, row: ModelVersion) -> ModelVersion | None:
    """Return the version that it was promoted from, if the actor may see it."""
    if row.promoted_from_id is None:
        return None
    return selectors.visible_versions(request.actor).filter(id=row.promoted_from_id).first()


def _act(request: Any, row: ModelVersion, here: str) -> HttpResponse:
    given, actor, do = request.POST, request.actor, request.POST.get("do", "")
    if do in _DONE:
        return action(
            request,
            here,
            _DONE[do],
            lambda: act_on_approval(actor, row, do, given.get("note", "")),
        )
    match do:
        case "alias-set":
            return set_alias(request, row, here)
        case "alias-delete":
            return delete_alias(request, row.model, here)
        case "description":
            text = given.get("description", "").replace("\r\n", "\n")
            return action(
                request,
                here,
                Message("The description was saved."),
                lambda: services.update_version(
                    actor=actor,
                    version=row,
                    description=text,
                    was=given.get("was"),
                ),
                Undo(
                    here,
                    {"do": "description", "description": row.description, "was": mark_of(text)},
                ),
            )
        case "stage":
            stage = given.get("stage", "")
            return action(
                request,
                here,
                Message("The stage is {stage}.", stage=stage),
                lambda: services.set_stage(
                    actor=actor, version=row, stage=stage, was=given.get("was")
                ),
                Undo(here, {"do": "stage", "stage": row.stage, "was": stage}),
            )
        case "promote" | "delete":
            return _move_on(request, row, here, do)
    raise InvalidInput(Message("The form names nothing that can be done here."))


def _move_on(request: Any, row: ModelVersion, here: str, do: str) -> HttpResponse:
    """Promote or delete a version, and go to the page of what is there then."""
    with FormErrors(request):
        if do == "promote":
            return redirect(_promote(request, row))
        if row.status == PENDING:
            services.discard_upload(actor=request.actor, version=row)
        else:
            services.delete_version(actor=request.actor, version=row)
        messages.success(request, Message("Version {n} was deleted.", n=row.version))
        return redirect(url_of(request, row.model))
    return redirect(here)


def _promote(request: Any, row: ModelVersion) -> str:
    slug = request.POST.get("team", "")
    team = next((t for t in selectors.teams_to_write(request.actor) if t.slug == slug), None)
    if team is None:
        raise InvalidInput.at("team", Message("choose one", context="error of a field"))
    made = services.promote_version(
        actor=request.actor, version=row, team=team, name=request.POST.get("name", "")
    )
    messages.success(
        request,
        Message(
            "This is version {n} of {name} in {team}.",
            n=made.version,
            name=made.model.name,
            team=slug,
        ),
    )
    return url_of(request, made.model, "model-version", version=made.version)
