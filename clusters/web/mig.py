"""Pages of MIG plans for operators: a wish, the plan before and after, its progress."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters.api.mig import act
from clusters.mig.representations import (
    METHODS,
    MOST_NODES,
    Method,
    node_rows,
    settings_rows,
    title_of,
)
from clusters.models import MigPlan
from clusters.services import mig_plans as service
from clusters.services.connections import find_cluster
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from schedulers import mig
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page

_COUNT = "n."  # begins the name of a field with the number of a profile
ACTIONS = ("apply", "stop", "undo", "discard", "confirm")
_DONE = {
    "apply": Message("The plan is being applied."),
    "stop": Message("Stopped. Nodes that are being changed are finished."),
    "confirm": Message("Confirmed.", context="text, clusters"),
    "discard": Message("Draft discarded."),
    "undo": Message("This is the way back. Nothing has changed yet."),
    "settings": Message("Settings saved."),
}


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def mig_plans(request: Any) -> HttpResponse:
    """List plans and clusters with MIG; draft a plan."""
    if request.method == "POST":
        with FormErrors(request):
            return redirect(f"/platform/mig/{_draft(request).id}")
    clusters = settings_rows()
    return render(
        request,
        "clusters/mig_plans.html",
        {
            "page_title": Message("GPU partitioning", context="page title"),
            "plans": [(plan, title_of(plan)) for plan in service.plans()],
            "clusters": clusters,
            "counts": _counts(clusters, request.POST or request.GET),
            "typed": request.POST or request.GET,
            "may_write": request.actor.may(P.CLUSTERS_WRITE),
        },
    )


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def mig_plan(request: Any, plan: UUID) -> HttpResponse:
    """Show one plan; apply, stop, undo, discard, confirm, or change how the cluster allows it."""
    row = service.find_plan(plan)
    if request.method == "POST":
        return _act(request, row)
    settings = service.settings_of(row.cluster)
    is_draft = row.state == MigPlan.State.DRAFT
    method = Method(row.method or settings.method)
    nodes = node_rows(row, request.actor)
    return render(
        request,
        "clusters/mig_plan.html",
        {
            "page_title": title_of(row),
            "crumbs": [(Message("GPU partitioning", context="navigation"), "/platform/mig")],
            "plan": row,
            "title": title_of(row),
            "is_draft": is_draft,
            "is_active": row.state == MigPlan.State.APPLYING,
            "may_undo": row.state in (MigPlan.State.DONE, MigPlan.State.FAILED),
            "nodes": nodes,
            "more": max(row.nodes.count() - MOST_NODES, 0),
            "gpus": sum(len(node["gpus"]) for node in nodes),
            "jobs": sum(len(node["jobs"]) for node in nodes),
            "obstacles": service.obstacles(row) if is_draft else [],
            "instances": [name for name in row.wish if name != mig.FULL],
            "settings": settings,
            "waits": {
                "drain": settings.drain_minutes * 60,
                "change": settings.change_minutes * 60,
            },
            "method": METHODS[method],
            "methods": [(m, *METHODS[Method(m)]) for m in service.methods_of(row.cluster)],
            "has_files": service.has_gpu_files(row.cluster),
            "files": service.files_of(row),
            "configs": service.configs_of(row) if method == Method.LABEL else {},
            "may_write": request.actor.may(P.CLUSTERS_WRITE),
        },
    )


def _act(request: Any, row: MigPlan) -> HttpResponse:
    form, do = request.POST, request.POST.get("do", "")
    here = {"to": request.path}

    def run() -> None:
        if do == "settings":
            names = ("nodes_at_once", "drain_minutes", "change_minutes")
            given = {name: _number(form.get(name, ""), name) for name in names}
            service.change_settings(
                actor=request.actor,
                cluster=row.cluster,
                method=form.get("method", ""),
                may_reconfigure="may_reconfigure" in form,
                **given,
            )
            return
        if do not in ACTIONS:
            raise InvalidInput.at("do", f"must be one of {', '.join(ACTIONS)}")
        found = act(request.actor, row.id, do, form.get("node", ""))
        here["to"] = f"/platform/mig/{found.id}" if found else "/platform/mig"

    answer = action(request, request.path, _DONE.get(do, Message("Saved.", context="message")), run)
    return redirect(here["to"]) if here["to"] != request.path else answer


def _draft(request: Any) -> MigPlan:
    form = request.POST
    return service.draft_plan(
        actor=request.actor,
        cluster=find_cluster(form.get("cluster", "")),
        wish=_wish(form),
        nodes=form.get("nodes", "").replace(",", " ").split(),
    )


def _wish(form: Any) -> dict[str, int]:
    """Return the numbers of the form, which has a field for each profile. Raises InvalidInput."""
    numbers = {
        name.removeprefix(_COUNT): _number(text, name)
        for name, text in form.items()
        if name.startswith(_COUNT) and text.strip()
    }
    if wish := {profile: n for profile, n in numbers.items() if n}:
        return wish
    raise InvalidInput.at(_COUNT + mig.FULL, Message("Say how many of at least one profile."))


def _counts(clusters: list[dict[str, Any]], typed: Any) -> list[dict[str, Any]]:
    """Return the fields of a wish: each profile with what there is now, and the number asked for.

    A link has the wish in words, such as "14 x 1g.10gb".
    """
    wish: dict[str, int] = {}
    with suppress(InvalidInput):
        wish = service.parse_wish(typed.get("wish", ""))
    now = Counter[str]()
    for row in clusters:
        now.update(dict(row["instances"]))
        now[mig.FULL] += row["gpus"] - row["partitioned"]
    return [
        {
            "name": _COUNT + profile,
            "profile": "" if profile == mig.FULL else profile,
            "now": now[profile],
            "asked": typed.get(_COUNT + profile, wish.get(profile, "")),
        }
        for profile in (*_profiles(clusters), mig.FULL)
    ]


def _profiles(clusters: list[dict[str, Any]]) -> list[str]:
    """Return the profiles that GPUs of these clusters can have, largest first."""
    found: dict[str, int] = {}
    for row in clusters:
        for name in row["models"]:
            for profile in mig.MODELS[name].profiles:
                found.setdefault(profile.name, profile.size)
    return sorted(found, key=lambda name: (-found[name], name))


def _number(text: str, field: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidInput.at(field, "must be a whole number")
    return int(text)
