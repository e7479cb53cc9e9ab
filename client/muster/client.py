"""The portal from Python: `Client().jobs.submit({"run": "python train.py"})`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster import settings
from muster.applications import Applications
from muster.audit import Audit
from muster.clusters import Clusters, Pools
from muster.directories import Directories
from muster.errors import InvalidInput, Json, MusterError, NotAuthenticated
from muster.jobs import Jobs
from muster.organization import (
    Access,
    Invitations,
    Members,
    Nodes,
    Organizations,
    People,
    Quotas,
    Roles,
    Secrets,
    ServiceAccounts,
    Sessions,
    Teams,
    Tokens,
)
from muster.transport import TRIES, Transport

if TYPE_CHECKING:
    import httpx


class Client:
    """`url`, `token`, `org` and `team` default to MUSTER_URL … MUSTER_TEAM, then to what `muster login` kept.

    Requests are tried again while the portal is away (connection errors, 408, 425, 429, 5xx; Retry-After is kept), each POST
    under one Idempotency-Key, so that it counts once. Times in seconds. Every call raises MusterError.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, org: str | None = None, team: str | None = None,
        *, timeout: float = 30, tries: int = TRIES,
    ):  # fmt: skip
        self.settings = settings.load(url=url, token=token, org=org, team=team)
        if not self.settings.url:
            raise InvalidInput(
                "Which portal? Run `muster login URL`, or set MUSTER_URL.", code="no_url"
            )
        self.team = self.settings.team
        self._transport = Transport(
            self.settings.url, self.settings.token, timeout=timeout, tries=tries
        )
        self.jobs, self.teams, self.members = Jobs(self), Teams(self), Members(self)
        self.quotas, self.tokens, self.nodes = Quotas(self), Tokens(self), Nodes(self)
        self.roles, self.access, self.audit = Roles(self), Access(self), Audit(self)
        self.clusters, self.pools = Clusters(self), Pools(self)
        self.service_accounts, self.secrets = ServiceAccounts(self), Secrets(self)
        self.invitations, self.sessions = Invitations(self), Sessions(self)
        self.directories, self.people = Directories(self), People(self)
        self.applications, self.organizations = Applications(self), Organizations(self)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    @property
    def url(self) -> str:
        return self.settings.url

    @cached_property
    def org(self) -> str:
        """The organization to work in: the one that is set, else the only one there is."""
        if self.settings.org:
            return self.settings.org
        mine = [str(org["slug"]) for org in self.me()["orgs"]]
        if len(mine) == 1:
            return mine[0]
        if not mine:
            raise InvalidInput(
                "You are in no organization, or suspended in yours: ask an administrator.",
                code="no_org",
            )
        raise InvalidInput(
            f"Which organization? Say --org, or set MUSTER_ORG, to one of: {', '.join(mine)}.",
            code="no_org",
        )

    def me(self) -> Json:
        """Who one is: email, name, orgs with roles and teams, and what the token is narrowed to."""
        told: Json = self.request("GET", "me").json()
        return told

    def within(self, path: str) -> str:
        """The same below the organization."""
        return f"orgs/{quote(self.org, safe='')}/{path}"

    def get(self, path: str, **query: Any) -> Json:
        """Any resource below the organization."""
        told: Json = self.request("GET", self.within(path), query=query).json()
        return told

    def send(
        self, method: str, path: str, body: Json | None = None, query: Json | None = None
    ) -> Json:
        """A change below the organization; {} where the answer is empty."""
        answer = self.request(
            method, self.within(path), body=body if body is not None else {}, query=query
        )
        told: Json = answer.json() if answer.content and answer.status_code != 204 else {}
        return told

    def items(
        self, path: str, most: int | None = None, *, cursor_name: str = "cursor", **query: Any
    ) -> Iterator[Json]:
        """All items of a list, a page at a time as they are asked for."""
        cursor, count = "", 0
        while most is None or count < most:
            page = self.get(path, **query, **({cursor_name: cursor} if cursor else {}))
            for item in page["items"][: None if most is None else most - count]:
                yield item
                count += 1
            cursor = page.get("next") or ""
            if not cursor:
                return

    def stream(self, path: str, query: Json) -> Iterator[bytes]:
        """One answer in pieces, below /api/v1/; asked for once."""
        if not self.settings.token:
            raise NotAuthenticated(
                f"Not signed in to {self.url}. Run `muster login {self.url}`, or set MUSTER_TOKEN."
            )
        return self._transport.stream(path, query)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One call below /api/v1/, tried again while that can help."""
        if not self.settings.token:
            raise NotAuthenticated(
                f"Not signed in to {self.url}. Run `muster login {self.url}`, or set MUSTER_TOKEN."
            )
        return self._transport.request(method, path, **options)


__all__ = ["Client", "MusterError"]
