from __future__ import annotations

from django.urls import path

from billing.web import dashboards, platform, views

platform_pages = [
    path("usage", dashboards.platform_usage, name="platform-usage"),
    path("usage/jobs", dashboards.platform_usage_jobs, name="platform-usage-jobs"),
    path("prices", platform.prices, name="platform-prices"),
    path("accounts", platform.accounts, name="platform-accounts"),
    path("statements", platform.statements, name="platform-statements"),
]
urlpatterns = [
    path("<slug:org>/usage", dashboards.usage, name="usage"),
    path("<slug:org>/usage/jobs", dashboards.usage_jobs, name="usage-jobs"),
    path("<slug:org>/usage/cost", views.cost, name="usage-cost"),
    path("<slug:org>/usage/statements", views.statement_list, name="usage-statements"),
    path("<slug:org>/usage/statements/<str:month>", views.statement, name="usage-statement"),
]
