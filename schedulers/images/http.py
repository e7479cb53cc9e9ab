"""Read from a registry that a user named, safely.

Whoever types an image name chooses where the portal connects to (SSRF). So: only https, only public
addresses and registries configured by the operator, the verified address is the one connected to,
responses are limited, and all connections are closed after a total time limit.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import SplitResult, urljoin, urlsplit

from portal.core import addresses

REDIRECTS = 3
_MOVED = {301, 302, 303, 307, 308}
_AGENT = "muster-image-check"


class Unreadable(Exception):
    """The image's config could not be read.

    The message says why, for people; it quotes nothing of the response.
    """


@dataclass(frozen=True)
class Policy:
    """Which registries may be contacted.

    `trusted`: hosts (optionally with port) configured by the operator, at any address; `plain`:
    those of them that use http. `ca_file`: further trusted certificates. `seconds`: time limit for
    everything together.
    """

    trusted: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    ca_file: str = ""
    seconds: float = 3.0


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    def json(self) -> dict[str, Any]:
        """Parse the body. Raises Unreadable for anything but a JSON object."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unreadable("the registry's answer is no JSON object")
        return found


@dataclass
class RegistryClient:
    """The connections for one image, reused while they stay open.

    A context manager; when the time is over, connections are closed even while reading.
    """

    policy: Policy
    _open: dict[tuple[str, str], http.client.HTTPConnection] = field(default_factory=dict)
    _sockets: list[socket.socket] = field(default_factory=list)
    _is_over: bool = False

    def __enter__(self) -> Self:
        self._ends_at = time.monotonic() + self.policy.seconds
        self._alarm = threading.Timer(self.policy.seconds, self._cut)
        self._alarm.daemon = True
        self._alarm.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._alarm.cancel()
        for sock in self._sockets:
            sock.close()

    def base_of(self, host: str) -> str:
        return f"{'http' if host in self.policy.plain else 'https'}://{host}"

    def get(self, url: str, *, limit: int, accept: str = "*/*", authorization: str = "") -> Answer:
        """Read at most `limit` bytes, following redirects.

        Authorization is dropped on redirects to another host. Raises Unreadable.
        """
        for _ in range(REDIRECTS + 1):
            answer = self._ask(_split(url), limit, accept, authorization)
            if answer.status not in _MOVED or "location" not in answer.headers:
                return answer
            target = _joined(url, answer.headers["location"])
            if _split(target)[:2] != _split(url)[:2]:
                authorization = ""
            url = target
        raise Unreadable("the registry redirects without end")

    def _ask(self, url: SplitResult, limit: int, accept: str, authorization: str) -> Answer:
        headers = {
            "Accept": accept,
            "User-Agent": _AGENT,
            **({"Authorization": authorization} if authorization else {}),
        }
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        try:
            is_used = (url.scheme, url.netloc) in self._open
            try:
                return self._exchange(url, target, headers, limit)
            except (http.client.RemoteDisconnected, ConnectionError, BrokenPipeError):
                if not is_used:
                    raise
                # retry once: the server closed an idle connection
                return self._exchange(url, target, headers, limit)
        except Unreadable:
            raise
        except ssl.SSLError as error:
            raise Unreadable(
                self._late()
                or f"the registry's certificate is not trusted or it speaks no TLS ({error.reason or 'error'})"
            ) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreadable(self._late() or "the registry does not answer") from error

    def _exchange(
        self, url: SplitResult, target: str, headers: Mapping[str, str], limit: int
    ) -> Answer:
        connection = self._open.pop((url.scheme, url.netloc), None) or self._connect(url)
        connection.request("GET", target, headers=dict(headers))
        response = connection.getresponse()
        if response.length is not None and response.length > limit:
            raise Unreadable("the registry's answer is larger than any image's config")
        body = response.read(limit + 1)
        if len(body) > limit:
            raise Unreadable("the registry's answer is larger than any image's config")
        if response.length:
            raise Unreadable(self._late() or "the registry's answer ended too early")
        self._left()  # a closed connection looks like the end of a response
        if response.isclosed() and not response.will_close:
            self._open[url.scheme, url.netloc] = connection
        return Answer(
            response.status, {name.lower(): value for name, value in response.getheaders()}, body
        )

    def _connect(self, url: SplitResult) -> http.client.HTTPConnection:
        """Connect to a verified address.

        http.client gets the connected socket, so no name is resolved twice.
        """
        host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
        address = self._address(url, host, port)
        sock = socket.create_connection(address[:2], timeout=self._left())
        self._keep(sock)
        if url.scheme == "https":
            secure = addresses.tls_context(self.policy.ca_file).wrap_socket(
                sock, server_hostname=host, do_handshake_on_connect=False
            )
            self._keep(secure)
            secure.do_handshake()
            sock = secure
        connection = http.client.HTTPConnection(host, port)
        if url.scheme == "https":
            connection.default_port = 443  # for the Host header
        connection.sock = sock
        return connection

    def _address(self, url: SplitResult, host: str, port: int) -> tuple[Any, ...]:
        is_trusted = url.netloc.lower() in self.policy.trusted
        if url.scheme != "https" and not (
            url.scheme == "http" and url.netloc.lower() in self.policy.plain
        ):
            raise Unreadable(
                f"{host} would be asked without encryption, which the operator has not allowed"
            )
        if not host or url.username is not None:
            raise Unreadable("the registry leads to an address that cannot be used")
        try:
            return addresses.resolve_allowed(host, port, is_trusted=is_trusted)[0]
        except addresses.AddressNotAllowed as error:
            raise Unreadable(
                f"{error}; an operator may name it in MUSTER_IMAGE_REGISTRIES"
            ) from error

    def _left(self) -> float:
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _late(self) -> str:
        return (
            f"the registry did not answer within {self.policy.seconds:g} s"
            if time.monotonic() >= self._ends_at - 0.05
            else ""
        )

    def _keep(self, sock: socket.socket) -> None:
        self._sockets.append(sock)
        if self._is_over:
            self._cut()
            raise TimeoutError

    def _cut(self) -> None:
        self._is_over = True
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


def _split(url: str) -> SplitResult:
    try:
        found = urlsplit(url)
        _ = found.port
    except ValueError as error:
        raise Unreadable("the registry leads to an address that cannot be used") from error
    return found


def _joined(url: str, place: str) -> str:
    try:
        return urljoin(url, place)
    except ValueError as error:
        raise Unreadable("the registry leads to an address that cannot be used") from error
