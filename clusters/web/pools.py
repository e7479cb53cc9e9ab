"""Pages of pools: where teams can run and what is free; create, change and grant for operators."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters import capacity, representations
from clusters.lists import PLACES
from clusters.models import Cluster, Pool
from clusters.node_capacity import node_usage_of
from clusters.pools import grants_elsewhere, identities_of, pools_visible_to, teams_of
from clusters.services import connections
from clusters.services import pools as service
from clusters.services.pool_requests import requests_in
from clusters.status import status_of
from clusters.workload import PENDING, RUNNING, workload
from portal.core.errors import InvalidInput, NotFound
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from schedulers import backends, capabilities_of
from schedulers.contract import Capability, Identity
from workspaces.access.permissions import Permission as P
from workspaces.models import Team
from workspaces.organizations import selectors as people
from workspaces.web.base import action, page

SHOWN = 50
_IDENTITY = ("user", "account", "qos")


@page(PLACES.permission, ("GET", "HEAD", "POST"))
def pools(request: Any) -> HttpResponse:
    """List where the organization's teams can run; create a pool."""
    if request.method == "POST":
        with FormErrors(request):
            made = _make(request)
            messages.success(
                request,
                Message(
                    "{name} was created. Grant it to a team, or open it to all teams.",
                    name=made.name,
                ),
            )
            return redirect(f"/{request.org.slug}/pools/{made.name}")
    may_write = request.actor.may(P.CLUSTERS_WRITE)
    return PLACES.render(
        request,
        "clusters/pools.html",
        {
            "page_title": Message("Pools", context="page title"),
            "may_write": may_write,
            "clusters": list(Cluster.objects.order_by("name")) if may_write else [],
            "typed": request.POST or request.GET,
            "ACTIVE": f"{RUNNING},{PENDING}",
        },
    )


@page(P.NODES_READ, ("GET", "HEAD", "POST"))
def pool(request: Any, pool: str) -> HttpResponse:
    """Show one pool."""
    row = next((p for p in pools_visible_to(request.actor) if p.name == pool), None)
    if row is None:
        raise NotFound(Message("There is no pool {x} that you can see.", x=repr(pool[:80])))
    if request.method == "POST":
        with FormErrors(request):
            return _act(request, row)
    return render(request, "clusters/pool.html", _shown(request, row))


def _shown(request: Any, row: Pool) -> dict[str, Any]:
    machines = node_usage_of(row.cluster)
    inside = sorted(capacity.inside_of(row, machines), key=lambda m: capacity.natural(m.node.name))
    actor, teams = request.actor, teams_of([row])[row.id]
    given = identities_of([row])[row.id] if actor.may(P.CLUSTERS_READ) else {}
    names = dict(Team.objects.filter(slug__in=teams).values_list("slug", "name"))
    return {
        "page_title": row.name,
        "crumbs": [(Message("Pools", context="navigation"), f"/{request.org.slug}/pools")],
        "pool": row,
        "requests": requests_in(actor, row),
        "stock": capacity.capacity_of(inside),
        "standing": status_of(row.cluster),
        "nodes": representations.machine_page(inside, {}, SHOWN)[0],
        "granted": [(slug, names.get(slug, slug), given.get(slug, {})) for slug in teams],
        "all_teams": people.teams_for(actor),
        "may_write": actor.may(P.CLUSTERS_WRITE),
        "may_read": actor.may(P.CLUSTERS_READ),
        "RUNS": RUNNING,
        "WAITS": PENDING,
        "elsewhere": grants_elsewhere(actor, row) if actor.may(P.CLUSTERS_READ) else [],
        "load": workload().load_of(actor, row.cluster, row)
        if actor.may(P.CLUSTERS_READ)
        else workload().load_in(actor, request.org, row),
        "partitions": list(capacity.by_partition(machines)),
        "types": list(capacity.capacity_of(machines).gpus),
        "has_identities": _has_identities(row.cluster),
        "is_last": not row.is_open and row.cluster.is_enabled and row.cluster.pools.count() == 1,
    }


def _has_identities(cluster: Cluster) -> bool:
    return cluster.backend in backends() and Capability.IDENTITIES in capabilities_of(
        cluster.backend
    )


def _make(request: Any) -> Pool:
    name, cluster = request.POST.get("name", "").strip(), request.POST.get("cluster", "")
    return service.create_pool(
        actor=request.actor, cluster=connections.find_cluster(cluster), name=name, **_rule(request)
    )


def _rule(request: Any) -> dict[str, Any]:
    """Return the rule of the form; labels are words: rack=3 fabric=ib. Raises InvalidInput."""
    labels = {}
    for word in request.POST.get("labels", "").split():
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise InvalidInput.at("labels", f"{word[:60]!r} must be name=value")
        labels[name] = value
    return {
        "labels": labels,
        "is_open": "is_open" in request.POST,
        **{name: request.POST.get(name, "") for name in ("partition", "gpu_type", "note")},
    }


def _act(request: Any, row: Pool) -> HttpResponse:
    """Change, delete, grant or revoke. Raises PortalError."""
    here, actor, what = (
        f"/{request.org.slug}/pools/{row.name}",
        request.actor,
        request.POST.get("do", ""),
    )
    if what == "change":
        rule = _rule(request)
        service.change_pool(actor=actor, pool=row, **rule)
        messages.success(request, Message("{name} was updated.", name=row.name))
        return redirect(here)
    if what == "delete":
        service.delete_pool(actor=actor, pool=row)
        messages.success(
            request,
            Message("{name} was deleted. Jobs running on its nodes continue.", name=row.name),
        )
        return redirect(f"/{request.org.slug}/pools")
    team = Team.objects.filter(slug=request.POST.get("team", "")).first()
    if team is None:
        raise InvalidInput.at("team", "choose one")
    if what == "revoke":
        return action(
            request,
            here,
            Message(
                "{slug} can no longer use {name}. Running jobs continue.",
                slug=team.slug,
                name=row.name,
            ),
            lambda: service.revoke_pool(actor=actor, pool=row, team=team),
        )
    given = (
        Identity(**{name: request.POST.get(name, "").strip() for name in _IDENTITY})
        if _has_identities(row.cluster)
        else None
    )
    service.grant_pool(actor=actor, pool=row, team=team, identity=given)
    messages.success(request, Message("{slug} can now use {name}.", slug=team.slug, name=row.name))
    return redirect(here)
