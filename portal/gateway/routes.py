"""Read which port of which job a request is for, and where its ticket is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from portal.gateway.heads import MessageHead
from portal.gateway.provider import Address

PATHS = b"/_apps/"  # on the portal's own host; no organization's slug begins with _
TUNNEL = b"/_apps/tunnel"
GO = b"/_muster/go"  # on an app's own origin, where a code is exchanged for a cookie
_LABEL = re.compile(
    r"([a-z][a-z0-9]*(?:-[a-z0-9]+)*)--([1-9][0-9]{0,9})(?:t([0-9]{1,6}))?-([a-z][a-z0-9-]*)"
)
_PATH = re.compile(
    rb"(/_apps/([a-z][a-z0-9-]*)/([1-9][0-9]{0,9})(?:\.([0-9]{1,6}))?/([a-z][a-z0-9]*(?:-[a-z0-9]+)*))"
    rb"(?:/~([A-Za-z0-9_=-]+))?(/.*|\?.*)?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes.

    `target` is what the app sees. `prefix` is empty on the app's own origin; else it is the path of
    the app on the portal's host, and `ticket` what follows it there.
    """

    address: Address
    target: bytes
    prefix: bytes = b""
    ticket: str = ""

    @property
    def is_go(self) -> bool:
        """Return whether a browser comes back from the portal with a code."""
        if self.prefix:
            return self.ticket == "go"
        return self.target.partition(b"?")[0] == GO


def label(address: Address) -> str:
    """Return the first label of the host name of an app's own origin."""
    task = f"t{address.task}" if address.task else ""
    return f"{address.name}--{address.number}{task}-{address.org}"


def path(address: Address) -> str:
    """Return the path of an app on the portal's host, without / at its end."""
    task = f".{address.task}" if address.task else ""
    return f"/_apps/{address.org}/{address.number}{task}/{address.name}"


def route_of(head: MessageHead, apps_host: str) -> Route | None:
    """Return the route of a request; None if it is for no app. `apps_host` may be empty."""
    host = head.get(b"host").decode("latin1").lower()
    if apps_host and host.endswith(f".{apps_host}"):
        found = _LABEL.fullmatch(host.removesuffix(f".{apps_host}"))
        if not found:
            return None
        address = Address(found[4], int(found[2]), found[1], int(found[3] or 0))
        return Route(address, head.target)
    inside = _PATH.fullmatch(head.target)
    if not inside:
        return None
    org, name = inside[2].decode(), inside[5].decode()
    address = Address(org, int(inside[3]), name, int(inside[4] or 0))
    rest = inside[7] or b"/"
    target = rest if rest.startswith(b"/") else b"/" + rest
    return Route(address, target, inside[1], (inside[6] or b"").decode())
