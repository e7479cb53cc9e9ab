"""Pages of requests of every kind: those that are open, and one with its history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render

from portal.core.messages import Message
from workspaces.approvals import selectors
from workspaces.approvals.kinds import STEPS, kind_named
from workspaces.approvals.services import comment, decide_request
from workspaces.web.base import action, local_path, page

TEMPLATE, TITLE = "approvals/approvals.html", Message("Requests", context="text, workspaces")


@page(None)
def approvals(request: Any) -> HttpResponse:
    """List the open requests that the actor made or may decide."""
    found = selectors.open_requests(request.actor)
    cards = [selectors.card_of(request.actor, kind, row) for kind, row in found]
    return render(request, TEMPLATE, {"page_title": TITLE, "cards": cards})


@page(None, ("GET", "HEAD", "POST"))
def approval(request: Any, approval_kind: str, ask: UUID) -> HttpResponse:
    """Show a request with its history; decide and comment."""
    found = kind_named(approval_kind)
    row = selectors.find_request(request.actor, found, ask)
    if request.method == "POST":
        return _act(request, found, row)
    return render(
        request,
        TEMPLATE,
        {
            "page_title": found.title,
            "crumbs": [(TITLE, f"/{request.org.slug}/approvals")],
            "cards": [selectors.card_of(request.actor, found, row)],
            **selectors.history_context(found, row),
        },
    )


def _act(request: Any, kind: Any, row: Any) -> HttpResponse:
    do, word = request.POST.get("do", ""), request.POST.get("word", "")

    def act() -> None:
        if do == "comment":
            comment(actor=request.actor, kind=kind, row=row, text=word)
        else:
            decide_request(actor=request.actor, kind=kind, request_id=row.id, do=do, word=word)

    done = STEPS[do].text if do in STEPS else Message("Comment added.")
    return action(request, local_path(request.POST.get("back", ""), request.path), done, act)
