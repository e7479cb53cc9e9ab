from __future__ import annotations

from django.urls import path

from clusters.api import health, mig, pool_requests, views
from portal.api.schema import Tag

_CLUSTER, _POOL = "clusters/<str:cluster>", "orgs/<slug:org>/pools/<str:pool>"
TAGS = (
    Tag("GPUs", 120, ("mig",)),
    Tag("Pools", 130, ("pools", "pool-requests")),
    Tag("Clusters", 140, ("clusters", "cluster-test")),
)
urlpatterns = [
    path("clusters", views.ClustersView.as_view(), name="api-clusters"),
    path("cluster-test", views.ClusterTestView.as_view(), name="api-cluster-try"),
    path(_CLUSTER, views.ClusterView.as_view(), name="api-cluster"),
    path(f"{_CLUSTER}/test", views.ClusterProbeView.as_view(), name="api-cluster-test"),
    path(f"{_CLUSTER}/nodes", views.ClusterNodesView.as_view(), name="api-cluster-nodes"),
    path(f"{_CLUSTER}/nodes/<str:node>/drain", views.DrainView.as_view(), name="api-node-drain"),
    path(f"{_CLUSTER}/nodes/<str:node>/resume", views.ResumeView.as_view(), name="api-node-resume"),
    path(f"{_CLUSTER}/health", health.ClusterHealthView.as_view(), name="api-cluster-health"),
    path(
        f"{_CLUSTER}/health/reset",
        health.HealthResetView.as_view(),
        name="api-cluster-health-reset",
    ),
    path(
        f"{_CLUSTER}/nodes/<str:node>/health",
        health.NodeHealthView.as_view(),
        name="api-node-health",
    ),
    path(
        f"{_CLUSTER}/nodes/<str:node>/quarantine",
        health.QuarantineView.as_view(),
        name="api-node-quarantine",
    ),
    path(
        f"{_CLUSTER}/nodes/<str:node>/return", health.ReturnView.as_view(), name="api-node-return"
    ),
    path("orgs/<slug:org>/pools", views.PoolsView.as_view(), name="api-pools"),
    path(_POOL, views.PoolView.as_view(), name="api-pool"),
    path(f"{_POOL}/teams/<slug:team>", views.PoolTeamView.as_view(), name="api-pool-team"),
    path("mig/plans", mig.MigPlansView.as_view(), name="api-mig-plans"),
    path("mig/plans/<uuid:plan>", mig.MigPlanView.as_view(), name="api-mig-plan"),
    path("mig/clusters/<str:cluster>", mig.MigSettingsView.as_view(), name="api-mig-settings"),
    path(
        "orgs/<slug:org>/pool-requests",
        pool_requests.PoolRequestsView.as_view(),
        name="api-pool-requests",
    ),
    path(
        "orgs/<slug:org>/pool-requests/<uuid:ask>",
        pool_requests.PoolRequestView.as_view(),
        name="api-pool-request",
    ),
]
