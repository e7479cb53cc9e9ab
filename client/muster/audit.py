"""SDK for the audit trail. Rows are the API's JSON."""

from __future__ import annotations

import builtins
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from muster.errors import Json, Unavailable

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {"audit": "Audit"}


class Audit:
    """Audit events.

    `of_installation` selects events that belong to no organization (operators). Filters: actor,
    kind, subject, since, until, address, request.
    """

    def __init__(self, client: Client):
        self._client = client

    def list(
        self, most: int | None = None, *, of_installation: bool = False, **filters: str
    ) -> builtins.list[Json]:
        """Return events, newest first, at most `most`."""
        cursor: str = ""
        found: builtins.list[Json] = []
        while most is None or len(found) < most:
            limit = 200 if most is None else min(most - len(found), 200)
            page: Json = self._client.request(
                "GET",
                self._at("", of_installation),
                query={**filters, "cursor": cursor, "limit": limit},
            ).json()
            found += page["items"]
            cursor = page["next"] or ""
            if not cursor:
                break
        return found

    def export(
        self, form: str = "jsonl", *, of_installation: bool = False, **filters: str
    ) -> Iterator[bytes]:
        """Stream an export, oldest first; `form` is "jsonl" or "csv"."""
        return self._client.stream(
            self._at("/export", of_installation), query={**filters, "format": form}
        )

    def chain(self, *, of_installation: bool = False) -> Json:
        """Return how far the hash chain is sealed and the result of the last verification."""
        chain: Json = self._client.request("GET", self._at("/chain", of_installation)).json()
        return chain

    def verify(self, *, of_installation: bool = False, seconds: float = 600) -> Json:
        """Verify the whole chain and wait. Raises Unavailable after `seconds`."""
        self._client.request("POST", self._at("/verify", of_installation), body={})
        deadline, rest = time.monotonic() + seconds, 0.2
        while (chain := self.chain(of_installation=of_installation))["is_checking"]:
            if time.monotonic() > deadline:
                raise Unavailable(
                    "The verification is still running. Check it later: muster audit chain"
                )
            time.sleep(rest)
            rest = min(rest * 1.5, 5)
        return chain

    def _at(self, path: str, of_installation: bool) -> str:
        return f"audit{path}" if of_installation else self._client.within(f"audit{path}")
