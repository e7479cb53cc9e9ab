"""How the events of prices, budgets and statements read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portal.core.event_texts import EventKind, Subject
from portal.core.formatting import gpu_text
from portal.core.messages import Message
from portal.core.states import Mark

_WHAT = {
    "gpu": Message("a GPU-hour", context="part of a sentence"),
    "cpu": Message("a core-hour", context="part of a sentence"),
    "memory": Message("a GiB-hour of memory", context="part of a sentence"),
    "storage": Message("a GiB-hour of storage", context="part of a sentence"),
    "lost": Message("lost work, in percent,", context="part of a sentence"),
}


def _price(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a price is of, from the name of the event: "gpu.h100 USD 2026-10-01"."""
    resource, currency, day = [*str(data.get("name", "")).split(), "", "", ""][:3]
    kind, _dot, model = resource.partition(".")
    what = _WHAT.get(kind, resource)
    if model:
        what = Message("a GPU-hour of {type}", context="part of a sentence", type=gpu_text(model))
    price = (data.get("after") or {}).get("price", "")
    return {"what": what, "currency": currency, "day": day, "price": price}


EVENTS = (
    EventKind(
        "budget.set",
        (
            Message("{actor} set the budget of {subject} to {amount}"),
            Message("{actor} changed the budget of {subject}"),
        ),
    ),
    EventKind(
        "budget.removed", (Message("{actor} removed the budget of {subject}"),), mark=Mark.BAR
    ),
    EventKind(
        "budget.threshold_reached",
        (
            Message("{subject} has spent {percent}% of its budget"),
            Message("{subject} has reached a threshold of its budget"),
        ),
        mark=Mark.SQUARE,
    ),
    EventKind(
        "usage.price_set",
        (
            Message("{actor} set the price of {what} to {price} {currency} from {day}"),
            Message("{actor} set the price of {subject}"),
        ),
        facts=_price,
    ),
    EventKind(
        "usage.price_deleted", (Message("{actor} deleted the price of {subject}"),), mark=Mark.BAR
    ),
    EventKind("usage.account_changed", (Message("{actor} changed how {subject} pays"),)),
    EventKind(
        "usage.discount_set",
        (
            Message("{actor} set the discount of {subject} to {percent}%"),
            Message("{actor} set the discount of {subject}"),
        ),
    ),
    EventKind(
        "usage.credit_added",
        (
            Message("{actor} added a credit of {amount} to {subject}"),
            Message("{actor} added a credit to {subject}"),
        ),
    ),
    EventKind(
        "statement.issued",
        (
            Message("{actor} issued the statement {subject}: {total}"),
            Message("{actor} issued the statement {subject}"),
        ),
    ),
)
GROUPS = {
    "budget": Message("Budgets", context="way to group"),
    "usage": Message("Prices", context="way to group"),
    "statement": Message("Statements", context="way to group"),
}
SUBJECTS = (
    Subject("budget", Message("a budget", context="subject of an event")),
    Subject("usage", Message("usage", context="subject of an event")),
    Subject("statement", Message("a statement", context="subject of an event")),
)
