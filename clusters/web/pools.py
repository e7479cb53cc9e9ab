"""Pages of pools: where teams can run and what is free; operators change and grant them in Platform."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from clusters import capacity, representations
from clusters.lists import PLACES
from clusters.models import Cluster, Pool, PoolGrant
from clusters.node_capacity import node_usage_of
from clusters.pools import pools_visible_to, teams_of
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
from workspaces.tenancy.scope import org_scope, platform_scope
from workspaces.web.base import page

SHOWN = 50
_IDENTITY = ("user", "account", "qos")


@page(PLACES.permission)
def pools(request: Any) -> HttpResponse:
    """List where the organization's teams can run."""
    return PLACES.render(
        request,
        "clusters/pools.html",
        {
            "page_title": Message("Pools", context="page title"),
            "may_write": request.actor.may(P.CLUSTERS_WRITE),
            "ACTIVE": f"{RUNNING},{PENDING}",
        },
    )


@page(P.NODES_READ)
def pool(request: Any, pool: str) -> HttpResponse:
    """Show one pool to the organization."""
    row, actor = _find(request, pool), request.actor
    teams = teams_of([row])[row.id]
    names = dict(Team.objects.filter(slug__in=teams).values_list("slug", "name"))
    shown = {
        "crumbs": [(Message("Pools", context="navigation"), f"/{request.org.slug}/pools")],
        "requests": requests_in(actor, row),
        "teams": [(names.get(slug, slug), f"/{request.org.slug}/teams/{slug}") for slug in teams],
        "load": workload().load_in(actor, request.org, row),
    }
    return render(request, "clusters/pool.html", _shown(request, row) | shown)


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def platform_pool(request: Any, pool: str) -> HttpResponse:
    """Show one pool to operators, with its teams of every organization; change, grant, delete."""
    row, actor = _find(request, pool), request.actor
    if request.method == "POST":
        with FormErrors(request):
            return _act(request, row)
    machines = node_usage_of(row.cluster)
    may_write = actor.may(P.CLUSTERS_WRITE)
    with platform_scope("operators grant pools to teams of every organization"):
        grants = PoolGrant.objects.filter(pool=row).select_related("team", "org")
        granted = list(grants.order_by("org__name", "team__name"))
        teams = list(Team.objects.select_related("org").order_by("org__name", "name"))
    cluster = f"/platform/clusters/{row.cluster.name}"
    shown = {
        "crumbs": [
            (Message("Clusters", context="navigation"), "/platform/clusters"),
            (row.cluster.name, f"{cluster}?tab=pools"),
        ],
        "may_write": may_write,
        "granted": granted,
        "all_teams": teams if may_write else [],
        "load": workload().load_of(actor, row.cluster, row),
        "partitions": list(capacity.by_partition(machines)),
        "types": list(capacity.capacity_of(machines).gpus),
        "has_identities": _has_identities(row.cluster),
        "is_last": not row.is_open and row.cluster.is_enabled and row.cluster.pools.count() == 1,
    }
    return render(request, "clusters/pool.html", _shown(request, row) | shown)


def _find(request: Any, name: str) -> Pool:
    row = next((p for p in pools_visible_to(request.actor) if p.name == name), None)
    if row is None:
        raise NotFound(Message("There is no pool {x} that you can see.", x=repr(name[:80])))
    return row


def _shown(request: Any, row: Pool) -> dict[str, Any]:
    machines = node_usage_of(row.cluster)
    inside = sorted(capacity.inside_of(row, machines), key=lambda m: capacity.natural(m.node.name))
    return {
        "page_title": row.name,
        "pool": row,
        "stock": capacity.capacity_of(inside),
        "standing": status_of(row.cluster),
        "nodes": representations.machine_page(inside, {}, SHOWN)[0],
        "may_read": request.actor.may(P.CLUSTERS_READ),
        "RUNS": RUNNING,
        "WAITS": PENDING,
    }


def _has_identities(cluster: Cluster) -> bool:
    return cluster.backend in backends() and Capability.IDENTITIES in capabilities_of(
        cluster.backend
    )


def pool_of_form(request: Any, cluster: Cluster) -> Pool:
    """Create the pool of a form. Raises PortalError."""
    name = request.POST.get("name", "").strip()
    return service.create_pool(actor=request.actor, cluster=cluster, name=name, **_rule(request))


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
    here, actor, what = request.path, request.actor, request.POST.get("do", "")
    if what == "change":
        service.change_pool(actor=actor, pool=row, **_rule(request))
        messages.success(request, Message("{name} was updated.", name=row.name))
        return redirect(here)
    if what == "delete":
        service.delete_pool(actor=actor, pool=row)
        messages.success(
            request,
            Message("{name} was deleted. Jobs running on its nodes continue.", name=row.name),
        )
        return redirect(f"/platform/clusters/{row.cluster.name}?tab=pools")
    org, _, slug = request.POST.get("team", "").partition("/")
    with platform_scope("operators grant pools to teams of every organization"):
        team = Team.objects.filter(org__slug=org, slug=slug).select_related("org").first()
    if team is None:
        raise InvalidInput.at("team", "choose one")
    if what == "revoke":
        with org_scope(team.org_id):
            service.revoke_pool(actor=actor, pool=row, team=team)
        done = Message(
            "{slug} can no longer use {name}. Running jobs continue.", slug=team.name, name=row.name
        )
    else:
        given = (
            Identity(**{name: request.POST.get(name, "").strip() for name in _IDENTITY})
            if _has_identities(row.cluster)
            else None
        )
        with org_scope(team.org_id):
            service.grant_pool(actor=actor, pool=row, team=team, identity=given)
        done = Message("{slug} can now use {name}.", slug=team.name, name=row.name)
    messages.success(request, done)
    return redirect(here)
