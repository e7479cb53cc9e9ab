"""Pages of the list of nodes and of a single node."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render

from monitoring import nodes as rows
from monitoring.api.views import find_node
from monitoring.lists import NODES
from portal.core import clock
from portal.core.messages import Message
from workspaces.access.permissions import Permission as P
from workspaces.web.base import page


@page(NODES.permission)
def nodes(request: Any) -> HttpResponse:
    """Show the overview of all GPUs, and one page of nodes."""
    return NODES.render(request, "monitoring/nodes.html", {"page_title": Message("Nodes")})


@page(P.NODES_READ)
def node(request: Any, node: str) -> HttpResponse:
    """Show one node."""
    found = find_node(node, request.GET.get("cluster", ""))
    query = urlencode({"cluster": found.cluster.name, "start": clock.now_ms() - 3_600_000})
    return render(
        request,
        "monitoring/node.html",
        {
            "page_title": found.name,
            "crumbs": [(Message("Nodes"), f"/{request.org.slug}/nodes")],
            "node": rows.node_row(found, request.actor),
            "chart_sources": [
                {
                    "id": found.id.hex,
                    "name": found.name,
                    "url": f"/api/v1/orgs/{request.org.slug}/nodes/{found.name}/metrics?{query}",
                    "start": None,
                    "isLive": True,
                    "topics": [{"name": f"metrics:node:{found.id.hex}", "kind": "system"}],
                }
            ],
        },
    )
