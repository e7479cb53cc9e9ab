from __future__ import annotations

from django.urls import path

from monitoring.api import sources, views
from portal.api.schema import Tag

TAGS = (
    Tag("Nodes", 110, ("nodes", "wall", "agent")),
    Tag("GPUs", 120, ("capacity", "gpus", "fleet")),
    Tag("Telemetry", 150, ("telemetry-sources", "telemetry-test")),
)
urlpatterns = [
    path("agent/samples", views.SamplesView.as_view(), name="api-agent-samples"),
    path("wall", views.PlatformGpuGridView.as_view(), name="api-platform-wall"),
    path(
        "nodes/<str:node>/metrics",
        views.PlatformNodeMetricsView.as_view(),
        name="api-platform-node-metrics",
    ),
    path("telemetry-sources", sources.SourcesView.as_view(), name="api-telemetry-sources"),
    path("telemetry-test", sources.SettingsTestView.as_view(), name="api-telemetry-test"),
    path(
        "telemetry-sources/<str:source>",
        sources.SourceView.as_view(),
        name="api-telemetry-source",
    ),
    path(
        "telemetry-sources/<str:source>/test",
        sources.SourceTestView.as_view(),
        name="api-telemetry-source-test",
    ),
    path(
        "telemetry-sources/<str:source>/history",
        sources.SourceHistoryView.as_view(),
        name="api-telemetry-source-history",
    ),
    path("orgs/<slug:org>/nodes", views.NodesView.as_view(), name="api-nodes"),
    path("orgs/<slug:org>/capacity", views.CapacityView.as_view(), name="api-capacity"),
    path("orgs/<slug:org>/fleet", views.FleetView.as_view(), name="api-fleet"),
    path("orgs/<slug:org>/gpus", views.GpusView.as_view(), name="api-gpus"),
    path("orgs/<slug:org>/gpus/<str:uuid>", views.GpuView.as_view(), name="api-gpu"),
    path("orgs/<slug:org>/wall", views.GpuGridView.as_view(), name="api-wall"),
    path("orgs/<slug:org>/nodes/<str:node>", views.NodeView.as_view(), name="api-node"),
    path(
        "orgs/<slug:org>/nodes/<str:node>/metrics",
        views.NodeMetricsView.as_view(),
        name="api-node-metrics",
    ),
]
