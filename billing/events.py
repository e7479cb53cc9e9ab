"""How the events of prices, budgets and statements read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from billing.amounts import resource_text
from portal.core.event_texts import EventKind, Subject
from portal.core.messages import Message
from portal.core.states import Mark


def _price(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the price is for, from its name, such as "gpu.h100 USD 2027-01-01"."""
    match str(data.get("name", "")).split():
        case [resource, currency, day]:
            return {"resource": resource_text(resource), "currency": currency, "day": day}
    return {}


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
            Message("{actor} set the price of {resource} to {price} {currency} an hour from {day}"),
            Message("{actor} set the price of {subject} to {price}"),
            Message("{actor} set the price of {subject}"),
        ),
        facts=_price,
    ),
    EventKind(
        "usage.price_deleted",
        (
            Message("{actor} deleted the price of {resource} in {currency} from {day}"),
            Message("{actor} deleted the price of {subject}"),
        ),
        facts=_price,
        mark=Mark.BAR,
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
