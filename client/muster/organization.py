"""Organizations, teams, members, service accounts, quotas, tokens and nodes, from Python. Rows are the API's JSON."""

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


class Organizations(_Noun):
    def list(self) -> builtins.list[Json]:
        """Those that one belongs to."""
        found: builtins.list[Json] = self._client.request("GET", "orgs").json()["items"]
        return found

    def create(self, slug: str, owner: str, *, name: str = "", owner_name: str = "") -> Json:
        """For platform operators. `url` is where an owner without a password sets one; else None."""
        wish = {"slug": slug, "name": name, "owner": owner, "owner_name": owner_name}
        made: Json = self._client.request("POST", "orgs", body=wish).json()
        return made


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
        return self._client.send(
            "POST", f"teams/{_safe(slug)}/members", {"email": email, "role": role}
        )

    def remove(self, slug: str, email: str) -> None:
        self._client.send("DELETE", f"teams/{_safe(slug)}/members/{_safe(email)}")

    def rules(self, slug: str) -> Json:
        """What its jobs may be; run times in seconds, None and empty: anything."""
        return self._client.get(f"teams/{_safe(slug)}/rules")

    def set_rules(self, slug: str, **rules: int | str | Sequence[str] | None) -> Json:
        """`max_runtime`, `default_runtime`, `max_gpus`, `images`, `pools`, `default_pool`; what is left out stays."""
        return self._client.send("PUT", f"teams/{_safe(slug)}/rules", rules)


class Members(_Noun):
    def list(self, q: str = "") -> builtins.list[Json]:
        """Everybody, or those whose address or name contains `q`."""
        return list(self._client.items("members", limit=200, q=q))

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

    def create(
        self, slug: str, permissions: Sequence[str], *, kind: str = "org", name: str = ""
    ) -> Json:
        """`kind`: org, or team."""
        return self._client.send(
            "POST",
            "roles",
            {"slug": slug, "kind": kind, "name": name or slug, "permissions": [*permissions]},
        )

    def change(
        self, slug: str, *, permissions: Sequence[str] | None = None, name: str | None = None
    ) -> Json:
        """`permissions`: all that it grants from now on; None leaves them."""
        changes = {"permissions": None if permissions is None else [*permissions], "name": name}
        return self._client.send(
            "PATCH",
            f"roles/{_safe(slug)}",
            {key: value for key, value in changes.items() if value is not None},
        )

    def delete(self, slug: str) -> None:
        self._client.send("DELETE", f"roles/{_safe(slug)}")


class Access(_Noun):
    def why(self, permission: str, *, user: str = "", team: str = "", job: str = "") -> Json:
        """Why that person (left out: oneself, with the token that asks) may or may not: `allowed`, `steps`, `would_allow`."""
        asked = {
            "permission": permission,
            "user": user,
            "team": team,
            "about": f"job:{job.removeprefix('#')}" if job else "",
        }
        return self._client.get("access", **{key: value for key, value in asked.items() if value})


class Quotas(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("quotas"))

    def set(self, resource: str, limit: float | None, *, team: str = "", user: str = "") -> Json:
        """A limit of a team, a person, or else the organization; None lifts it. `cpu` in cores, `memory` in bytes."""
        return self.change(resource, team=team, user=user, limit=limit)

    def change(
        self, resource: str, *, team: str = "", user: str = "", **amounts: float | None
    ) -> Json:
        """`limit`, `guaranteed`, or both; what is left out stays."""
        scope = "team" if team else "user" if user else "org"
        return self._client.send(
            "PUT",
            "quotas",
            {"scope": scope, "subject": team or user, "resource": resource, **amounts},
        )

    def set_many(self, changes: Sequence[Json]) -> builtins.list[Json]:
        """All of these or none; each with `scope`, `subject`, `resource`, and `limit`, `guaranteed` or both."""
        found: builtins.list[Json] = self._client.send("PATCH", "quotas", {"changes": [*changes]})[
            "items"
        ]
        return found

    def requests(self) -> builtins.list[Json]:
        """One's own for higher limits, and everybody's for who sets limits; what is open first."""
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
        """Ask for a limit of a team, a person, or else the organization that would be enough."""
        scope = "team" if team else "user" if user else "org"
        wish = {
            "scope": scope,
            "subject": team or user,
            "resource": resource,
            "amount": amount,
            "why": why,
            "job": job,
        }
        return self._client.send("POST", "quotas/requests", wish)

    def decide(self, request_id: str, do: str, word: str = "") -> Json:
        """`do`: approve (which raises the limit), decline, or withdraw what one asked oneself. `word` is for the asker."""
        return self._client.send(
            "POST", f"quotas/requests/{_safe(request_id)}", {"do": do, "word": word}
        )


class Tokens(_Noun):
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
    ) -> Json:
        """The secret is in this answer ("token"), and never again. `days` None: it does not expire. `networks`: CIDRs that it works
        from; none: from anywhere."""
        return self._client.send("POST", "tokens", _wish(name, scopes, team, days, networks))

    def rotate(self, token_id: str, overlap_hours: int = 24) -> Json:
        """A successor with the same rights; its secret is in this answer only. The old token works for the overlap."""
        return self._client.send(
            "POST", f"tokens/{_safe(token_id)}/rotate", {"overlap_hours": overlap_hours}
        )

    def revoke(self, token_id: str) -> None:
        self._client.send("DELETE", f"tokens/{_safe(token_id)}")


class ServiceAccounts(_Noun):
    """Members of the organization that are no people."""

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("service-accounts"))

    def get(self, name: str) -> Json:
        return self._client.get(f"service-accounts/{_safe(name)}")

    def create(self, name: str, *, note: str = "", role: str = "member") -> Json:
        """Roles: admin, member, viewer; none beyond one's own."""
        return self._client.send(
            "POST", "service-accounts", {"name": name, "note": note, "role": role}
        )

    def change(self, name: str, **changes: str) -> Json:
        """`role`, `note`."""
        return self._client.send("PATCH", f"service-accounts/{_safe(name)}", changes)

    def remove(self, name: str) -> None:
        self._client.send("DELETE", f"service-accounts/{_safe(name)}")

    def tokens(self, name: str) -> builtins.list[Json]:
        return list(self._client.items(f"service-accounts/{_safe(name)}/tokens"))

    def create_token(
        self, name: str, token: str, scopes: Sequence[str] = ("all",), *, team: str | None = None, days: int | None = 90,
        networks: Sequence[str] = (),
    ) -> Json:  # fmt: skip
        """A token of the account's; as with `tokens.create`."""
        return self._client.send(
            "POST",
            f"service-accounts/{_safe(name)}/tokens",
            _wish(token, scopes, team, days, networks),
        )


class Nodes(_Noun):
    def list(self) -> builtins.list[Json]:
        return list(self._client.items("nodes"))

    def get(self, name: str) -> Json:
        return self._client.get(f"nodes/{_safe(name)}")

    def metrics(self, name: str, **query: int) -> Json:
        """Curves; `start` and `end` (Unix ms), `max_points`."""
        return self._client.get(f"nodes/{_safe(name)}/metrics", **query)


class Secrets(_Noun):
    """Values that jobs get and nobody reads. `where`: a team, or "org" for the organization's."""

    def list(self) -> builtins.list[Json]:
        return list(self._client.items("secrets"))

    def set(self, where: str, name: str, value: str) -> Json:
        """A new version; references without a version mean it from now on."""
        return self._client.send("PUT", f"secrets/{_safe(where)}/{_safe(name)}", {"value": value})

    def delete(self, where: str, name: str, version: int | None = None) -> None:
        """All of it, or one version that is not the newest."""
        of = f"/versions/{version}" if version is not None else ""
        self._client.send("DELETE", f"secrets/{_safe(where)}/{_safe(name)}{of}")


class Invitations(_Noun):
    """Links by which people come in, each once."""

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
        """`teams`: role by team. The link is in this answer ("url"), and never again; `send` mails it, too."""
        wish = {
            "email": email,
            "name": name,
            "role": role,
            "teams": teams or {},
            "days": days,
            "send": send,
        }
        return self._client.send("POST", "invitations", wish)

    def renew(self, invitation_id: str, *, send: bool = False) -> Json:
        """Another link for the same; the former one stops working."""
        return self._client.send(
            "POST", f"invitations/{_safe(invitation_id)}/renew", {"send": send}
        )

    def revoke(self, invitation_id: str) -> None:
        self._client.send("DELETE", f"invitations/{_safe(invitation_id)}")


class People(_Noun):
    """Many at once."""

    def import_csv(
        self, text: str, *, dry_run: bool = False, add: bool = False, send: bool = False
    ) -> Json:
        """Invites whom the file names, or adds them; who is a member joins the teams. `links` are in this answer only. With `faults`, or
        `dry_run`, nothing was changed."""
        return self._client.send(
            "POST", "people/import", {"csv": text, "dry_run": dry_run, "add": add, "send": send}
        )


class Sessions(_Noun):
    """Where one is signed in with a browser."""

    def list(self) -> builtins.list[Json]:
        found: builtins.list[Json] = self._client.request("GET", "me/sessions").json()["items"]
        return found

    def end(self, session_id: str = "") -> None:
        """One, or all of them."""
        self._client.request(
            "DELETE", f"me/sessions/{_safe(session_id)}" if session_id else "me/sessions"
        )


def _wish(
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
