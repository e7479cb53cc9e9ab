"""Page: the rules of the organization for datasets, or checkpoints, without rules of their own."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from datasets import services
from datasets.models import Repository, RepositoryKind
from datasets.selectors import default_rules
from datasets.web.base import PLURALS
from datasets.web.settings import number_of
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page

_RULES = ("keep_last", "keep_days")
WITH_OWN_RULES = Q(own_retention=True) | Q(keep_last__gt=0) | Q(keep_days__gt=0)


@page(P.DATASETS_ADMIN, ("GET", "HEAD", "POST"))
def retention(request: Any, kind: str) -> HttpResponse:
    """Show the rules, and what others would delete; save them."""
    if request.method == "POST":
        return _act(request, kind)
    listed = reverse(f"{kind}s", args=[request.org.slug])
    rules = default_rules(request.org.id, kind)._asdict()
    plan = None
    if "keep_last" in request.GET:
        rules = {name: number_of(request.GET.get(name, "")) for name in _RULES}
        plan = services.plan_default(actor=request.actor, kind=kind, **rules)
    return render(
        request,
        "datasets/retention.html",
        {
            "page_title": Message("Default retention", context="page title"),
            "crumbs": [(PLURALS[RepositoryKind(kind)], listed)],
            "kind": kind,
            "rules": rules,
            "plan": plan,
            "own": Repository.objects.filter(WITH_OWN_RULES, kind=kind, deleted_at=None).count(),
        },
    )


def _act(request: Any, kind: str) -> HttpResponse:
    given = request.POST
    match given.get("do", ""):
        case "plan":
            asked = urlencode({name: given.get(name, "") or "0" for name in _RULES})
            return redirect(f"{request.path}?{asked}")
        case "save":
            rules = {name: number_of(given.get(name, "")) for name in _RULES}
            return action(
                request,
                request.path,
                Message("The default retention was saved."),
                lambda: services.change_default(
                    actor=request.actor, org_id=request.org.id, kind=kind, **rules
                ),
            )
    raise InvalidInput(Message("The form names nothing that can be done here."))
