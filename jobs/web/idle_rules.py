"""Page: the rule for idle GPUs of a pool, and what it finds now."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from clusters.models import Pool
from clusters.pools import find_pool, pools_visible_to
from jobs.models import IdleRule
from jobs.utilization import idle_rules as service
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.tenancy.scope import platform_scope
from workspaces.web.base import action, page

_NUMBERS = ("threshold", "window", "grace", "watts")


@page(P.NODES_READ)
def idle_rule(request: Any, pool: str) -> HttpResponse:
    """Show the rule of a pool."""
    row = next((p for p in pools_visible_to(request.actor) if p.name == pool), None)
    if row is None:
        raise NotFound(Message("There is no pool {x} that you can see.", x=repr(pool[:80])))
    slug = request.org.slug
    crumbs = [
        (Message("Pools", context="navigation"), f"/{slug}/pools"),
        (Message(row.name), f"/{slug}/pools/{row.name}"),
    ]
    return _shown(request, row, crumbs)


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
@platform_scope("the rule of a pool is about the jobs of every organization")
def platform_idle_rule(request: Any, pool: str) -> HttpResponse:
    """Show the rule with its form, and the jobs of every organization that it finds idle now."""
    row = find_pool(pool)
    here = f"/platform/pools/{row.name}/idle-rule"
    if request.method == "POST":
        if request.POST.get("do") == "delete":
            return action(
                request,
                here,
                Message("The rule was deleted."),
                lambda: service.delete_idle_rule(actor=request.actor, pool=row),
            )
        return action(
            request,
            here,
            Message("The rule was saved."),
            lambda: service.set_idle_rule(actor=request.actor, pool=row, **_given(request)),
        )
    crumbs = [
        (Message("Clusters", context="navigation"), "/platform/clusters"),
        (Message(row.cluster.name), f"/platform/clusters/{row.cluster.name}?tab=pools"),
        (Message(row.name), here),
    ]
    return _shown(request, row, crumbs)


def _shown(request: Any, row: Pool, crumbs: list[tuple[Message, str]]) -> HttpResponse:
    rule = IdleRule.objects.filter(pool=row).first()
    is_platform = request.org is None
    return render(
        request,
        "jobs/idle_rule.html",
        {
            "page_title": Message("Idle GPUs", context="page title"),
            "crumbs": crumbs,
            "pool": row,
            "rule": rule,
            "shown": rule or service.new_rule(row),
            "may_write": is_platform and request.actor.may(P.CLUSTERS_WRITE),
            "found": service.would_stop(request.actor, row) if rule and is_platform else [],
            "metrics": [
                ("auto", Message("Best known: SM activity, power, utilization")),
                ("sm", Message("SM activity", context="text, jobs")),
                ("power", Message("Power", context="text, jobs, electricity")),
                ("utilization", Message("GPU utilization (any kernel)")),
                ("ports", Message("Requests to the job's ports only")),
            ],
            "actions": [
                ("warn", Message("Warn only", context="text, jobs")),
                ("lower", Message("Lower the priority")),
                ("stop", Message("Stop the job", context="text, jobs")),
            ],
        },
    )


def _given(request: Any) -> dict[str, Any]:
    form = request.POST
    return {
        **{name: form[name] for name in ("metric", "action", *_NUMBERS) if name in form},
        "exempt": form.get("exempt", "").replace(",", " ").split(),
        "is_enabled": "is_enabled" in form,
        "spares_exec": "spares_exec" in form,
        "spares_ports": "spares_ports" in form,
    }
