"""SDK for directories and identity providers. Rows are the API's JSON."""

from __future__ import annotations

import builtins
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {"directories": "Directories"}
_POLL = 0.5  # seconds


class Directories:
    """The organization's directories; for operators, also those of the installation."""

    def __init__(self, client: Client):
        self._client = client

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("providers"))

    def get(self, slug: str) -> Json:
        """Return a directory with its options and group rules, without secrets."""
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
        """Connect a directory of kind ldap, oidc, saml or scim.

        Only operators may set `domains`, or `is_wide` for the whole installation.
        """
        body = {
            "slug": slug,
            "kind": kind,
            "name": name,
            "options": dict(options),
            "domains": [*domains],
            "is_wide": is_wide,
        }
        return self._client.send("POST", "providers", body)

    def change(self, slug: str, **given: Any) -> Json:
        """Change `options`, `name`, `domains` or `is_enabled`; the rest stays."""
        return self._client.send("PATCH", _of(slug), given)

    def remove(self, slug: str) -> None:
        self._client.send("DELETE", _of(slug))

    def test(self, slug: str, *, person: str = "") -> Json:
        """Test the connection and wait; returns {"is_ok", "message", "facts", "checks"}.

        `person`: a name that is looked for as at sign-in, in an LDAP directory.
        """
        test = self._client.send("POST", f"{_of(slug)}/test", {"person": person})
        return self._ended(test, f"provider-tests/{test.get('id')}")

    def set_rules(self, slug: str, rules: Sequence[Mapping[str, str]]) -> Json:
        """Replace all group rules, in order: [{"group", "org"?, "team"?, "role"}]."""
        return self._client.send(
            "PUT", f"{_of(slug)}/rules", {"rules": [dict(rule) for rule in rules]}
        )

    def runs(self, slug: str) -> builtins.list[Json]:
        """Return sync runs, latest first."""
        return list(self._client.items(f"{_of(slug)}/runs"))

    def sync(self, slug: str, *, is_dry: bool = False, accept: str = "") -> Json:
        """Sync people and roles and wait. `accept` is the id of a stopped run to apply."""
        run = self._client.send(
            "POST",
            f"{_of(slug)}/runs",
            {"is_dry": is_dry, **({"accept": accept} if accept else {})},
        )
        return self._ended(run, f"{_of(slug)}/runs/{run['id']}")

    def _ended(self, row: Json, path: str) -> Json:
        """Poll a background task until it ends. Older portals answer with the end at once."""
        while row.get("ended_at", "") is None:
            time.sleep(_POLL)
            row = self._client.get(path)
        return row


def _of(slug: str) -> str:
    return f"providers/{quote(slug, safe='')}"
