"""SDK for applications that sign in through the portal (operators). Rows are the API's JSON."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {"applications": "Applications"}


class Applications:
    """Applications of the installation."""

    def __init__(self, client: Client):
        self._client = client

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("applications"))

    def get(self, client_id: str) -> Json:
        return self._client.get(_of(client_id))

    def create(self, client_id: str, addresses: Sequence[str], name: str = "") -> Json:
        """Create an application; `addresses` are its exact redirect URIs.

        Only this answer contains the secret ("client_secret").
        """
        return self._client.send(
            "POST",
            "applications",
            {"client_id": client_id, "name": name, "addresses": [*addresses]},
        )

    def change(
        self, client_id: str, *, name: str | None = None, addresses: Sequence[str] | None = None
    ) -> Json:
        """Change the name, or replace all redirect URIs. None leaves a field unchanged."""
        given = {"name": name, "addresses": None if addresses is None else [*addresses]}
        return self._client.send(
            "PATCH",
            _of(client_id),
            {key: value for key, value in given.items() if value is not None},
        )

    def rotate(self, client_id: str) -> Json:
        """Replace the client secret, which only this answer contains. The old one is revoked."""
        return self._client.send("POST", f"{_of(client_id)}/secret")

    def remove(self, client_id: str) -> None:
        self._client.send("DELETE", _of(client_id))


def _of(client_id: str) -> str:
    return f"applications/{quote(client_id, safe='')}"
