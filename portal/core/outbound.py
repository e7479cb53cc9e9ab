"""The HTTP client for every address that a user or an operator supplies.

Identity providers, webhooks, image registries and slurmrestd. It prevents SSRF: a name is resolved
once, its addresses are checked, and the connection goes to an address that passed. Responses are
limited in size and in total time. Proxies and `.netrc` are ignored, because they would connect
elsewhere. Built on requests; depends on no Django.
"""

from __future__ import annotations

import math
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError

from portal.core import addresses

_USER_AGENT = "muster"
_CONNECTING = 10.0  # seconds until a host that does not respond is given up


class RequestRefused(requests.RequestException):
    """The request was not sent or its response was not accepted.

    The message explains why to a person and holds no text of the response.
    """

    def __init__(self, message: str, host: str = "") -> None:
        super().__init__(message)
        self.host = host


class AddressRefused(RequestRefused):
    """The host is not on the open internet and the policy does not trust it."""


class EncryptionRequired(RequestRefused):
    """The request would go over plain HTTP."""


class ResponseTooLarge(RequestRefused):
    """The response is larger than the limit."""


class DeadlineExceeded(RequestRefused):
    """The response was not complete in time."""


@dataclass(frozen=True)
class OutboundPolicy:
    """The permitted addresses and the limits of a session.

    `is_private` allows addresses outside the open internet, `is_plain` allows plain HTTP; `trusted`
    and `plain` allow the same for single hosts, `host` or `host:port`. `ca` (PEM) and `ca_file`
    hold additional trusted certificates. `seconds` limits one request in total with its redirects,
    `limit` the bytes of one response, `connections` those open to one host at a time.
    """

    is_private: bool = False
    is_plain: bool = False
    trusted: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    ca: str = ""
    ca_file: str = ""
    seconds: float = 5.0
    limit: int = 1 << 20
    redirects: int = 0
    connections: int = 1


class Session(requests.Session):
    """A `requests.Session` within the limits of its policy; threads may share it.

    Sending raises RequestRefused or another RequestException.
    """

    def __init__(self, policy: OutboundPolicy | None = None) -> None:
        super().__init__()
        self.policy = policy or OutboundPolicy()
        self.trust_env = False
        self.max_redirects = max(self.policy.redirects, 1)  # requests looks at one in any case
        self.headers.update({"User-Agent": _USER_AGENT, "Accept-Encoding": "identity"})
        adapter = _Adapter(self.policy)
        self.mount("https://", adapter)
        self.mount("http://", adapter)

    def send(self, request: requests.PreparedRequest, **given: Any) -> requests.Response:
        """Send a request and return its complete response."""
        given["allow_redirects"] = given.get("allow_redirects", True) and self.policy.redirects > 0
        with deadline(self.policy.seconds):
            try:
                return super().send(request, **given)
            except (HTTPError, OSError, ValueError) as error:
                raise self._why(error) from error

    @contextmanager
    def streamed(
        self, url: str, headers: Mapping[str, str] | None = None
    ) -> Iterator[requests.Response]:
        """Ask for a file. `pieces` reads its body, which no limit of the policy bounds."""
        response = self.get(url, headers=dict(headers or {}), stream=True)
        try:
            yield response
        finally:
            response.close()

    def pieces(self, response: requests.Response, size: int = 1 << 20) -> Iterator[bytes]:
        """Yield the body of a streamed response; each piece has the seconds of the policy.

        Raises RequestRefused or another RequestException, also if the body ends too early.
        """
        while True:
            with deadline(self.policy.seconds):
                try:
                    data = response.raw.read(size, decode_content=False)
                except (HTTPError, OSError, ValueError) as error:
                    raise self._why(error) from error
            if not data:
                return
            yield data

    def _why(self, error: Exception) -> Exception:
        """Return the error that explains to a person why the request failed."""
        for cause in causes(error):
            if isinstance(cause, RequestRefused):
                return cause
        if time.monotonic() >= _ends_at.get():
            return DeadlineExceeded(f"no whole answer within {self.policy.seconds:g} s")
        if isinstance(error, requests.RequestException):
            return error
        return RequestRefused("no answer that can be read")


_ends_at: ContextVar[float] = ContextVar("outbound_ends_at", default=math.inf)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Limit all requests inside together; an earlier limit around it stays."""
    token = _ends_at.set(min(_ends_at.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _ends_at.reset(token)


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Iterate over an error and those that led to it, which libraries wrap; the first comes last."""
    while error is not None:
        yield error
        error = error.__context__


def tls_reason(error: Exception) -> str:
    """Return OpenSSL's short name of the error because of which a TLS connection failed."""
    found = (cause.reason for cause in causes(error) if isinstance(cause, ssl.SSLError))
    return next(found, "") or "error"


def _seconds_left() -> float:
    left = _ends_at.get() - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Socket(socket.socket):
    """A socket whose operations the deadline limits.

    The timeout of a socket alone starts again with every byte received.
    """

    def recv_into(self, *args: Any, **given: Any) -> int:
        self.settimeout(_seconds_left())
        return super().recv_into(*args, **given)

    def send(self, *args: Any, **given: Any) -> int:
        self.settimeout(_seconds_left())
        return super().send(*args, **given)

    def sendall(self, *args: Any, **given: Any) -> None:
        self.settimeout(_seconds_left())
        super().sendall(*args, **given)


class _TlsSocket(_Socket, ssl.SSLSocket):
    def do_handshake(self, *args: Any, **given: Any) -> None:
        self.settimeout(_seconds_left())
        super().do_handshake(*args, **given)


@lru_cache(maxsize=64)
def _tls(ca: str) -> ssl.SSLContext:
    """Return a cached context that trusts the system's authorities and `ca`; loading is slow."""
    context = ssl.create_default_context()
    context.sslsocket_class = _TlsSocket
    if ca:
        context.load_verify_locations(cadata=ca)
    return context


class _Adapter(HTTPAdapter):
    """Send one request, without redirects, and read its response within the limits."""

    def __init__(self, policy: OutboundPolicy) -> None:
        self._policy = policy
        super().__init__(max_retries=0, pool_maxsize=policy.connections, pool_block=True)

    def init_poolmanager(self, *args: Any, **given: Any) -> None:
        policy = self._policy
        ca = policy.ca + (Path(policy.ca_file).read_text() if policy.ca_file else "")
        super().init_poolmanager(*args, ssl_context=_tls(ca), **given)
        manager: Any = self.poolmanager
        manager.pool_classes_by_scheme = {
            "http": _pool(HTTPConnectionPool, HTTPConnection, policy),
            "https": _pool(HTTPSConnectionPool, HTTPSConnection, policy),
        }

    def send(
        self, request: requests.PreparedRequest, *args: Any, **given: Any
    ) -> requests.Response:
        at, policy = urlsplit(str(request.url)), self._policy
        if at.scheme != "https" and not policy.is_plain and at.netloc.lower() not in policy.plain:
            raise EncryptionRequired(
                "it would be asked without encryption (https), which is not allowed",
                host=at.hostname or "",
            )
        is_streamed = given.get("stream", False)
        response = super().send(request, *args, **given | {"stream": True})
        if is_streamed and not response.is_redirect:
            return response
        response._content = self._read(response)  # noqa: SLF001  # read by `content` and `json`
        return response

    def _read(self, response: requests.Response) -> bytes:
        limit, raw = self._policy.limit, response.raw
        if (raw.length_remaining or 0) <= limit:
            body: bytes = raw.read(limit + 1, decode_content=True)
            if len(body) <= limit:
                return body
        response.close()
        raise ResponseTooLarge(f"the answer is larger than {limit >> 10} KiB")


def _pool(pool: type, connection: type, policy: OutboundPolicy) -> type:
    """Return the pool with connections that go only to permitted addresses."""

    def connect(self: Any) -> socket.socket:
        return _connected(self.host.strip("[]"), self.port, self.default_port, policy)

    pinned = type("Connection", (connection,), {"_new_conn": connect})
    return type("Pool", (pool,), {"ConnectionCls": pinned})


def _connected(host: str, port: int, default_port: int, policy: OutboundPolicy) -> socket.socket:
    """Connect to a checked address. Raises RequestRefused and OSError."""
    name = f"[{host}]" if ":" in host else host
    names = {f"{name}:{port}", *([name] if port == default_port else [])}
    try:
        sock = addresses.connect(
            host,
            port,
            is_trusted=policy.is_private or bool(names & policy.trusted),
            seconds=min(_seconds_left(), _CONNECTING),
        )
    except (socket.gaierror, UnicodeError) as error:
        raise RequestRefused(f"there is no host {host[:80]!r}") from error
    except addresses.AddressNotAllowed as error:
        raise AddressRefused(
            f"{host[:80]} is not on the open internet; an operator may allow it", host=host
        ) from error
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # Otherwise a firewall silently drops a connection that stays idle in the pool.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30)
    return _Socket(fileno=sock.detach())
