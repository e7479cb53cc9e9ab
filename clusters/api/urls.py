from __future__ import annotations

from django.urls import path

from clusters.api import pool_requests

urlpatterns = [
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
