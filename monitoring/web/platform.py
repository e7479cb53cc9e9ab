"""Overview of the installation for operators."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from billing.selectors import dashboard
from billing.web.panels import gpu_chart, queue_chart
from clusters.health.selectors import state_counts
from clusters.representations import cluster_rows
from jobs.scheduling.queue import queue_page, reasons
from monitoring import platform_overview as overview_of
from notifications.selectors import undelivered_mail
from portal.core.messages import Message
from workspaces.access.actors import Actor
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page

LONGEST = 5  # pending jobs shown


def _trends(actor: Actor, pending: int) -> dict[str, Any] | None:
    """Return the charts of the last seven days; None before anything was recorded.

    The queue was recorded an hour ago at most; its last value is that of now.
    """
    asked = dashboard.asked_of(actor, None, {"range": "7d"})
    found = dashboard.gpu_times(asked)
    if not any(found.curves["capacity"]):
        return None
    queue = dashboard.queue_of(asked)
    queue["queued"][-1:] = [pending] if queue["queued"] else []
    return {"gpus": gpu_chart(found), "queue": queue_chart(queue)}


@page(P.CLUSTERS_READ)
def overview(request: Any) -> HttpResponse:
    """Show GPUs, clusters, nodes out of service, the queue, and who uses or wastes GPUs."""
    actor = request.actor
    gpus = overview_of.gpu_counts(actor)
    nodes, count = overview_of.nodes_out_of_service()
    clusters = cluster_rows()
    mails, undelivered = undelivered_mail(actor) if actor.may(P.PLATFORM_ADMIN) else ([], 0)
    waiting, _more = queue_page(actor, {}, LONGEST)
    pending = sum(reason["n"] for reason in reasons(actor, {}))
    return render(
        request,
        "monitoring/platform.html",
        {
            "page_title": Message("Overview", context="page title"),
            "gpus": gpus,
            "clusters": [row | {"use": gpus["clusters"].get(row["name"])} for row in clusters],
            "nodes": nodes,
            "nodes_out": count,
            "health": state_counts(),
            "nodes_total": sum(row["nodes"]["total"] for row in clusters),
            "waiting": waiting,
            "mails": mails,
            "undelivered": undelivered,
            "pending": pending,
            "organizations": overview_of.organizations_by_use(actor),
            "trends": _trends(actor, pending),
        },
    )
