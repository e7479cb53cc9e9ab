"""Applications that sign people in through the portal, from Python; for operators. Rows are the API's JSON."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client


class Applications:
    """Of the whole installation."""

    def __init__(self, client: Client):
        self._client = client

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("applications"))

    def get(self, client_id: str) -> Json:
        return self._client.get(_of(client_id))

    def create(self, client_id: str, addresses: Sequence[str], name: str = "") -> Json:
        """`addresses`: where answers may go, to the letter. The secret is in this answer ("client_secret"), and never again."""
        return self._client.send(
            "POST",
            "applications",
            {"client_id": client_id, "name": name, "addresses": [*addresses]},
        )

    def change(
        self, client_id: str, *, name: str | None = None, addresses: Sequence[str] | None = None
    ) -> Json:
        """`addresses`: all of them from now on; None leaves them."""
        given = {"name": name, "addresses": None if addresses is None else [*addresses]}
        return self._client.send(
            "PATCH",
            _of(client_id),
            {key: value for key, value in given.items() if value is not None},
        )

    def rotate(self, client_id: str) -> Json:
        """Another secret, in this answer only; the former ends at once."""
        return self._client.send("POST", f"{_of(client_id)}/secret")

    def remove(self, client_id: str) -> None:
        self._client.send("DELETE", _of(client_id))


def _of(client_id: str) -> str:
    return f"applications/{quote(client_id, safe='')}"
