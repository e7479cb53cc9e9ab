"""Teams, members, quotas, tokens and nodes, from Python. Rows are the API's JSON."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client


class _Noun:
    def __init__(self, client: Client):
        self._client = client


class Teams(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("teams"))

    def get(self, slug: str) -> Json:
        return self._client.get(f"teams/{_safe(slug)}")

    def create(self, slug: str, name: str = "") -> Json:
        return self._client.send("POST", "teams", {"slug": slug, "name": name or slug})

    def members(self, slug: str) -> builtins.list[Json]:
        return list(self._client.items(f"teams/{_safe(slug)}/members"))

    def add(self, slug: str, email: str, role: str = "member") -> Json:
        """Roles: lead, member, viewer, or one of the organization's own."""
        return self._client.send("POST", f"teams/{_safe(slug)}/members", {"email": email, "role": role})

    def remove(self, slug: str, email: str) -> None:
        self._client.send("DELETE", f"teams/{_safe(slug)}/members/{_safe(email)}")


class Members(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("members"))

    def add(self, email: str, name: str = "", role: str = "member") -> Json:
        """Roles: owner, admin, user-admin, member, viewer, billing-viewer, or one of the organization's own."""
        return self._client.send("POST", "members", {"email": email, "name": name, "role": role})

    def change(self, email: str, role: str) -> Json:
        return self._client.send("PATCH", f"members/{_safe(email)}", {"role": role})

    def remove(self, email: str) -> None:
        self._client.send("DELETE", f"members/{_safe(email)}")


class Roles(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("roles"))

    def get(self, slug: str) -> Json:
        return self._client.get(f"roles/{_safe(slug)}")

    def create(self, slug: str, permissions: Sequence[str], *, kind: str = "org", name: str = "") -> Json:
        """`kind`: org, or team."""
        return self._client.send("POST", "roles", {"slug": slug, "kind": kind, "name": name or slug, "permissions": [*permissions]})

    def change(self, slug: str, *, permissions: Sequence[str] | None = None, name: str | None = None) -> Json:
        """`permissions`: all that it grants from now on; None leaves them."""
        changes = {"permissions": None if permissions is None else [*permissions], "name": name}
        return self._client.send("PATCH", f"roles/{_safe(slug)}", {key: value for key, value in changes.items() if value is not None})

    def delete(self, slug: str) -> None:
        self._client.send("DELETE", f"roles/{_safe(slug)}")


class Access(_Noun):
    def why(self, permission: str, *, user: str = "", team: str = "", job: str = "") -> Json:
        """Why that person (left out: oneself, with the token that asks) may or may not: `allowed`, `steps`, `would_allow`."""
        asked = {"permission": permission, "user": user, "team": team, "about": f"job:{job.removeprefix('#')}" if job else ""}
        return self._client.get("access", **{key: value for key, value in asked.items() if value})


class Quotas(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("quotas"))

    def set(self, resource: str, limit: float | None, *, team: str = "", user: str = "") -> Json:
        """A limit of a team, a person, or else the organization; None lifts it. `cpu` in cores, `memory` in bytes."""
        scope = "team" if team else "user" if user else "org"
        return self._client.send("PUT", "quotas", {"scope": scope, "subject": team or user, "resource": resource, "limit": limit})


class Tokens(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("tokens"))

    def create(self, name: str, scopes: Sequence[str] = ("all",), *, team: str | None = None, days: int | None = 90) -> Json:
        """The secret is in this answer ("token"), and never again. `days` None: it does not expire."""
        return self._client.send("POST", "tokens", {"name": name, "scopes": list(scopes), "team": team or None, "days": days})

    def revoke(self, token_id: str) -> None:
        self._client.send("DELETE", f"tokens/{_safe(token_id)}")


class Nodes(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("nodes"))

    def get(self, name: str) -> Json:
        return self._client.get(f"nodes/{_safe(name)}")

    def metrics(self, name: str, **query: int) -> Json:
        """Curves; `start` and `end` (Unix ms), `max_points`."""
        return self._client.get(f"nodes/{_safe(name)}/metrics", **query)


def _safe(part: str) -> str:
    return quote(part, safe="@")
