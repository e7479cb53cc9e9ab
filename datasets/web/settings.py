"""Page: settings of a repository, with sharing, retention and the trash."""

from __future__ import annotations

from typing import Any

from django.conf import settings as django_settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from datasets import access, services
from datasets.models import Repository, Share, Visibility
from datasets.selectors import rules_of
from datasets.web.base import VISIBILITIES, RepositoryPage
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from portal.web.undo import Undo, offer_undo
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.web.base import action, page

MOST_NAMED = 20  # versions of a dry run


@page(None, ("GET", "HEAD", "POST"))
def settings(request: Any, kind: str, repository: str) -> HttpResponse:
    """Show and change the settings."""
    place = RepositoryPage(request, kind, repository)
    row = place.row
    if request.method == "POST":
        return _act(place)
    access.check_may_manage(request.actor, row)
    shares = list(
        Share.objects.filter(repository=row).select_related("team").order_by("team__slug")
    )
    shared = {share.team_id for share in shares} | {row.team_id}
    return render(
        request,
        "datasets/settings.html",
        place.context("settings", title=Message("Settings", context="heading"))
        | {
            "visibilities": [
                (value, VISIBILITIES[Visibility(value)]) for value in Visibility.values
            ],
            "shares": shares,
            "other_teams": Team.objects.exclude(id__in=shared).order_by("slug"),
            "may_hold": request.actor.may(P.DATASETS_ADMIN, row.team_id),
            "days": django_settings.MUSTER_TRASH_DAYS,
            "space": services.space_of(row, is_quick="space" not in request.GET),
            "may_default": request.actor.may(P.DATASETS_ADMIN),
            **_dry_run(request, row),
        },
    )


def _dry_run(request: Any, row: Repository) -> dict[str, Any]:
    """Return the rules of the form and, if some are in the URL, what they would delete."""
    asked = request.GET
    if "keep_last" not in asked:
        return {"rules": rules_of(row)._asdict(), "plan": None}
    rules = {name: number_of(asked.get(name, "")) for name in ("keep_last", "keep_days")}
    plan = services.plan(row, **rules)
    return {"rules": rules, "plan": plan, "named": plan.versions[:MOST_NAMED]}


def _act(place: RepositoryPage) -> HttpResponse:
    request, row, here = place.request, place.row, place.url("repository-settings")
    given, actor = request.POST, request.actor
    match given.get("do", ""):
        case "save":
            names = ("name", "description", "visibility", "default_branch")
            wanted = {name: given[name] for name in names if name in given}
            return _save(place, Message("The settings were saved."), **wanted)
        case "plan":
            rules = {name: given.get(name) or "0" for name in ("keep_last", "keep_days")}
            return redirect(place.url("repository-settings", rules) + "#retention")
        case "retention":
            rules = {name: number_of(given.get(name, "")) for name in ("keep_last", "keep_days")}
            return _save(place, Message("The retention was saved."), **rules)
        case "default":
            done = Message("The default retention of the organization is used.")
            return _save(place, done, own_retention=False)
        case "hold":
            reason = given.get("legal_hold", "")
            done = Message("The legal hold is set.") if reason else Message("The hold was lifted.")
            return _save(place, done, legal_hold=reason)
        case "discard":
            return action(
                request,
                here,
                Message("Unused files and uploads were deleted."),
                lambda: services.discard_unused(actor=actor, repository=row),
            )
        case "clean":
            return _clean(place)
        case "share":
            return action(
                request,
                here,
                Message("Shared with {team}.", team=given.get("team", "")),
                lambda: services.share_repository(
                    actor=actor,
                    repository=row,
                    team=_team(given.get("team", "")),
                    can_write=given.get("can_write") == "1",
                ),
            )
        case "unshare":
            return action(
                request,
                here,
                Message("No longer shared with {team}.", team=given.get("team", "")),
                lambda: services.unshare_repository(
                    actor=actor, repository=row, team=_team(given.get("team", ""))
                ),
                _undo_unshare(place),
            )
        case "delete":
            return _delete(place)
    raise InvalidInput(Message("The form names nothing that can be done here."))


def _clean(place: RepositoryPage) -> HttpResponse:
    """Delete what the rules of a dry run do not keep, once; the rules are not saved."""
    request, row = place.request, place.row
    rules = {name: number_of(request.POST.get(name, "")) for name in ("keep_last", "keep_days")}
    return action(
        request,
        place.url("repository-settings") + "#space",
        Message("The versions were deleted."),
        lambda: services.delete_versions(
            actor=request.actor, repository=row, versions=services.plan(row, **rules).versions
        ),
    )


def _save(place: RepositoryPage, done: str, **wanted: Any) -> HttpResponse:
    """Change fields and go to the settings page, which a new name moves."""
    request = place.request
    with FormErrors(request):
        place.row = services.update_repository(actor=request.actor, repository=place.row, **wanted)
        messages.success(request, done)
    return redirect(place.url("repository-settings"))


def _undo_unshare(place: RepositoryPage) -> Undo | None:
    slug = place.request.POST.get("team", "")
    share = Share.objects.filter(repository=place.row, team__slug=slug).first()
    if share is None:
        return None
    can_write = "1" if share.can_write else "0"
    return Undo(
        place.url("repository-settings"), {"do": "share", "team": slug, "can_write": can_write}
    )


def _delete(place: RepositoryPage) -> HttpResponse:
    request, row = place.request, place.row
    with FormErrors(request):
        services.delete_repository(actor=request.actor, repository=row)
        kwargs = {"org": request.org.slug, "kind": row.kind}
        offer_undo(
            request,
            Message("{name} was moved to the trash.", name=row.name),
            Undo(
                reverse("repository-trash", kwargs=kwargs),
                {"do": "restore", "repository": str(row.id)},
            ),
        )
        return redirect(f"{row.kind}s", org=request.org.slug)
    return redirect(place.url("repository-settings"))


def _team(slug: str) -> Team:
    row = Team.objects.filter(slug=slug).first()
    if row is None:
        raise InvalidInput.at("team", Message("choose one", context="error of a field"))
    return row


def number_of(text: str) -> int:
    """Return a number of a form; nothing is 0. Raises InvalidInput."""
    if text.strip() and not text.strip().isdecimal():
        raise InvalidInput.at("keep_last", Message("must be a number"))
    return int(text.strip() or 0)
