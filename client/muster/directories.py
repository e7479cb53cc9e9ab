"""Directories and sign-in services, from Python. Rows are the API's JSON."""

from __future__ import annotations

import builtins
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client


_POLL = 0.5  # seconds


class Directories:
    """Of the organization; for operators those of the installation, too."""

    def __init__(self, client: Client):
        self._client = client

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("providers"))

    def get(self, slug: str) -> Json:
        """With its options and rules; secrets are never told."""
        return self._client.get(_of(slug))

    def connect(
        self,
        slug: str,
        kind: str,
        options: Mapping[str, Any],
        name: str = "",
        *,
        domains: Sequence[str] = (),
        is_wide: bool = False,
    ) -> Json:
        """`kind`: ldap, oidc, saml or scim. `domains` and `is_wide`, for the whole installation, are for operators."""
        wish = {
            "slug": slug,
            "kind": kind,
            "name": name,
            "options": dict(options),
            "domains": [*domains],
            "is_wide": is_wide,
        }
        return self._client.send("POST", "providers", wish)

    def change(self, slug: str, **given: Any) -> Json:
        """`options`, `name`, `domains`, `is_enabled`; what is not named stays."""
        return self._client.send("PATCH", _of(slug), given)

    def remove(self, slug: str) -> None:
        self._client.send("DELETE", _of(slug))

    def test(self, slug: str) -> Json:
        """{"is_ok", "message", "facts"}, once it is over."""
        test = self._client.send("POST", f"{_of(slug)}/test", {})
        return self._ended(test, f"provider-tests/{test.get('id')}")

    def set_rules(self, slug: str, rules: Sequence[Mapping[str, str]]) -> Json:
        """All of them, in order: [{"group", "org"?, "team"?, "role"}]."""
        return self._client.send(
            "PUT", f"{_of(slug)}/rules", {"rules": [dict(rule) for rule in rules]}
        )

    def runs(self, slug: str) -> builtins.list[Json]:
        """The latest first."""
        return list(self._client.items(f"{_of(slug)}/runs"))

    def sync(self, slug: str, *, is_dry: bool = False, accept: str = "") -> Json:
        """Ask it for everybody, and make people and roles follow; returns when that is over. `accept`: the id of a run that was stopped."""
        run = self._client.send(
            "POST",
            f"{_of(slug)}/runs",
            {"is_dry": is_dry, **({"accept": accept} if accept else {})},
        )
        return self._ended(run, f"{_of(slug)}/runs/{run['id']}")

    def _ended(self, row: Json, path: str) -> Json:
        """Of what the portal does in the background. A portal before it did so answers with the end at once."""
        while row.get("ended_at", "") is None:
            time.sleep(_POLL)
            row = self._client.get(path)
        return row


def _of(slug: str) -> str:
    return f"providers/{quote(slug, safe='')}"
