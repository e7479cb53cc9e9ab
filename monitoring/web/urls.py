from __future__ import annotations

from django.urls import path

from monitoring.web import capacity, platform, sources, views

platform_pages = [
    path("", platform.overview, name="platform-overview"),
    path("nodes", views.platform_nodes, name="platform-nodes"),
    path("nodes/<str:node>", views.platform_node, name="platform-node"),
    path("capacity", capacity.platform_capacity, name="platform-capacity"),
    path("fleet", capacity.platform_fleet, name="platform-fleet"),
    path("telemetry", sources.sources, name="platform-telemetry"),
    path("telemetry/<str:source>", sources.source, name="platform-telemetry-source"),
]
urlpatterns = [
    path("<slug:org>/capacity", capacity.capacity, name="capacity"),
    path("<slug:org>/fleet", capacity.fleet_page, name="fleet"),
    path("<slug:org>/gpus", capacity.gpus, name="gpus"),
    path("<slug:org>/gpus/<str:uuid>", capacity.gpu, name="gpu"),
    path("<slug:org>/nodes", views.nodes, name="nodes"),
    path("<slug:org>/nodes/<str:node>", views.node, name="node"),
]
