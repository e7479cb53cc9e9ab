from __future__ import annotations

from django.urls import path

from billing.api import dashboards, views
from portal.api.schema import Tag

TAGS = (
    Tag("Usage", 90, ("gpu-time", "idle-gpus", "storage", "usage", "waste", "fleet-usage")),
    Tag(
        "Billing",
        100,
        ("cost", "budgets", "statements", "billing-account", "discounts", "credits", "prices"),
    ),
)
urlpatterns = [
    path("prices", views.PricesView.as_view(), name="api-prices"),
    path("prices/<uuid:price>", views.PriceView.as_view(), name="api-price"),
    path("fleet-usage", dashboards.FleetUsageView.as_view(), name="api-fleet-usage"),
    path("orgs/<slug:org>/usage", dashboards.UsageView.as_view(), name="api-usage"),
    path("orgs/<slug:org>/waste", dashboards.WasteView.as_view(), name="api-waste"),
    path("orgs/<slug:org>/cost", views.CostView.as_view(), name="api-cost"),
    path("orgs/<slug:org>/budgets", views.BudgetsView.as_view(), name="api-budgets"),
    path("orgs/<slug:org>/statements", views.StatementsView.as_view(), name="api-statements"),
    path(
        "orgs/<slug:org>/statements/<str:month>",
        views.StatementView.as_view(),
        name="api-statement",
    ),
    path(
        "orgs/<slug:org>/billing-account", views.AccountView.as_view(), name="api-billing-account"
    ),
    path("orgs/<slug:org>/discounts", views.DiscountsView.as_view(), name="api-discounts"),
    path("orgs/<slug:org>/credits", views.CreditsView.as_view(), name="api-credits"),
]
