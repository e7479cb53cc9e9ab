from __future__ import annotations

from django.urls import include, path

from monitoring.web import platform, views

platform_pages = [
    path("", platform.overview, name="platform-overview"),
    path("nodes/<str:node>", views.platform_node, name="platform-node"),
]
urlpatterns = [
    path("platform/", include(platform_pages), {"area": "platform"}),
    path("<slug:org>/nodes", views.nodes, name="nodes"),
    path("<slug:org>/nodes/<str:node>", views.node, name="node"),
]
