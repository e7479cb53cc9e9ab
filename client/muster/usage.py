"""SDK for usage, cost, budgets, statements and prices. Rows are the API's JSON."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {
    "usage": "Usage",
    "billing": "Billing",
}


class Usage:
    def __init__(self, client: Client):
        self._client = client

    def get(self, **query: Any) -> Json:
        """Return GPU time, queue and statistics of jobs.

        `query`: range (24h, 7d, 30d, 90d), first and last (dates), team, cluster, pool, class.
        """
        return self._client.get("usage", **query)

    def waste(self, **query: Any) -> Json:
        """Return where GPU time went as `buckets`, and the jobs that wasted most as `items`."""
        return self._client.get("waste", **query)

    def fleet(self, **query: Any) -> Json:
        """Return the usage of the installation, with its capacity (operators)."""
        found: Json = self._client.request("GET", "fleet-usage", query=query).json()
        return found


class Billing:
    def __init__(self, client: Client):
        self._client = client

    def cost(self, **query: Any) -> Json:
        """Return hours and cost by team and resource. `query`: first, last (dates), team."""
        return self._client.get("cost", **query)

    def budgets(self) -> builtins.list[Json]:
        return list(self._client.items("budgets"))

    def set_budget(self, amount: str, team: str | None = None, *, stops: bool = False) -> Json:
        """Set the monthly budget of the organization or a team."""
        body = {"amount": amount, "team": team, "stops": stops}
        return self._client.send("PUT", "budgets", body)

    def remove_budget(self, team: str | None = None) -> None:
        self._client.send("DELETE", "budgets", query={"team": team} if team else None)

    def statements(self) -> builtins.list[Json]:
        return list(self._client.items("statements"))

    def statement(self, month: str) -> Json:
        """Return the statement of a month such as 2027-01, or its draft."""
        return self._client.get(_at(month))

    def statement_file(self, month: str, kind: str) -> bytes:
        """Return a statement as `csv`, `focus`, `pdf`, or `lines` (of single jobs)."""
        path = self._client.within(_at(month))
        return self._client.request("GET", path, query={"as": kind}).content

    def issue(self, month: str) -> Json:
        """Issue the statement of a month that is over (operators)."""
        return self._client.send("POST", "statements", {"month": month})

    def prices(self) -> builtins.list[Json]:
        """Return all prices (operators)."""
        found: Json = self._client.request("GET", "prices").json()
        return list(found["items"])

    def set_price(self, resource: str, amount: str, currency: str, **more: Any) -> Json:
        """Set the price of an hour (operators). `more`: starts_on."""
        body = {"resource": resource, "amount": amount, "currency": currency, **more}
        made: Json = self._client.request("POST", "prices", body=body).json()
        return made

    def set_account(self, currency: str, mode: str, address: str = "") -> Json:
        """Set currency and mode of the organization (operators)."""
        body = {"currency": currency, "mode": mode, "address": address}
        return self._client.send("PUT", "billing-account", body)

    def discount(self, percent: str, team: str | None = None, **more: Any) -> Json:
        """Set a discount (operators). `more`: starts_on."""
        body = {"percent": percent, "team": team, **more}
        return self._client.send("POST", "discounts", body)

    def credit(self, amount: str, team: str | None = None, note: str = "") -> Json:
        """Give a credit that later statements use up (operators)."""
        body = {"amount": amount, "team": team, "note": note}
        return self._client.send("POST", "credits", body)


def _at(month: str) -> str:
    return f"statements/{quote(month, safe='')}"
