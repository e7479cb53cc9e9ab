"""SDK for organizations, teams, members, roles, quotas, tokens, nodes and secrets.

Rows are the API's JSON.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster.errors import Json

if TYPE_CHECKING:
    from muster.client import Client

RESOURCES = {
    "teams": "Teams",
    "members": "Members",
    "quotas": "Quotas",
    "approvals": "Approvals",
    "tokens": "Tokens",
    "nodes": "Nodes",
    "gpus": "Gpus",
    "roles": "Roles",
    "access": "Access",
    "service_accounts": "ServiceAccounts",
    "secrets": "Secrets",
    "invitations": "Invitations",
    "sign_ins": "SignIns",
    "people": "People",
    "organizations": "Organizations",
}


class _Resource:
    def __init__(self, client: Client):
        self._client = client


class Organizations(_Resource):
    def list(self) -> builtins.list[Json]:
        """Return the organizations that the user belongs to."""
        found: builtins.list[Json] = self._client.request("GET", "orgs").json()["items"]
        return found

    def create(self, slug: str, owner: str, *, name: str = "", owner_name: str = "") -> Json:
        """Create an organization (operators).

        In the answer, `url` is the link with which a new owner sets a password, or None.
        """
        body = {"slug": slug, "name": name, "owner": owner, "owner_name": owner_name}
        made: Json = self._client.request("POST", "orgs", body=body).json()
        return made


class Teams(_Resource):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("teams"))

    def get(self, slug: str) -> Json:
        return self._client.get(f"teams/{_safe(slug)}")

    def create(self, slug: str, name: str = "") -> Json:
        return self._client.send("POST", "teams", {"slug": slug, "name": name or slug})

    def members(self, slug: str) -> builtins.list[Json]:
        return list(self._client.items(f"teams/{_safe(slug)}/members"))

    def add(self, slug: str, email: str, role: str = "member") -> Json:
        """Add a person to a team. Roles: lead, member, viewer or a custom role."""
        return self._client.send(
            "POST", f"teams/{_safe(slug)}/members", {"email": email, "role": role}
        )

    def remove(self, slug: str, email: str) -> None:
        self._client.send("DELETE", f"teams/{_safe(slug)}/members/{_safe(email)}")

    def rules(self, slug: str) -> Json:
        """Return the job rules. Run times are in seconds; None or empty means no rule."""
        return self._client.get(f"teams/{_safe(slug)}/rules")

    def set_rules(self, slug: str, **rules: int | str | Sequence[str] | None) -> Json:
        """Set job rules; those left out keep their values.

        Rules: max_runtime, default_runtime (seconds), max_gpus, images, pools, default_pool.
        """
        return self._client.send("PUT", f"teams/{_safe(slug)}/rules", rules)


class Members(_Resource):
    def list(self, q: str = "") -> builtins.list[Json]:
        """Return all members, or those whose e-mail address or name contains `q`."""
        return list(self._client.items("members", limit=200, q=q))

    def add(self, email: str, name: str = "", role: str = "member") -> Json:
        """Add a person to the organization.

        Roles: owner, admin, user-admin, member, viewer, billing-viewer or a custom role.
        """
        return self._client.send("POST", "members", {"email": email, "name": name, "role": role})

    def change(self, email: str, role: str) -> Json:
        return self._client.send("PATCH", f"members/{_safe(email)}", {"role": role})

    def remove(self, email: str) -> None:
        self._client.send("DELETE", f"members/{_safe(email)}")


class Roles(_Resource):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("roles"))

    def get(self, slug: str) -> Json:
        return self._client.get(f"roles/{_safe(slug)}")

    def create(
        self, slug: str, permissions: Sequence[str], *, kind: str = "org", name: str = ""
    ) -> Json:
        """Create a custom role; `kind` is org or team."""
        return self._client.send(
            "POST",
            "roles",
            {"slug": slug, "kind": kind, "name": name or slug, "permissions": [*permissions]},
        )

    def change(
        self, slug: str, *, permissions: Sequence[str] | None = None, name: str | None = None
    ) -> Json:
        """Change the name, or replace all permissions. None leaves a field unchanged."""
        changes = {"permissions": None if permissions is None else [*permissions], "name": name}
        return self._client.send(
            "PATCH",
            f"roles/{_safe(slug)}",
            {key: value for key, value in changes.items() if value is not None},
        )

    def delete(self, slug: str) -> None:
        self._client.send("DELETE", f"roles/{_safe(slug)}")


class Access(_Resource):
    def why(self, permission: str, *, user: str = "", team: str = "", job: str = "") -> Json:
        """Explain a person's permission: `allowed`, `steps` and `would_allow`.

        Without `user`, explains it for the current token.
        """
        body = {
            "permission": permission,
            "user": user,
            "team": team,
            "about": f"job:{job.removeprefix('#')}" if job else "",
        }
        return self._client.get("access", **{key: value for key, value in body.items() if value})


class Quotas(_Resource):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("quotas"))

    def set(self, resource: str, limit: float | None, *, team: str = "", user: str = "") -> Json:
        """Set the limit of a team, a person or the organization; None clears it.

        `cpu` is in cores, `memory` and `storage` in bytes.
        """
        return self.change(resource, team=team, user=user, limit=limit)

    def change(
        self, resource: str, *, team: str = "", user: str = "", **amounts: float | None
    ) -> Json:
        """Change `limit`, `guaranteed` or both; what is left out stays.

        With `was`, only if that is the limit now, None for none; else it raises Conflict.
        """
        scope = "team" if team else "user" if user else "org"
        return self._client.send(
            "PUT",
            "quotas",
            {"scope": scope, "subject": team or user, "resource": resource, **amounts},
        )

    def set_many(self, changes: Sequence[Json]) -> builtins.list[Json]:
        """Apply all changes or none.

        Each has scope, subject, resource, and limit, guaranteed or both; `was` as for `change`.
        """
        found: builtins.list[Json] = self._client.send("PATCH", "quotas", {"changes": [*changes]})[
            "items"
        ]
        return found

    def requests(self) -> builtins.list[Json]:
        """Return quota requests, open ones first: your own, or all if you may set limits."""
        return list(self._client.items("quotas/requests"))

    def request(
        self,
        resource: str,
        amount: float,
        *,
        team: str = "",
        user: str = "",
        why: str = "",
        job: int | None = None,
    ) -> Json:
        """Request a higher limit for a team, a person or the organization."""
        scope = "team" if team else "user" if user else "org"
        body = {
            "scope": scope,
            "subject": team or user,
            "resource": resource,
            "amount": amount,
            "why": why,
            "job": job,
        }
        return self._client.send("POST", "quotas/requests", body)

    def decide(self, request_id: str, do: str, word: str = "") -> Json:
        """Decide a request: `do` is approve, decline or withdraw (your own request).

        Approving raises the limit at once. `word` is a message to the requester.
        """
        return self._client.send(
            "POST", f"quotas/requests/{_safe(request_id)}", {"do": do, "word": word}
        )


class Approvals(_Resource):
    """Requests of every kind: quota, pool, model."""

    def list(self) -> builtins.list[Json]:
        """Return the open requests that you made or may decide."""
        return list(self._client.items("approvals"))

    def get(self, kind: str, request_id: str) -> Json:
        """Return a request with its history."""
        return self._client.get(f"approvals/{_safe(kind)}/{_safe(request_id)}")

    def step(self, kind: str, request_id: str, do: str, word: str = "") -> Json:
        """Approve, decline, withdraw or comment a request; `may` of a request lists the steps."""
        path = f"approvals/{_safe(kind)}/{_safe(request_id)}"
        return self._client.send("POST", path, {"do": do, "word": word})


class Tokens(_Resource):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("tokens"))

    def create(
        self,
        name: str,
        scopes: Sequence[str] = ("all",),
        *,
        team: str | None = None,
        days: int | None = 90,
        networks: Sequence[str] = (),
        cluster: str = "",
    ) -> Json:
        """Create a token. Only this answer contains the secret ("token").

        `days` None: never expires. `networks`: CIDRs from which it is accepted; empty for all.
        `cluster`: of a node agent, whose nodes it may report; needs the scope agent:write alone.
        """
        body = _body(name, scopes, team, days, networks)
        return self._client.send("POST", "tokens", body | ({"cluster": cluster} if cluster else {}))

    def rotate(self, token_id: str, overlap_hours: int = 24) -> Json:
        """Create a replacement with the same scopes; only this answer contains its secret.

        The old token stays valid for `overlap_hours`.
        """
        return self._client.send(
            "POST", f"tokens/{_safe(token_id)}/rotate", {"overlap_hours": overlap_hours}
        )

    def revoke(self, token_id: str) -> None:
        self._client.send("DELETE", f"tokens/{_safe(token_id)}")


class ServiceAccounts(_Resource):
    """Non-human members of the organization."""

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("service-accounts"))

    def get(self, name: str) -> Json:
        return self._client.get(f"service-accounts/{_safe(name)}")

    def create(self, name: str, *, note: str = "", role: str = "member") -> Json:
        """Create a service account. Roles: admin, member, viewer; not above your own."""
        return self._client.send(
            "POST", "service-accounts", {"name": name, "note": note, "role": role}
        )

    def change(self, name: str, **changes: str) -> Json:
        """Change `role` or `note`."""
        return self._client.send("PATCH", f"service-accounts/{_safe(name)}", changes)

    def remove(self, name: str) -> None:
        self._client.send("DELETE", f"service-accounts/{_safe(name)}")

    def tokens(self, name: str) -> builtins.list[Json]:
        return list(self._client.items(f"service-accounts/{_safe(name)}/tokens"))

    def create_token(
        self,
        name: str,
        token: str,
        scopes: Sequence[str] = ("all",),
        *,
        team: str | None = None,
        days: int | None = 90,
        networks: Sequence[str] = (),
    ) -> Json:
        """Create a token for the account; arguments as for `tokens.create`."""
        return self._client.send(
            "POST",
            f"service-accounts/{_safe(name)}/tokens",
            _body(token, scopes, team, days, networks),
        )


class Nodes(_Resource):
    def list(self, health: str = "") -> builtins.list[Json]:
        """Return the nodes; `health` narrows them: unhealthy, quarantined, draining, warning."""
        query: dict[str, Any] = {"health": health} if health else {}
        return list(self._client.items("nodes", **query))

    def get(self, name: str) -> Json:
        return self._client.get(f"nodes/{_safe(name)}")

    def metrics(self, name: str, **query: int) -> Json:
        """Return a node's metrics. Query: start and end (Unix ms), max_points."""
        return self._client.get(f"nodes/{_safe(name)}/metrics", **query)


class Gpus(_Resource):
    def capacity(self) -> builtins.list[Json]:
        """Return the GPUs of each class by cluster and pool: total, free, and free next."""
        return list(self._client.items("capacity"))

    def list(self, **filters: str) -> builtins.list[Json]:
        """Return the physical GPUs. Filters: state, q, node, cluster, model."""
        return list(self._client.items("gpus", None, **filters))

    def fleet(self, by: str = "model") -> builtins.list[Json]:
        """Return measurements of all GPUs by "model", "rack", "pool" or "cluster"."""
        return list(self._client.get(f"fleet?by={_safe(by)}")["items"])

    def get(self, uuid: str) -> Json:
        return self._client.get(f"gpus/{_safe(uuid)}")


class Secrets(_Resource):
    """Write-only values for jobs. `where` is a team, or "org" for the organization."""

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("secrets"))

    def set(self, where: str, name: str, value: str) -> Json:
        """Store a new version, which references without a version now use."""
        return self._client.send("PUT", f"secrets/{_safe(where)}/{_safe(name)}", {"value": value})

    def delete(self, where: str, name: str, version: int | None = None) -> None:
        """Delete a secret, or one version that is not the newest."""
        of = f"/versions/{version}" if version is not None else ""
        self._client.send("DELETE", f"secrets/{_safe(where)}/{_safe(name)}{of}")


class Invitations(_Resource):
    """Invitation links, each valid once."""

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("invitations"))

    def create(
        self,
        email: str,
        *,
        name: str = "",
        role: str = "member",
        teams: dict[str, str] | None = None,
        days: int = 7,
        send: bool = False,
    ) -> Json:
        """Invite a person; `teams` maps team to role. Only this answer contains the link ("url").

        `send` also e-mails it.
        """
        body = {
            "email": email,
            "name": name,
            "role": role,
            "teams": teams or {},
            "days": days,
            "send": send,
        }
        return self._client.send("POST", "invitations", body)

    def renew(self, invitation_id: str, *, send: bool = False) -> Json:
        """Replace the link of an invitation. The old link stops working."""
        return self._client.send(
            "POST", f"invitations/{_safe(invitation_id)}/renew", {"send": send}
        )

    def revoke(self, invitation_id: str) -> None:
        self._client.send("DELETE", f"invitations/{_safe(invitation_id)}")


class People(_Resource):
    """Bulk import of people."""

    def import_csv(
        self, text: str, *, dry_run: bool = False, add: bool = False, send: bool = False
    ) -> Json:
        """Invite or add the people in a CSV file; existing members join the listed teams.

        Only this answer contains `links`. With `faults` or `dry_run`, nothing is changed.
        """
        return self._client.send(
            "POST", "people/import", {"csv": text, "dry_run": dry_run, "add": add, "send": send}
        )


class SignIns(_Resource):
    """The browsers in which the user is signed in."""

    def list(self) -> builtins.list[Json]:
        found: builtins.list[Json] = self._client.request("GET", "me/sessions").json()["items"]
        return found

    def end(self, session_id: str = "") -> None:
        """Sign out one browser, or all."""
        self._client.request(
            "DELETE", f"me/sessions/{_safe(session_id)}" if session_id else "me/sessions"
        )


def _body(
    name: str, scopes: Sequence[str], team: str | None, days: int | None, networks: Sequence[str]
) -> Json:
    return {
        "name": name,
        "scopes": list(scopes),
        "team": team or None,
        "days": days,
        **({"networks": list(networks)} if networks else {}),
    }


def _safe(part: str) -> str:
    return quote(part, safe="@")
