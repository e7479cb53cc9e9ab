"""SDK for sources of GPU measurements beside the node agents (operators)."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {"telemetry": "Telemetry"}


class Telemetry:
    def __init__(self, client: Client):
        self._client = client

    def list(self) -> builtins.list[Json]:
        return builtins.list(self._call("GET", "telemetry-sources")["items"])

    def get(self, name: str) -> Json:
        return self._call("GET", _at(name))

    def add(self, name: str, kind: str, cluster: str, urls: str, **settings: Any) -> Json:
        """Add a source. `kind`: dcgm or prometheus; `settings`: matchers, interval, token."""
        body = {"name": name, "kind": kind, "cluster": cluster, "urls": urls, **settings}
        return self._call("POST", "telemetry-sources", body)

    def change(self, name: str, **settings: Any) -> Json:
        """Change urls, matchers, interval, token or is_enabled."""
        return self._call("PATCH", _at(name), settings)

    def test(self, name: str) -> Json:
        """Read a source once; returns `is_ok`, `problem`, `nodes` and `unknown` hosts."""
        return self._call("POST", f"{_at(name)}/test", {})

    def fill(self, name: str, since: str) -> Json:
        """Read the history of a Prometheus from a time on (ISO 8601)."""
        return self._call("POST", f"{_at(name)}/history", {"since": since})

    def remove(self, name: str) -> None:
        self._call("DELETE", _at(name))

    def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        answer = self._client.request(method, path, **({} if body is None else {"body": body}))
        data: Json = answer.json() if answer.content and answer.status_code != 204 else {}
        return data


def _at(name: str) -> str:
    return f"telemetry-sources/{quote(name, safe='')}"
