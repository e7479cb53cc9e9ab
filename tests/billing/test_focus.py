"""The FOCUS export against the rules of FOCUS 1.2 that apply to it.

From the columns and attributes of the specification: feature level, nulls, allowed values, and how
columns depend on each other. The validator of the project (`focus-validator`) knows 1.0 only.
"""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal

import pytest

from billing import documents

DAY = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
NUMBER = re.compile(r"-?\d+(\.\d+)?")
UNIT = re.compile(r"(GPU|Core|GiB)-Hours")
NEVER_NULL = {
    *("BilledCost", "BillingAccountId", "BillingAccountType", "BillingCurrency"),
    *("BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargeFrequency"),
    *("ChargePeriodEnd", "ChargePeriodStart", "ContractedCost", "EffectiveCost"),
    *("InvoiceIssuerName", "ListCost", "PricingCurrency", "ProviderName", "PublisherName"),
    *("ServiceCategory", "ServiceName", "ServiceSubcategory"),
}
MANDATORY = NEVER_NULL | {
    *("BillingAccountName", "ChargeClass", "ChargeDescription", "PricingQuantity", "PricingUnit"),
}
# Not null for usage that is no correction, null for others of our lines
OF_USAGE = {
    *("ConsumedQuantity", "ConsumedUnit", "ContractedUnitPrice", "ListUnitPrice"),
    *("PricingCategory", "PricingQuantity", "PricingUnit", "SkuId", "SkuMeter", "SkuPriceId"),
}
ALLOWED = {
    "ChargeCategory": {"Usage", "Purchase", "Tax", "Credit", "Adjustment"},
    "ChargeClass": {"", "Correction"},
    "ChargeFrequency": {"One-Time", "Recurring", "Usage-Based"},
    "PricingCategory": {"", "Standard", "Dynamic", "Committed", "Other"},
    "CapacityReservationStatus": {"", "Used", "Unused"},
    "ServiceCategory": {"Compute", "Storage"},
    "ServiceSubcategory": {"Other (Compute)", "Other (Storage)"},
}
# The second is null exactly when the first is
TOGETHER = (
    ("ConsumedQuantity", "ConsumedUnit"),
    ("PricingQuantity", "PricingUnit"),
    ("CapacityReservationId", "CapacityReservationStatus"),
    ("ResourceId", "ResourceType"),
    ("SubAccountId", "SubAccountName"),
    ("SubAccountId", "SubAccountType"),
    ("SkuId", "SkuMeter"),
)


def line(**values):
    return {
        "category": "Usage",
        "class": "",
        "month": "2026-10-01",
        "team_id": "0199",
        "team": "vision",
        "team_name": "Vision",
        "kind": "job",
        "resource": "gpu.h100",
        "unit": "GPU-hours",
        "quantity": 12_345_678,
        "hours": "3.429355",
        "price": "2.85",
        "percent": "12.50",
        "list": "9.77",
        "discount": "-1.22",
        "cost": "8.55",
        "note": "",
        **values,
    }


DOCUMENT = {
    "number": "atlas-2026-11",
    "organization": {"slug": "atlas", "name": "Atlas", "address": ""},
    "currency": "USD",
    "month": "2026-11-01",
    "until": "2026-12-01",
    "lines": [
        line(month="2026-11-01"),
        line(month="2026-11-01", resource="cpu", unit="core-hours", price="0.012"),
        line(month="2026-11-01", resource="gpu.a100", price=None, cost="0.00", list="0.00"),
        line(month="2026-11-01", kind="reservation"),
        line(month="2026-11-01", kind="storage", resource="storage", unit="GiB-hours"),
        line(team="", team_name="", month="2026-11-01"),  # of a team that was deleted
        line(
            **{"class": "Correction"}, price=None, cost="-3.50", note="Correction of atlas-2026-10"
        ),
        line(
            category="Credit",
            month="2026-11-01",
            kind="credit",
            team="",
            team_id=None,
            team_name="",
            resource="",
            unit="",
            hours="0",
            price=None,
            percent="0",
            cost="-20.00",
            note="=Welcome",
        ),
    ],
}


@pytest.fixture(scope="module")
def rows():
    return list(csv.DictReader(io.StringIO(documents.as_focus(DOCUMENT).decode())))


def test_focus_has_its_columns_in_their_types(rows):
    columns = set(rows[0])
    assert columns >= MANDATORY | OF_USAGE
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", name) for name in columns)
    for row in rows:
        for name, value in row.items():
            assert value or name not in NEVER_NULL, name
            assert value.strip() == value, name
            if name.endswith(("Cost", "Quantity", "UnitPrice")):
                assert not value or NUMBER.fullmatch(value), (name, value)
            if name.endswith(("PeriodStart", "PeriodEnd")):
                assert DAY.fullmatch(value), (name, value)
            if name in ("ConsumedUnit", "PricingUnit"):
                assert not value or UNIT.fullmatch(value), (name, value)
            assert value in ALLOWED.get(name, {value}), (name, value)
        assert row["ChargePeriodStart"] < row["ChargePeriodEnd"]
        assert row["ServiceSubcategory"] == f"Other ({row['ServiceCategory']})"
        assert json.loads(row["Tags"]) == {}


def test_focus_nulls_follow_the_kind_of_the_charge(rows):
    for row in rows:
        is_usage = row["ChargeCategory"] == "Usage"
        if is_usage and not row["ChargeClass"]:
            assert {name for name in OF_USAGE if not row[name]} == set()
        if not is_usage:
            assert {name for name in OF_USAGE if row[name]} == set()
        for name, other in TOGETHER:
            assert bool(row[name]) == bool(row[other]), (name, other)
    kinds = [row["CapacityReservationStatus"] for row in rows]
    assert kinds == ["", "", "", "Unused", "", "", "", ""]


def test_focus_costs_are_quantities_times_prices(rows):
    for row in rows:
        quantity = Decimal(row["PricingQuantity"] or 0)
        for cost, price in (
            ("ListCost", "ListUnitPrice"),
            ("ContractedCost", "ContractedUnitPrice"),
        ):
            if row[price]:
                assert Decimal(row[cost]) == quantity * Decimal(row[price]) >= 0
            else:
                assert row[cost] == row["BilledCost"]
    assert sum(Decimal(row["BilledCost"]) for row in rows) == sum(
        Decimal(one["cost"]) for one in DOCUMENT["lines"]
    )
    prices = {row["SkuPriceId"]: row["ListUnitPrice"] for row in rows if row["SkuPriceId"]}
    assert prices["gpu.h100@2.85 USD"] == "2.85" and prices["gpu.a100@0 USD"] == "0"
