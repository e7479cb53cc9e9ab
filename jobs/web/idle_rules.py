"""Page: the rule for idle GPUs of a pool, and what it finds now."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from clusters.pools import pools_visible_to
from jobs.models import IdleRule
from jobs.utilization import idle_rules as service
from portal.core.errors import NotFound
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page

_NUMBERS = ("threshold", "window", "grace", "watts")


@page(P.NODES_READ, ("GET", "HEAD", "POST"))
def idle_rule(request: Any, pool: str) -> HttpResponse:
    """Show the rule; for operators with a form, and the jobs that it finds idle now."""
    row = next((p for p in pools_visible_to(request.actor) if p.name == pool), None)
    if row is None:
        raise NotFound(Message("There is no pool {x} that you can see.", x=repr(pool[:80])))
    here = f"/{request.org.slug}/pools/{row.name}/idle-rule"
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
    rule = IdleRule.objects.filter(pool=row).first()
    may_write = request.actor.may(P.CLUSTERS_WRITE)
    return render(
        request,
        "jobs/idle_rule.html",
        {
            "page_title": Message("Idle GPUs"),
            "crumbs": [
                (Message("Pools"), f"/{request.org.slug}/pools"),
                (row.name, f"/{request.org.slug}/pools/{row.name}"),
            ],
            "pool": row,
            "rule": rule,
            "shown": rule or service.new_rule(row),
            "may_write": may_write,
            "found": service.would_stop(request.actor, row)
            if rule and request.actor.may(P.CLUSTERS_READ)
            else [],
            "metrics": [
                ("auto", Message("Best known: SM activity, power, utilization")),
                ("sm", Message("SM activity")),
                ("power", Message("Power")),
                ("utilization", Message("GPU utilization (any kernel)")),
                ("ports", Message("Requests to the job's ports only")),
            ],
            "actions": [
                ("warn", Message("Warn only")),
                ("lower", Message("Lower the priority")),
                ("stop", Message("Stop the job")),
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
