"""What the gateway asks the app above it: who may use which port of a job, and where it is.

All methods are called in threads and may use the database. They raise leaves of `PortalError`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from portal.core.errors import PortalError


class NotServing(PortalError):
    """The port does not answer: its job has ended, or the program in it."""

    code, http = "not_serving", 502


class NotReady(NotServing):
    """The port does not answer yet: its job has not started, or the program in it."""

    code, http = "not_ready", 503
    retryable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Address:
    """A port of a job, as the address of a request names it. `task` is that of an array, else 0."""

    org: str
    number: int
    name: str
    task: int = 0


@dataclass(frozen=True, slots=True)
class Credential:
    """What a request brings: an access token, or the ticket of a browser. `client` is its address."""

    token: str = field(default="", repr=False)
    ticket: str = field(default="", repr=False)
    client: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """Permission to use one port. `key` and `port` identify it; connections count for `person`.

    `authorization` is a header for the app, whose secret no browser and no neighbour has. `shell` is
    that of a port that the gateway serves itself over SSH, for the shell of the job behind it. `is_counted`
    is false for the portal itself, whose questions are no use. `is_read_only`: requests that read pass,
    also by POST at the paths in `posts`; what the client says over a websocket is dropped.
    """

    key: str
    port: int
    person: str
    authorization: str = field(default="", repr=False)
    shell: str = field(default="", repr=False)
    is_counted: bool = True
    is_read_only: bool = False
    posts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """How a port is reached: `host` and `port`, a function that connects, else by the tunnel."""

    host: str = ""
    port: int = 0
    connect: Callable[[], socket.socket] | None = None


@dataclass(frozen=True, slots=True)
class ShellKeys:
    """What a client may sign in with: keys, and certificates that `authorities` have signed.

    `host_key` is the portal's private key for SSH; the others are public ones, all of OpenSSH's form.
    """

    host_key: str = field(repr=False)
    authorities: tuple[str, ...]
    authorized: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PortUse:
    """What happened at a port since the last report. `at` is a time in seconds since 1970."""

    key: str
    port: int
    at: float
    streams: int  # connections that are open now and are no plain requests, such as websockets
    has_answered: bool = False
    person_at: float = 0  # of the last sign of a person; 0: none
    people: tuple[str, ...] = ()  # who used it since the last report, or has a stream open


class EndpointProvider(Protocol):
    def admit(self, address: Address, credential: Credential) -> Grant:
        """Return the grant. Raises NotFound, NotAuthenticated, NotPermitted, NotServing, NotReady."""

    def locate(self, grant: Grant) -> Target:
        """Return where the port is now. Raises NotServing, Unavailable."""

    def portal_address(self, address: Address, nonce: str, path: str, *, is_below: bool) -> str:
        """Return the page of the portal that sends a browser back with a code.

        `is_below`: it asked below a path of the portal's host. An app with an origin of its own is
        opened there instead.
        """

    def redeem(self, code: str, nonce: str, address: Address) -> tuple[str, str]:
        """Return a ticket and a path for a code, which is used up. Raises NotPermitted."""

    def shell_keys(self, grant: Grant) -> ShellKeys:
        """Return what the person of a grant may sign in with over SSH, and record that they do."""

    def tunnel_key(self, token: str, client: str) -> str:
        """Return the key of the running attempt whose token this is. Raises NotAuthenticated."""

    def page(self, address: Address, credential: Credential, error: PortalError) -> bytes:
        """Return HTML that says why a port does not answer, to whoever may know it."""

    def is_starting(self, grant: Grant) -> bool:
        """Return whether a port that cannot be connected to has never answered."""

    def record(self, uses: Sequence[PortUse]) -> None:
        """Store when ports were used."""

    def access_changes(self, since: int) -> tuple[int, bool]:
        """Return where the record of changes ends, and whether access may have ended after `since`."""
