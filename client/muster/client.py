"""API client, for example `Client().jobs.submit({"run": "python train.py"})`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muster import settings
from muster.declarations import declared
from muster.errors import InvalidInput, Json, MusterError, NotAuthenticated
from muster.transport import TRIES, Transport

if TYPE_CHECKING:
    import httpx

    from muster.applications import Applications
    from muster.audit import Audit
    from muster.clusters import Clusters, Mig, Pools
    from muster.datasets import Checkpoints, Datasets
    from muster.directories import Directories
    from muster.experiments import Experiments, Runs
    from muster.jobs import Jobs
    from muster.models import Models
    from muster.notifications import NotificationChannels, Notifications
    from muster.organization import (
        Access,
        Approvals,
        Gpus,
        Invitations,
        Members,
        Nodes,
        Organizations,
        People,
        Quotas,
        Roles,
        Secrets,
        ServiceAccounts,
        SignIns,
        Teams,
        Tokens,
    )
    from muster.sessions import Sessions
    from muster.telemetry import Telemetry
    from muster.usage import Billing, Usage
    from muster.workspaces import Workspaces


@cache
def resources() -> dict[str, tuple[str, str]]:
    """Return the resources of a client by name, each with its module and its class."""
    return declared(Path(__file__).parent, "RESOURCES")


class Client:
    """A connection to one portal.

    `url`, `token`, `org` and `team` default to MUSTER_URL, MUSTER_TOKEN, MUSTER_ORG and
    MUSTER_TEAM, then to the settings stored by `muster login`. `timeout` is in seconds.

    Requests are retried on connection errors, 408, 425, 429 and 5xx, honouring Retry-After. Each
    POST carries an Idempotency-Key, so that a retry has no second effect. All calls raise
    MusterError.

    Its resources are RESOURCES of the modules of this package, made at first use.
    """

    # For editors: a resource also works without its line here
    jobs: Jobs
    teams: Teams
    members: Members
    quotas: Quotas
    approvals: Approvals
    tokens: Tokens
    nodes: Nodes
    gpus: Gpus
    telemetry: Telemetry
    roles: Roles
    access: Access
    audit: Audit
    clusters: Clusters
    pools: Pools
    mig: Mig
    service_accounts: ServiceAccounts
    secrets: Secrets
    invitations: Invitations
    sessions: Sessions
    sign_ins: SignIns
    directories: Directories
    people: People
    applications: Applications
    organizations: Organizations
    models: Models
    notifications: Notifications
    notification_channels: NotificationChannels
    datasets: Datasets
    checkpoints: Checkpoints
    workspaces: Workspaces
    usage: Usage
    billing: Billing
    experiments: Experiments
    runs: Runs

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        org: str | None = None,
        team: str | None = None,
        *,
        timeout: float = 30,
        tries: int = TRIES,
    ):
        self.settings = settings.load(url=url, token=token, org=org, team=team)
        if not self.settings.url:
            raise InvalidInput(
                "No portal is configured. Run `muster login URL`, or set MUSTER_URL.", code="no_url"
            )
        self.team = self.settings.team
        self._transport = Transport(
            self.settings.url, self.settings.token, timeout=timeout, tries=tries
        )

    def __getattr__(self, name: str) -> Any:
        """Make a resource at its first use, and import its module only then."""
        if name not in resources():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        module, kind = resources()[name]
        made = getattr(import_module(f"muster.{module}"), kind)(self)
        setattr(self, name, made)
        return made

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
        """The configured organization, else the user's only one. Raises InvalidInput."""
        if self.settings.org:
            return self.settings.org
        mine = [str(org["slug"]) for org in self.me()["orgs"]]
        if len(mine) == 1:
            return mine[0]
        if not mine:
            raise InvalidInput(
                "You have no organization, or you are suspended. Contact an administrator.",
                code="no_org",
            )
        raise InvalidInput(
            "No organization is selected. "
            f"Use --org, or set MUSTER_ORG, with one of: {', '.join(mine)}.",
            code="no_org",
        )

    def me(self) -> Json:
        """Return the current user: email, name, orgs with roles and teams, and token scopes."""
        me: Json = self.request("GET", "me").json()
        return me

    def within(self, path: str) -> str:
        """Return `path` below the organization's API path."""
        return f"orgs/{quote(self.org, safe='')}/{path}"

    def get(self, path: str, **query: Any) -> Any:
        """GET a resource of the organization: a shape of `muster.shapes`."""
        return self.request("GET", self.within(path), query=query).json()

    def send(
        self, method: str, path: str, body: Json | None = None, query: Json | None = None
    ) -> Any:
        """Send a change to a resource of the organization; returns {} for an empty answer."""
        answer = self.request(
            method, self.within(path), body=body if body is not None else {}, query=query
        )
        return answer.json() if answer.content and answer.status_code != 204 else {}

    def items(
        self, path: str, most: int | None = None, *, cursor_name: str = "cursor", **query: Any
    ) -> Iterator[Any]:
        """Iterate over all items of a list, fetching pages as needed."""
        cursor, count = "", 0
        while most is None or count < most:
            page = self.get(path, **query, **({cursor_name: cursor} if cursor else {}))
            for item in page["items"][: None if most is None else most - count]:
                yield item
                count += 1
            cursor = page.get("next") or ""
            if not cursor:
                return

    def lineage(self, of: str, *, depth: int | None = None) -> Json:
        """Return the graph around `dataset:NAME@REVISION`, `job:NUMBER`, `run:ID`, `model:…`.

        `nodes` have id, kind, title, page and level; `links` go from `source` to `target`.
        """
        return self.get("lineage", of=of, **({"depth": depth} if depth else {}))

    def storage(self, *, team: str = "", limit: int = 50) -> Json:
        """Return `totals` by kind, the `largest` things, and what is `unused` with next steps."""
        return self.get("storage/use", limit=limit, **({"team": team} if team else {}))

    def stream(self, path: str, query: Json, *, offset: int = 0) -> Iterator[bytes]:
        """Stream one answer below /api/v1/, from an offset on, without retries."""
        if not self.settings.token:
            raise NotAuthenticated(
                f"Not signed in to {self.url}. Run `muster login {self.url}`, or set MUSTER_TOKEN."
            )
        return self._transport.stream(path, query, offset=offset)

    def upload(self, path: str, file: Path) -> httpx.Response:
        """PUT a file below /api/v1/, with retries."""
        if not self.settings.token:
            raise NotAuthenticated(
                f"Not signed in to {self.url}. Run `muster login {self.url}`, or set MUSTER_TOKEN."
            )
        return self._transport.upload(path, file)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request below /api/v1/, with retries."""
        if not self.settings.token:
            raise NotAuthenticated(
                f"Not signed in to {self.url}. Run `muster login {self.url}`, or set MUSTER_TOKEN."
            )
        return self._transport.request(method, path, **options)


__all__ = ["Client", "MusterError"]
