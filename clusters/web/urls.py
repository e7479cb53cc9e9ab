from __future__ import annotations

from django.urls import path

from clusters.web import pool_requests

platform_pages = [
    path("pool-requests", pool_requests.platform_pool_requests, name="platform-pool-requests"),
]
urlpatterns = [
    path("<slug:org>/pool-requests", pool_requests.pool_requests, name="pool-requests"),
    path("<slug:org>/pool-requests/<uuid:ask>", pool_requests.pool_request, name="pool-request"),
]
