"""Pages for operators: clusters, and connecting one."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from jobs.clusters import connecting, rows
from jobs.clusters.options import backend_kinds, options_of
from portal.core.errors import PortalError
from workspaces.permissions import Permission as P
from workspaces.web.doors import page


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def clusters(request: Any) -> HttpResponse:
    """All clusters, and the form to connect one: drawn from the options of the kind chosen."""
    kinds = {kind["name"]: kind for kind in backend_kinds()}
    chosen = kinds.get(request.POST.get("kind") or request.GET.get("kind", ""))
    shown: dict[str, Any] = {"page_title": "Clusters", "kinds": kinds.values(), "kind": chosen}
    if request.method == "POST" and chosen:
        try:
            if request.POST.get("do") == "connect":
                made = connecting.connect_cluster(actor=request.actor, name=request.POST.get("name", "").strip(), backend=chosen["name"],
                                                  options=_options(request, chosen["name"]))
                messages.success(request, f"{made.name} is connected. Its nodes appear in a few seconds.")
                return redirect(request.path)
            shown["probe"] = connecting.probe_options(actor=request.actor, backend=chosen["name"], options=_options(request, chosen["name"]))
        except PortalError as error:
            shown["error"] = error.message
        shown["name"] = request.POST.get("name", "")
    if chosen:
        shown["fields"] = [option | {"value": _typed(request, option)} for option in chosen["options"]]
    return render(request, "jobs/clusters.html", shown | {"clusters": rows.cluster_rows()})


def _options(request: Any, kind: str) -> dict[str, Any]:
    """What the form said; a switch that is not sent is off."""
    return {o.name: o.name in request.POST if o.kind == "switch" else request.POST.get(o.name, "") for o in options_of(kind)}


def _typed(request: Any, option: dict[str, Any]) -> Any:
    """What stood in the field, so that a fault costs no typing; a secret is typed again."""
    if option["kind"] == "secret":
        return ""
    if request.method != "POST":
        return option["default"]
    return option["name"] in request.POST if option["kind"] == "switch" else request.POST.get(option["name"], "")
