from __future__ import annotations

from django.urls import path

from clusters.web import cluster, clusters, mig, pool_requests, pools

platform_pages = [
    path("clusters", clusters.clusters, name="clusters"),
    path("clusters/-/connect", clusters.connect_cluster, name="cluster-connect"),
    path("clusters/<str:cluster>", cluster.cluster, name="cluster"),
    path("clusters/<str:cluster>/edit", clusters.edit_cluster, name="cluster-edit"),
    path("clusters/<str:cluster>/nodes/<str:node>", cluster.act_on_node, name="cluster-node"),
    path("mig", mig.mig_plans, name="mig-plans"),
    path("mig/<uuid:plan>", mig.mig_plan, name="mig-plan"),
    path("pools/<str:pool>", pools.platform_pool, name="platform-pool"),
    path("pool-requests", pool_requests.platform_pool_requests, name="platform-pool-requests"),
    path(
        "pool-requests/<uuid:ask>",
        pool_requests.platform_pool_request,
        name="platform-pool-request",
    ),
]
urlpatterns = [
    path("<slug:org>/pools", pools.pools, name="pools"),
    path("<slug:org>/pools/<str:pool>", pools.pool, name="pool"),
    path("<slug:org>/pool-requests", pool_requests.pool_requests, name="pool-requests"),
    path("<slug:org>/pool-requests/<uuid:ask>", pool_requests.pool_request, name="pool-request"),
]
