"""Pages of requests for GPUs: a team asks, an operator sees the effect and decides."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters.capacity import natural
from clusters.free_capacity import FreeGpus, free_by_model
from clusters.models import Cluster, PoolRequest
from clusters.node_capacity import node_usage_in
from clusters.services import pool_requests as service
from clusters.workload import effects_of
from portal.core import clock
from portal.core.errors import InvalidInput
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.approvals.selectors import find_request, history_context
from workspaces.models import Team
from workspaces.tenancy.scope import org_scope, platform_scope
from workspaces.web.base import action, page

SHOWN_NODES = 40
_OF_TEAM = ("withdraw", "renew", "return")  # steps that are not of operators
DONE = {
    "approve": Message("Approved. The team can use the pool."),
    "decline": Message("Request declined."),
    "withdraw": Message("Request withdrawn."),
    "return": Message("Returned. Running jobs continue; new jobs can't use the pool."),
}


@page(P.NODES_READ, ("GET", "HEAD", "POST"))
def pool_requests(request: Any) -> HttpResponse:
    """List requests; ask for GPUs."""
    if request.method == "POST":
        with FormErrors(request):
            made = _ask(request)
            messages.success(request, Message("Request sent. You'll see the answer here."))
            return redirect(f"/{request.org.slug}/pool-requests/{made.id}")
    rows = service.requests_for(request.actor)
    teams = [t for t in Team.objects.order_by("name") if request.actor.may(P.JOBS_SUBMIT, t.id)]
    return render(
        request,
        "clusters/pool_requests.html",
        {
            "page_title": Message("GPU requests", context="page title"),
            "crumbs": [(Message("Pools", context="navigation"), f"/{request.org.slug}/pools")],
            "current": [row for row in rows if row.state in ("open", "approved")],
            "past": [row for row in rows if row.state not in ("open", "approved")],
            "teams": teams,
            "offers": _offers(),
            "typed": request.POST or request.GET,
            "today": clock.now().date().isoformat(),
            "later": (clock.now() + timedelta(days=14)).date().isoformat(),
        },
    )


@page(P.CLUSTERS_READ)
def platform_pool_requests(request: Any) -> HttpResponse:
    """List the open requests of every organization."""
    return render(
        request,
        "clusters/platform_pool_requests.html",
        {
            "page_title": Message("GPU requests", context="page title"),
            "rows": service.open_requests(request.actor),
            "free": free_gpus(),
        },
    )


@page(P.NODES_READ, ("GET", "HEAD", "POST"))
def pool_request(request: Any, ask: UUID) -> HttpResponse:
    """Show one request to the team; withdraw, renew or return. Operators decide in Platform."""
    row = find_request(request.actor, service.KIND, ask)
    if request.method == "POST":
        if request.POST.get("do") not in _OF_TEAM:
            raise InvalidInput.at(
                "do",
                Message(
                    "must be one of {names}", context="error of a field", names=", ".join(_OF_TEAM)
                ),
            )
        return _act(request, row)
    slug = request.org.slug
    crumbs = [
        (Message("Pools", context="navigation"), f"/{slug}/pools"),
        (Message("GPU requests", context="navigation"), f"/{slug}/pool-requests"),
    ]
    return _shown(request, row, crumbs, may_decide=False)


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def platform_pool_request(request: Any, ask: UUID) -> HttpResponse:
    """Show one request of any organization with its effect; decide."""
    with platform_scope("operators decide the requests of every organization"):
        row = find_request(request.actor, service.KIND, ask)
    with org_scope(row.org_id):
        if request.method == "POST":
            return _act(request, row)
        crumbs = [(Message("GPU requests", context="navigation"), "/platform/pool-requests")]
        return _shown(request, row, crumbs, may_decide=request.actor.may(P.CLUSTERS_WRITE))


def _shown(
    request: Any, row: PoolRequest, crumbs: list[tuple[Message, str]], *, may_decide: bool
) -> HttpResponse:
    actor = request.actor
    changed = _changed(request) if may_decide else {}
    kept = row.reservation.nodes if row.reservation else {}
    nodes = sorted(kept, key=natural)
    return render(
        request,
        "clusters/pool_request.html",
        {
            "page_title": f"{row.gpus:,} × {gpu_text(row.gpu_type)}",
            "crumbs": crumbs,
            "place": f"/{row.org.slug}",
            "row": row,
            **history_context(service.KIND, row),
            "may_decide": may_decide,
            "is_asker": row.asker_id == actor.user_id,
            "may_ask": request.org is not None and actor.may(P.JOBS_SUBMIT, row.team_id),
            "effects": effects_of(actor, row, **changed)
            if may_decide and row.state == "open"
            else [],
            "asked": {"gpus": row.gpus, "ends_at": row.ends_at, **changed},
            "is_changed": bool(changed),
            "hours": round((row.ends_at - row.starts_at).total_seconds() / 3600 * row.gpus),
            "today": clock.now().date().isoformat(),
            "kept_nodes": nodes[:SHOWN_NODES],
            "kept_gpus": sum(kept.values()),
            "kept_more": max(len(nodes) - SHOWN_NODES, 0),
        },
    )


def _changed(request: Any) -> dict[str, Any]:
    """Return what an operator would approve instead of the request; invalid values are ignored."""
    found: dict[str, Any] = {}
    with suppress(InvalidInput):
        if gpus := _number(request.GET.get("gpus", ""), "gpus"):
            found["gpus"] = min(gpus, service.MOST_GPUS)
    with suppress(InvalidInput):
        found["ends_at"] = _day(request.GET.get("ends_at", ""), "ends_at", is_end=True)
    return found


def _act(request: Any, row: PoolRequest) -> HttpResponse:
    form, here = request.POST, request.path
    do = form.get("do", "")

    def act() -> None:
        if do == "renew":
            service.request_pool(
                actor=request.actor,
                org=request.org,
                team=row.team,
                gpu_type=row.gpu_type,
                gpus=row.gpus,
                starts_at=row.ends_at,
                ends_at=_day(form.get("ends_at", ""), "ends_at", is_end=True),
                purpose=row.purpose,
                budget=row.budget,
                renews=row,
            )
            return
        given: dict[str, Any] = {"word": form.get("word", "")}
        if do == "approve":
            given |= {"pool": form.get("pool", ""), "gpus": _number(form.get("gpus", ""), "gpus")}
            if form.get("ends_at"):
                given["ends_at"] = _day(form["ends_at"], "ends_at", is_end=True)
        service.decide(actor=request.actor, request_id=row.id, do=do, **given)

    done = DONE.get(do, Message("Request sent. You'll see the answer here."))
    return action(request, here, done, act)


def _ask(request: Any) -> PoolRequest:
    form = request.POST
    team = Team.objects.filter(slug=form.get("team", "")).first()
    if team is None:
        raise InvalidInput.at("team", "choose one")
    start = form.get("starts_at", "")
    return service.request_pool(
        actor=request.actor,
        org=request.org,
        team=team,
        gpu_type=form.get("gpu_type", ""),
        gpus=_number(form.get("gpus", ""), "gpus") or 0,
        starts_at=_day(start, "starts_at") if start else None,
        ends_at=_day(form.get("ends_at", ""), "ends_at", is_end=True),
        purpose=form.get("purpose", ""),
        budget=_number(form.get("budget", ""), "budget"),
    )


def free_gpus() -> dict[str, FreeGpus]:
    """Return the GPUs of all enabled clusters by model."""
    machines = node_usage_in(list(Cluster.objects.filter(is_enabled=True)))
    return free_by_model(machine for some in machines.values() for machine in some)


def _offers() -> list[tuple[str, FreeGpus | None]]:
    """Return what may be asked for, with the GPUs there are; None for what must be made first."""
    here = free_gpus()
    return [(kind, here.get(kind)) for kind in service.suggested_types()]


def _number(text: str, field: str) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isascii() or not text.strip().isdigit() or len(text) > 9:
        raise InvalidInput.at(field, "must be a whole number")
    return int(text)


def _day(text: str, field: str, *, is_end: bool = False) -> datetime:
    """Return the start of a day, or its end, in UTC. Raises InvalidInput."""
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput.at(field, "must be a date such as 2027-01-31") from error
    return datetime.combine(day, time(23, 59, 59) if is_end else time(), UTC)
