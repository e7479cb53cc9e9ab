"""Pages of requests of every kind: the open and the last decided ones, and one with its history."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render

from portal.core.messages import Message
from workspaces.approvals import selectors
from workspaces.approvals.kinds import STEPS, kind_named
from workspaces.approvals.services import comment, decide_request
from workspaces.web.base import action, local_path, page

TITLE = Message("Requests", context="text, workspaces")


@page(None)
def approvals(request: Any) -> HttpResponse:
    """List the requests that the actor made or may decide: open ones, and those decided last."""
    actor = request.actor
    return render(
        request,
        "approvals/approvals.html",
        {
            "page_title": TITLE,
            "cards": selectors.cards_of(actor, selectors.open_requests(actor)),
            "decided": selectors.cards_of(actor, selectors.decided_requests(actor)),
        },
    )


@page(None, ("GET", "HEAD", "POST"))
def approval(request: Any, approval_kind: str, ask: UUID) -> HttpResponse:
    """Show a request with its history; decide and comment. Some kinds have a page of their own."""
    found = kind_named(approval_kind)
    row = selectors.find_request(request.actor, found, ask)
    if request.method == "POST":
        return _act(request, found, row)
    if (page_path := found.page_path(row)) != request.path:
        return redirect(page_path)
    [card] = selectors.cards_of(request.actor, [(found, row)])
    return render(
        request,
        "approvals/approval.html",
        {
            "page_title": card["text"],
            "crumbs": [(TITLE, f"/{request.org.slug}/approvals")],
            "card": card,
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
