"""Page for operators: pending jobs of all clusters and organizations."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from clusters.models import Cluster
from jobs.scheduling import queue as queued
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page

FILTERS = ("cluster", "org", "team", "wait")


@page(P.CLUSTERS_READ)
def queue(request: Any) -> HttpResponse:
    """Show pending jobs by reason, by team and one by one, oldest first."""
    query = {name: request.GET.get(name, "") for name in (*FILTERS, "after")}
    kept = {name: query[name] for name in FILTERS if query[name]}
    rows, following = queued.queue_page(request.actor, query)
    why = queued.reasons(request.actor, query)
    return render(
        request,
        "jobs/queue.html",
        {
            "page_title": Message("Queue", context="page title"),
            "rows": rows,
            "asked": query,
            "kept": urlencode(kept),
            "is_filtered": bool(kept),
            "next_url": "?" + urlencode(kept | {"after": following}) if following else "",
            "is_first": not query["after"],
            "reasons": [
                r
                | {
                    "url": "?"
                    + urlencode(
                        {n: v for n, v in kept.items() if n != "wait"} | {"wait": r["code"]}
                    )
                }
                for r in why
            ],
            "without_wait": "?" + urlencode({n: v for n, v in kept.items() if n != "wait"}),
            "total": sum(r["n"] for r in why),
            "teams": queued.teams_waiting(request.actor, query) if not query["after"] else [],
            "clusters": list(Cluster.objects.order_by("name").values_list("name", flat=True)),
        },
    )
