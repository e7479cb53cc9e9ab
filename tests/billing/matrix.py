"""Rows of this app in the tests that loop over all routes (tests/matrix.py)."""

from __future__ import annotations

from tests.matrix import ADMINS, EVERYBODY, OPERATORS, Row
from workspaces.access.permissions import Permission as P

LISTS = {
    "api-usage",
    "api-waste",
    "api-cost",
    "api-budgets",
}
ROWS = {
    ("api-usage", "GET"): Row(EVERYBODY, None),  # of teams that are visible
    ("api-waste", "GET"): Row(EVERYBODY, None),
    ("api-cost", "GET"): Row(EVERYBODY, None),
    ("api-fleet-usage", "GET"): Row(OPERATORS, P.CLUSTERS_READ),
    ("api-budgets", "GET"): Row(EVERYBODY, None),
    ("api-budgets", "PUT"): Row(ADMINS, P.QUOTAS_WRITE, {"team": "vision", "amount": "500"}),
    ("api-budgets", "DELETE"): Row(ADMINS, P.QUOTAS_WRITE),
    ("api-statements", "GET"): Row(ADMINS | {"bea"}, P.BILLING_READ),
    ("api-statements", "POST"): Row(OPERATORS, P.PLATFORM_ADMIN, {"month": "2026-09"}),
    ("api-statement", "GET"): Row(ADMINS | {"bea"}, P.BILLING_READ),
    ("api-prices", "GET"): Row(OPERATORS, P.PLATFORM_ADMIN),
    ("api-prices", "POST"): Row(
        OPERATORS,
        P.PLATFORM_ADMIN,
        {"resource": "gpu.h100", "amount": "2.5", "currency": "USD"},
    ),
    ("api-price", "DELETE"): Row(OPERATORS, P.PLATFORM_ADMIN),
    ("api-billing-account", "GET"): Row(ADMINS | {"bea"}, P.BILLING_READ),
    ("api-billing-account", "PUT"): Row(
        OPERATORS, P.PLATFORM_ADMIN, {"currency": "EUR", "mode": "chargeback"}
    ),
    ("api-discounts", "POST"): Row(OPERATORS, P.PLATFORM_ADMIN, {"percent": "10"}),
    ("api-credits", "POST"): Row(OPERATORS, P.PLATFORM_ADMIN, {"amount": "100"}),
}
FORMS = {
    "usage-cost": (ADMINS, {"team": "vision", "amount": "700"}),
    "platform-prices": (
        OPERATORS,
        {"resource": "cpu", "amount": "0.02", "currency": "USD", "starts_on": "2026-09-01"},
    ),
    "platform-accounts": (
        OPERATORS,
        {"org": "atlas", "do": "account", "currency": "EUR", "mode": "showback"},
    ),
    "platform-statements": (OPERATORS, {"org": "atlas", "month": "2026-08"}),
}
SILENT_FORMS = {
    **dict.fromkeys(
        ("usage", "usage-jobs", "platform-usage", "platform-usage-jobs"),
        "keeps how a person has arranged panels",
    ),
}
