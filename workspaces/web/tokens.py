"""Pages: the user's own tokens. A new token is shown once, in that response."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.access.permissions import all_permissions, texts
from workspaces.credentials import tokens as tokens_services
from workspaces.credentials.agent_clusters import cluster_names
from workspaces.credentials.token_presets import token_presets
from workspaces.credentials.tokens import TokenParams
from workspaces.lists import TOKENS
from workspaces.models import Team
from workspaces.organizations import selectors
from workspaces.web.base import action, page
from workspaces.web.one_time_forms import is_resubmitted, release_on_failure

POST = ("POST",)


@page(TOKENS.permission, ("GET", "HEAD", "POST"))
def tokens(request: Any) -> HttpResponse:
    """List and create tokens."""
    made = None
    if request.method == "POST":
        if is_resubmitted(request):
            return redirect(request.path)
        with FormErrors(request), release_on_failure(request):
            params = params_in(request)
            new = tokens_services.create_token(
                actor=request.actor,
                org=request.org,
                name=params.name,
                scopes=params.scopes,
                team=params.team,
                days=params.days,
                networks=params.networks,
                cluster=params.cluster,
            )
            made = selectors.token_row(new.row) | {
                "token": new.secret,
                "is_of_ci": request.POST.get("preset") == "ci",
            }
    return _shown(request, made)


@page(None, POST)
def revoke_token(request: Any, token: UUID) -> HttpResponse:
    """Revoke a token."""
    return action(
        request,
        back_from(request),
        Message("The token no longer works."),
        lambda: tokens_services.revoke_token(actor=request.actor, token_id=token),
    )


@page(None, POST)
def rotate_token(request: Any, token: UUID) -> HttpResponse:
    """Rotate a token; the old one keeps working for a while."""
    with FormErrors(request):
        made = tokens_services.rotate_token(
            actor=request.actor, token_id=token, overlap_hours=whole(request, "overlap_hours", "24")
        )
        return _shown(
            request, selectors.token_row(made.row) | {"token": made.secret, "is_successor": True}
        )
    return redirect(back_from(request))


def _shown(request: Any, made: dict[str, Any] | None) -> HttpResponse:
    return TOKENS.render(
        request,
        "workspaces/tokens.html",
        {
            "page_title": Message("Tokens", context="page title"),
            "made": made,
            "teams": selectors.teams_for(request.actor),
            **new_token_context(request),
        },
    )


def new_token_context(request: Any, usual: str = "personal") -> dict[str, Any]:
    """Return the context of the form for a new token: its purposes in words, and all scopes."""
    clusters = cluster_names() if request.actor.may(P.AGENT_WRITE) else []
    return {
        "presets": [
            {
                "name": preset.name,
                "title": preset.title,
                "about": preset.about,
                "sets": {"scopes": [str(scope) for scope in preset.scopes]},
            }
            for preset in token_presets()
            if clusters or not preset.is_operators
        ],
        "usual": usual,
        "permissions": [
            {"permission": str(p), "words": texts().get(p, str(p))} for p in all_permissions()
        ],
        "clusters": clusters,
    }


def params_in(request: HttpRequest) -> TokenParams:
    """Parse the form for a new token. Raises InvalidInput."""
    slug = request.POST.get("team", "")
    team = Team.objects.filter(slug=slug).first() if slug else None
    if slug and team is None:
        raise InvalidInput.at("team", Message("there is no team {name} here", name=repr(slug[:40])))
    cluster = request.POST.get("cluster", "")
    scopes = request.POST.getlist("scopes")
    usual = "" if scopes else "agent" if cluster else "personal"
    purpose = request.POST.get("preset", usual)
    return TokenParams(
        request.POST.get("name", ""),
        [purpose] if purpose else scopes,
        team,
        whole(request, "days", "90") or None,
        [part for part in re.split(r"[\s,;]+", request.POST.get("networks", "")) if part],
        cluster,
    )


def whole(request: HttpRequest, name: str, default: str) -> int:
    """Parse an integer of a form. Raises InvalidInput."""
    text = request.POST.get(name, default)
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise InvalidInput.at(name, Message("must be a whole number"))
    return int(text)


def back_from(request: Any) -> str:
    """Return the page the form was on: of a service account, else of the tokens."""
    account = request.POST.get("account", "")
    return (
        f"/{request.org.slug}/service-accounts/{account}"
        if re.fullmatch(r"[a-z0-9-]{1,40}", account)
        else f"/{request.org.slug}/tokens"
    )
