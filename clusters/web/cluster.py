"""Page of one cluster: health, capacity and usage; test, disable, and drain nodes."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme

from clusters import capacity, representations, status
from clusters.health.checks import HealthState
from clusters.health.selectors import node_health
from clusters.models import Cluster, Node
from clusters.node_capacity import node_usage_of
from clusters.pools import pools_of
from clusters.services import connections, drain
from clusters.services import health as health_service
from clusters.sharing import isolation_text
from clusters.web.health import FORMS, act_on_health, health_tab
from clusters.web.pools import pool_of_form
from clusters.workload import PENDING, RUNNING, workload
from portal.core.errors import InvalidInput
from portal.core.messages import Message
from portal.web.form_errors import FormErrors
from workspaces.access.permissions import Permission as P
from workspaces.web.base import action, page

TABS = (
    ("overview", Message("Overview", context="tab")),
    ("nodes", Message("Nodes", context="tab")),
    ("health", Message("Health", context="tab")),
    ("partitions", Message("Partitions", context="tab")),
    ("pools", Message("Pools", context="tab")),
    ("history", Message("History", context="tab")),
)
_UNDO = "node_undo"  # in the session: what was just done to a node


@page(P.CLUSTERS_READ, ("GET", "HEAD", "POST"))
def cluster(request: Any, cluster: str) -> HttpResponse:
    """Show one cluster."""
    row = connections.find_cluster(cluster)
    if request.method == "POST":
        return _act(request, row)
    machines = node_usage_of(row)
    whole, pools = capacity.capacity_of(machines), pools_of(row)
    parts = capacity.partitions_of(machines)
    counts = {"nodes": whole.total, "partitions": len(parts), "pools": len(pools)}
    tab = request.GET.get("tab", "")
    shown = {
        "page_title": row.name,
        "crumbs": [(Message("Clusters", context="navigation"), "/platform/clusters")],
        "cluster": representations.cluster_row(row),
        "stock": whole,
        "isolation": isolation_text(row),
        "may_write": request.actor.may(P.CLUSTERS_WRITE),
        "counts": counts,
        "partition_names": parts,
        "types": list(whole.gpus),
        "tabs": [
            (name, label, counts.get(name))
            for name, label in TABS
            if counts.get(name) != 0 or name in {"nodes", "pools"}
        ],
        "tab": tab if tab in dict(TABS) else "overview",
    }
    return render(
        request,
        "clusters/cluster.html",
        shown | _tab(request, row, shown["tab"], machines, parts, pools),
    )


# What is done to a node → what undoes it
_UNDOES = {
    "drain": "resume",
    "resume": "drain",
    "quarantine": "return",
    "return": "quarantine",
}


@page(P.CLUSTERS_WRITE, ("POST",))
def act_on_node(request: Any, cluster: str, node: str) -> HttpResponse:
    """Drain, quarantine, resume or return a node; each can be undone from the page that follows."""
    found = drain.find_node(connections.find_cluster(cluster), node)
    what, actor = request.POST.get("do", ""), request.actor
    if what not in _UNDOES:
        what = "drain"
    reason = (
        request.POST.get("reason", "") if what in ("drain", "quarantine") else _reason_of(found)
    )
    was = request.POST.get("was")  # an undo says what it undoes
    with FormErrors(request):
        match what:
            case "drain":
                drain.drain_node(actor=actor, node=found, why=reason, was=was)
            case "quarantine":
                health_service.quarantine_node(actor=actor, node=found, why=reason, was=was)
            case "return":
                health_service.return_node(actor=actor, node=found, was=was)
            case _:
                drain.resume_node(actor=actor, node=found, was=was)
        request.session[_UNDO] = {
            "node": found.id.hex,
            "do": _UNDOES[what],
            "reason": reason[:200],
            "was": found.note,
        }
    return redirect(_page_before(request, found))


def take_undo(request: Any, node: Node | None = None) -> dict[str, Any] | None:
    """Return what the person just did to the node, or to any: node, cluster, `do`, `reason`, `was`.

    It is offered once. `do` is the action that undoes it.
    """
    kept = request.session.get(_UNDO)
    if not kept or (node is not None and kept["node"] != node.id.hex):
        return None
    del request.session[_UNDO]
    row = Node.objects.select_related("cluster").filter(id=kept["node"]).first()
    return {**kept, "name": row.name, "cluster": row.cluster.name} if row else None


def _reason_of(node: Node) -> str:
    """Return why the node is out of service, without the address that the drain added."""
    health = node_health(node)
    if HealthState(health["state"]).is_out:
        return str(health["why"])
    return str(node.note).rpartition(" (")[0] or str(node.note) or "resumed by mistake"


def _page_before(request: Any, node: Node) -> str:
    """Return the page of ours that the form came from."""
    back = request.POST.get("back", "")[:500]
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return back
    return f"/platform/clusters/{node.cluster.name}?tab=nodes"


def _tab(
    request: Any, row: Cluster, tab: str, machines: Any, parts: Any, pools: Any
) -> dict[str, Any]:
    """Return the context of the current tab."""
    match tab:
        case "nodes":
            query = {
                name: request.GET.get(name, "") for name in ("nodes", "partition", "find", "after")
            }
            nodes, following = representations.machine_page(machines, query)
            kept = request.GET.copy()
            kept.pop("after", None)
            return {
                "nodes": nodes,
                "following": following,
                "asked": query,
                "kept": kept.urlencode(),
                "states": capacity.STATES,
                "partitions": parts,
                "here": request.get_full_path(),
                "undo": take_undo(request),
            }
        case "partitions":
            return {"partitions": capacity.by_partition(machines)}
        case "pools":
            counted = capacity.by_pool(pools, {row.id: machines})
            return {"pools": [(pool, counted[pool.id]) for pool in pools]}
        case "health":
            return health_tab(row)
        case "history":
            return {"events": status.history_of(row)}
    used = workload().load_of(request.actor, row)
    return {
        "load": used,
        "runs": sum(u["runs"] for u in used),
        "waits": sum(u["waits"] for u in used),
        "RUNS": RUNNING,
        "WAITS": PENDING,
    }


def _act(request: Any, row: Cluster) -> HttpResponse:
    """Test, disable, enable or remove the cluster, or create a pool."""
    here, what = f"/platform/clusters/{row.name}", request.POST.get("do", "")
    if what in FORMS:
        return act_on_health(request, row, what)
    if what == "new-pool":
        with FormErrors(request):
            made = pool_of_form(request, row)
            done = Message(
                "{name} was created. Grant it to a team, or open it to all teams.", name=made.name
            )
            messages.success(request, done)
            return redirect(f"/platform/pools/{made.name}")
        return redirect(f"{here}?tab=pools")
    if what == "test":
        found = connections.probe_cluster(actor=request.actor, cluster=row)
        (messages.success if found.is_ok else messages.error)(
            request, Message.joined(": ", (row.name, found.message))
        )
        for text in found.warnings:
            messages.warning(request, Message.joined(": ", (row.name, text)))
        tab = request.GET.get("tab", "")
        return redirect(f"{here}?tab={tab}" if tab in dict(TABS) else here)
    if what == "remove":
        return _remove(request, row, here)
    is_enabled = what == "enable"
    done = (
        Message("{name} is enabled and takes new jobs.", name=row.name)
        if is_enabled
        else Message("{name} is disabled. Running jobs continue; no new jobs start.", name=row.name)
    )
    return action(
        request,
        here,
        done,
        lambda: connections.enable_cluster(actor=request.actor, cluster=row, is_enabled=is_enabled),
    )


def _remove(request: Any, row: Cluster, here: str) -> HttpResponse:
    with FormErrors(request):
        if request.POST.get("name", "").strip() != row.name:
            raise InvalidInput.at("name", Message("Type {name} to delete it.", name=row.name))
        connections.remove_cluster(actor=request.actor, cluster=row)
        messages.success(request, Message("{name} and its pools were deleted.", name=row.name))
        return redirect("/platform/clusters")
    return redirect(here)
