"""Pages for operators: list, connect and edit clusters.

A cluster that does not respond is stored only if the operator confirms it.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters.backend_options import backend_kinds, options_of
from clusters.lists import CLUSTERS
from clusters.services import connections
from clusters.web.options import fields, submitted_values, test_and_store
from clusters.workload import workload
from portal.core.messages import Message
from portal.web.options import wizard_steps
from schedulers import title_of
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page


@page(CLUSTERS.permission)
def clusters(request: Any) -> HttpResponse:
    """List all clusters."""
    return CLUSTERS.render(
        request, "clusters/list.html", {"page_title": Message("Clusters", context="page title")}
    )


@page(P.CLUSTERS_WRITE, ("GET", "HEAD", "POST"))
def connect_cluster(request: Any) -> HttpResponse:
    """Connect a cluster in steps: its kind, how to reach it, defaults of its jobs, a test."""
    kinds = {kind["name"]: kind for kind in backend_kinds()}
    chosen = kinds.get(request.POST.get("kind") or request.GET.get("kind", ""))
    shown: dict[str, Any] = {
        "page_title": Message("Connect a cluster"),
        "crumbs": [(Message("Clusters", context="navigation"), "/platform/clusters")],
        "kinds": kinds.values(),
        "kind": chosen,
        "name": request.POST.get("name", ""),
    }
    if chosen:
        kind, name = chosen["name"], request.POST.get("name", "").strip()
        options, way = submitted_values(request, kind), request.POST.get("way", "")
        made, answer = test_and_store(
            request,
            lambda: connections.probe_options(
                actor=request.actor, backend=kind, options=options, way=way, name=name
            ),
            lambda: connections.connect_cluster(
                actor=request.actor, name=name, backend=kind, options=options, way=way
            ),
        )
        if made:
            messages.success(
                request,
                Message("{name} is connected.", name=made.name),
            )
            return redirect(f"/platform/clusters/{made.name}")
        shown |= fields(request, kind, answer)
        shown["wizard"] = wizard_steps(shown["steps"])
    return render(request, "clusters/connect.html", shown)


@page(P.CLUSTERS_WRITE, ("GET", "HEAD", "POST"))
def edit_cluster(request: Any, cluster: str) -> HttpResponse:
    """Edit the options; an empty secret stays, one ticked for removal is removed."""
    row = connections.find_cluster(cluster)
    here, options = (
        f"/platform/clusters/{row.name}",
        submitted_values(request, row.backend, row),
    )
    way = request.POST.get("way", "")
    made, answer = test_and_store(
        request,
        lambda: connections.probe_options(
            actor=request.actor, backend=row.backend, options=options, cluster=row, way=way
        ),
        lambda: connections.change_cluster(
            actor=request.actor, cluster=row, options=options, way=way
        ),
    )
    if made:
        messages.success(request, Message("{name} was updated.", name=row.name))
        return redirect(here)
    return render(
        request,
        "clusters/edit.html",
        fields(request, row.backend, answer, row)
        | {
            "page_title": Message("Edit", context="page title"),
            "crumbs": [
                (Message("Clusters", context="navigation"), "/platform/clusters"),
                (row.name, here),
            ],
            "cluster": row,
            "has_options": bool(options_of(row.backend)),
            "back": here,
            "title": title_of(row.backend),
            "live": workload().active_jobs_on(request.actor, row),
        },
    )
