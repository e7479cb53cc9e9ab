"""Pages: models, a model, a new model, an upload, and the trash."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.core.texts import check_unchanged, mark_of
from portal.web.asset_actions import AssetAction, asset_actions, new_job_url
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo, offer_undo
from registry import selectors, services
from registry.api.views import find_trashed
from registry.lists import MODELS, TRASH
from registry.models import ModelVersion, RegisteredModel
from registry.representations import model_detail, version_rows
from registry.services.versions import READY, About
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page

MOST_VERSIONS, MOST_COMPARED = 200, 8
MOST_UNDO = 20_000  # characters of a card that the session keeps for an undo
CRUMB = Message("Models", context="text, registry, machine learning")


@page(MODELS.permission)
def models(request: Any) -> HttpResponse:
    """List the models."""
    return MODELS.render(
        request,
        "registry/models.html",
        {
            "page_title": CRUMB,
            "may_write": bool(selectors.teams_to_write(request.actor)),
            "has_trash": selectors.visible_models(request.actor, is_deleted=True).exists(),
        },
    )


@page(None, ("GET", "HEAD", "POST"))
def new_model(request: Any) -> HttpResponse:
    """Create a model, and register a version from `source`, or go on to its upload."""
    teams = selectors.teams_to_write(request.actor)
    if request.method == "POST":
        with FormErrors(request):
            return redirect(_register(request))
    known = selectors.visible_models(request.actor).filter(team__in=teams).order_by("name")
    return render(
        request,
        "registry/new.html",
        {
            "page_title": Message("Register a model"),
            "crumbs": [(CRUMB, reverse("models", args=[request.org.slug]))],
            "teams": teams,
            "typed": request.POST or request.GET,
            "known": known.values_list("name", flat=True).distinct()[:200],
        },
    )


def _register(request: Any) -> str:
    """Create what the form says and return the page to go to."""
    given, actor = request.POST, request.actor
    slug, name, source = (given.get(n, "").strip() for n in ("team", "name", "source"))
    team = next((t for t in selectors.teams_to_write(actor) if t.slug == slug), None)
    if team is None:
        raise InvalidInput.at("team", Message("choose one", context="error of a field"))
    if given.get("files") == "upload":
        source = ""
    elif given.get("files") == "source" and not source:
        raise InvalidInput.at("source", Message("Enter a source, such as runs:/RUN_ID/model."))
    row = selectors.visible_models(actor).filter(team=team, name=name).first()
    if row is None:
        row = services.create_model(
            actor=actor, team=team, name=name, description=given.get("description", "")
        )
    elif not source and not given.get("is_known"):
        raise InvalidInput.at(
            "name", Message("is a model of {team} already. Upload a version there.", team=slug)
        )
    if not source:
        return url_of(request, row, "model-upload")
    version = services.create_version(actor=actor, model=row, about=About(source=source))
    messages.success(
        request, Message("Version {n} of {name} was registered.", n=version.version, name=row.name)
    )
    return url_of(request, row, "model-version", version=version.version)


@page(None, ("GET", "HEAD", "POST"))
def model(request: Any, team: str, model: str) -> HttpResponse:
    """Show a model with its versions; change its card, its settings and its aliases."""
    row = selectors.find_model(request.actor, team, model)
    if request.method == "POST":
        return _change(request, row)
    versions = list(selectors.versions_of(row)[:MOST_VERSIONS])
    for version in versions:
        version.model = row
    shown = version_rows(versions)
    may_approve = request.actor.may(P.MODELS_APPROVE, row.team_id)
    which = recommended(row, versions)
    return render(
        request,
        "registry/model.html",
        {
            "page_title": row.name,
            "crumbs": [(CRUMB, reverse("models", args=[request.org.slug]))],
            "model": model_detail(row),
            "team_name": row.team.name,
            "versions": shown,
            "compared": _compared(shown),
            "tags_text": _tags_text(row),
            "seen_aliases": seen_aliases(row),
            "may_write": request.actor.may(P.MODELS_WRITE, row.team_id),
            "may_approve": may_approve,
            "reviewed": _to_review(request, shown) if may_approve else [],
            "is_guarded": any(v.approval == ModelVersion.Approval.APPROVED for v in versions),
            "which": which,
            "recommended": _version_at(row, versions, which),
            "usage": usage_of(request, row, which) if which else None,
            "asset_actions": _actions(request, row, which),
        },
    )


def _compared(versions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the metrics of the last versions that have some, as rows of a table."""
    some = [version for version in versions if version["metrics"]][:MOST_COMPARED]
    names = sorted({name for version in some for name in version["metrics"]})
    return {
        "versions": some,
        "rows": [(name, [version["metrics"].get(name) for version in some]) for name in names],
    }


def _change(request: Any, row: RegisteredModel) -> HttpResponse:
    given, actor, here = request.POST, request.actor, url_of(request, row)
    match given.get("do"):
        case "card":
            before, card = row.description, given.get("description", "").replace("\r\n", "\n")
            return action(
                request,
                here,
                Message("The model card was saved."),
                lambda: services.update_model(
                    actor=actor, model=row, description=card, was=given.get("was")
                ),
                Undo(here, {"do": "card", "description": before, "was": mark_of(card)})
                if len(before) < MOST_UNDO
                else None,
            )
        case "settings":
            return _change_settings(request, row)
        case "alias-delete":
            return delete_alias(request, row, here)
        case "alias-set":
            version = selectors.find_version(actor, row, given.get("version", ""))
            return set_alias(request, version, here)
        case "delete":
            return _delete(request, row, here)
    raise InvalidInput(Message("The form names nothing that can be done here."))


def _change_settings(request: Any, row: RegisteredModel) -> HttpResponse:
    given = request.POST
    with FormErrors(request):
        check_unchanged("tags", _tags_text(row), given.get("was"))
        tags = {**dict.fromkeys(row.tags), **_tags_in(given.get("tags", ""))}
        changes = {"name": given.get("name", ""), "tags": tags}
        if request.actor.may(P.MODELS_APPROVE, row.team_id):
            changes["requires_approval"] = "requires_approval" in given
        row = services.update_model(actor=request.actor, model=row, **changes)
        messages.success(request, Message("{name} was updated.", name=row.name))
    return redirect(url_of(request, row))


def _tags_text(row: RegisteredModel) -> str:
    return "\n".join(f"{key}={value}" for key, value in row.tags.items())


def _tags_in(text: str) -> dict[str, str]:
    """Parse one tag a line, `key=value`. Raises InvalidInput."""
    tags = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, equals, value = line.partition("=")
        if not equals:
            raise InvalidInput.at("tags", Message("{line} must be key=value", line=line[:60]))
        tags[key.strip()] = value.strip()
    return tags


def set_alias(request: Any, version: ModelVersion, back: str) -> HttpResponse:
    """Point the alias of the form at a version, with an undo."""
    alias = request.POST.get("alias", "").strip()
    before = version.model.aliases.get(alias)
    fields = {"do": "alias-delete", "alias": alias, "was": f"{alias}={version.version}"}
    if before is not None:
        fields |= {"do": "alias-set", "version": str(before)}
    return action(
        request,
        back,
        Message("{alias} points to version {n}.", alias=alias, n=version.version),
        lambda: services.set_alias(
            actor=request.actor, version=version, alias=alias, if_version=_seen(request, alias)
        ),
        Undo(url_of(request, version.model), fields),
    )


def delete_alias(request: Any, row: RegisteredModel, back: str) -> HttpResponse:
    """Delete the alias of the form, with an undo."""
    alias = request.POST.get("alias", "")
    number = str(row.aliases.get(alias, ""))
    return action(
        request,
        back,
        Message("The alias {alias} was removed.", alias=alias),
        lambda: services.delete_alias(
            actor=request.actor, model=row, alias=alias, if_version=_seen(request, alias)
        ),
        Undo(
            url_of(request, row), {"do": "alias-set", "alias": alias, "version": number, "was": ""}
        ),
    )


def seen_aliases(row: RegisteredModel) -> str:
    """Return where the aliases point, as forms send it back: `champion=3 next=4`."""
    return " ".join(f"{alias}={number}" for alias, number in sorted(row.aliases.items()))


def _seen(request: Any, alias: str) -> int | None:
    """Return where an alias pointed on the page of the form: 0 for nowhere, None if unknown."""
    if (was := request.POST.get("was")) is None:
        return None
    numbers = dict(one.rpartition("=")[::2] for one in was.split())
    return int(number) if (number := numbers.get(alias, "0")).isdecimal() else None


def _delete(request: Any, row: RegisteredModel, here: str) -> HttpResponse:
    with FormErrors(request):
        services.delete_model(actor=request.actor, model=row)
        offer_undo(
            request,
            Message("{name} was moved to the trash.", name=row.name),
            Undo(
                reverse("models-trash", args=[request.org.slug]),
                {"do": "restore", "model": str(row.id)},
            ),
        )
        return redirect("models", org=request.org.slug)
    return redirect(here)


@page(None)
def upload(request: Any, team: str, model: str) -> HttpResponse:
    """Upload a version; `model-upload.js` sends the files to the API."""
    row = selectors.find_model(request.actor, team, model)
    kwargs = {"org": request.org.slug, "team": team, "model": row.name}
    return render(
        request,
        "registry/upload.html",
        {
            "page_title": Message("Upload a version"),
            "crumbs": [
                (CRUMB, reverse("models", args=[request.org.slug])),
                (row.name, url_of(request, row)),
            ],
            "model": model_detail(row),
            "api": reverse("api-model-versions", kwargs=kwargs),
            "may_write": request.actor.may(P.MODELS_WRITE, row.team_id),
        },
    )


@page(None, ("GET", "HEAD", "POST"))
def trash(request: Any) -> HttpResponse:
    """List deleted models; restore one, or delete it permanently."""
    here = request.path
    if request.method == "POST":
        row = find_trashed(request.actor, _uuid(request.POST.get("model", "")))
        if request.POST.get("do") == "purge":
            return action(
                request,
                here,
                Message("{name} was deleted permanently.", name=row.name),
                lambda: services.purge_model(actor=request.actor, model=row),
            )
        return action(
            request,
            url_of(request, row) if request.POST.get("do") == "restore" else here,
            Message("{name} was restored.", name=row.name),
            lambda: services.restore_model(actor=request.actor, model=row),
        )
    return TRASH.render(
        request,
        "registry/trash.html",
        {
            "page_title": Message("Trash", context="page title"),
            "crumbs": [(CRUMB, reverse("models", args=[request.org.slug]))],
            "writable": {team.slug for team in selectors.teams_to_write(request.actor)},
            "days": settings.MUSTER_TRASH_DAYS,
        },
    )


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput.at("model", Message("choose one", context="error of a field")) from None


def url_of(request: Any, row: RegisteredModel, name: str = "model", **more: object) -> str:
    """Return the path of a page of a model."""
    kwargs = {"org": request.org.slug, "team": row.team.slug, "model": row.name, **more}
    return reverse(name, kwargs=kwargs)


def usage_of(request: Any, row: RegisteredModel, which: str) -> dict[str, str]:
    """Return how to load a model: `which` is @alias or /version."""
    where = request.build_absolute_uri(f"/mlflow/{request.org.slug}/{row.team.slug}")
    target = f"{row.team.slug}/{row.name}{which}"
    lines = (
        "import mlflow  # MLFLOW_TRACKING_TOKEN is your access token",
        f"mlflow.set_tracking_uri({json.dumps(where)})",
        f"model = mlflow.pyfunc.load_model({json.dumps(f'models:/{row.name}{which}')})",
    )
    return {"python": "\n".join(lines), "command": f"muster model download {shlex.quote(target)}"}


# A job logs to the registry of its team without further settings.
LOAD = """python3 -c '
import os, mlflow
model = mlflow.pyfunc.load_model(os.environ["MODEL"])
print(model.metadata)
'"""


def use_url(request: Any, row: RegisteredModel, which: str) -> str:
    """Return the page for a new job that loads a model: `which` is @alias or /version."""
    fields = {
        "name": row.name,
        "run": f"{LOAD}\n",
        "envs.MODEL": f"models:/{row.name}{which}",
    }
    return new_job_url(request.org.slug, fields, team=row.team.slug)


def best_alias(aliases: Iterable[str]) -> str:
    """Return @alias for the alias that is shown first, or ""."""
    names = sorted(aliases, key=lambda alias: (alias != "champion", alias))
    return f"@{names[0]}" if names else ""


def recommended(row: RegisteredModel, versions: Sequence[ModelVersion]) -> str:
    """Return what programs should load, the newest version first: @alias or /version.

    It is "" if there is nothing to load, or nothing approved where the model requires it.
    """
    ready = [version for version in versions if version.status == READY]
    if row.requires_approval:
        ready = [one for one in ready if one.approval == ModelVersion.Approval.APPROVED]
    numbers = {version.version for version in ready}
    aliases = [alias for alias, number in row.aliases.items() if number in numbers]
    if not ready:
        return ""
    newest = f"/{ready[0].version}" if row.requires_approval else "/latest"
    return best_alias(aliases) or newest


def _actions(request: Any, row: RegisteredModel, which: str) -> list[AssetAction]:
    if not which:
        return asset_actions(request)
    return asset_actions(
        request,
        use=use_url(request, row, which),
        command=usage_of(request, row, which)["command"],
    )


def _version_at(row: RegisteredModel, versions: Sequence[ModelVersion], which: str) -> int | None:
    """Return the number of a version that is named as @alias, /version or /latest."""
    if which.startswith("@"):
        return row.aliases[which[1:]]  # type: ignore[no-any-return]
    if which == "/latest":
        return max(one.version for one in versions if one.status == READY)
    return int(which[1:]) if which else None


def _to_review(request: Any, shown: list[dict[str, Any]]) -> list[int]:
    """Return the versions about which the viewer may decide: not those that they asked for."""
    asked = (v for v in shown if v["approval"]["state"] == "requested")
    return [v["version"] for v in asked if v["approval"]["requested_by"] != request.actor.email]
