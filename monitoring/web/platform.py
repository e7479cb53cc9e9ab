"""Overview of the installation for operators."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from clusters.health.selectors import state_counts
from clusters.representations import cluster_rows
from jobs.scheduling.queue import queue_page, reasons
from monitoring import platform_overview as overview_of
from notifications.selectors import undelivered_mail
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page

LONGEST = 5  # pending jobs shown


@page(P.CLUSTERS_READ)
def overview(request: Any) -> HttpResponse:
    """Show GPUs, clusters, nodes out of service, the queue, and who uses or wastes GPUs."""
    actor = request.actor
    gpus = overview_of.gpu_counts(actor)
    nodes, count = overview_of.nodes_out_of_service()
    clusters = cluster_rows()
    mails, undelivered = undelivered_mail(actor) if actor.may(P.PLATFORM_ADMIN) else ([], 0)
    waiting, _more = queue_page(actor, {}, LONGEST)
    return render(
        request,
        "monitoring/platform.html",
        {
            "page_title": Message("Overview"),
            "gpus": gpus,
            "clusters": [row | {"use": gpus["clusters"].get(row["name"])} for row in clusters],
            "nodes": nodes,
            "nodes_out": count,
            "health": state_counts(),
            "nodes_total": sum(row["nodes"]["total"] for row in clusters),
            "waiting": waiting,
            "mails": mails,
            "undelivered": undelivered,
            "pending": sum(reason["n"] for reason in reasons(actor, {})),
            "organizations": overview_of.organizations_by_use(actor),
        },
    )
