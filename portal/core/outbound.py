"""An HTTP client for URLs that users supply: identity providers and webhooks.

It prevents SSRF: the name is resolved once, its addresses are checked, and the connection goes to
an address that passed. Redirects are not followed, the size of the response is limited, and the
connection is closed after a fixed total time. Proxies and `.netrc` are ignored, because they would
connect elsewhere.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError

from portal.core.addresses import AddressNotAllowed, resolve_allowed

_USER_AGENT = "muster"
_CHUNK = 16 << 10


class RequestRefused(requests.RequestException):
    """The request was not sent or its response was not accepted.

    The message explains why to a person and holds no text of the response.
    """


@dataclass(frozen=True)
class OutboundPolicy:
    """The permitted addresses and the limits of a session.

    `is_private` allows addresses outside the open internet, `is_plain` allows plain HTTP. `ca`
    holds additional trusted certificates (PEM). `seconds` limits one request in total, `limit` the
    bytes of one response.
    """

    is_private: bool = False
    is_plain: bool = False
    ca: str = ""
    seconds: float = 5.0
    limit: int = 1 << 20


class Session(requests.Session):
    """A `requests.Session` within the limits of its Reach.

    `request` raises Refused or another RequestException.
    """

    def __init__(self, reach: OutboundPolicy | None = None) -> None:
        super().__init__()
        self.reach = reach or OutboundPolicy()
        self.trust_env = False
        self.headers.update({"User-Agent": _USER_AGENT, "Accept-Encoding": "identity"})
        self._connector = _Connector(self.reach)
        adapter = _Adapter(self.reach, self._connector)
        self.mount("https://", adapter)
        self.mount("http://", adapter)

    def request(self, method: Any, url: Any, *args: Any, **given: Any) -> requests.Response:
        """Send a request and return its complete response; redirects are returned, not followed."""
        given |= {
            "allow_redirects": False,
            "stream": True,
            "timeout": self.reach.seconds,
            "proxies": None,
        }
        with self._connector:
            try:
                response = super().request(method, url, *args, **given)
                response._content = self._read(response)  # noqa: SLF001  # read by `content` and `json`
                return response
            except (HTTPError, OSError, ValueError) as error:
                raise self._connector.why(error) from error

    def _read(self, response: requests.Response) -> bytes:
        body = bytearray()
        for chunk in response.iter_content(_CHUNK):
            body += chunk
            if len(body) > self.reach.limit:
                response.close()
                raise RequestRefused(f"the answer is larger than {self.reach.limit >> 10} KiB")
        # A closed connection looks like the end of the response.
        if self._connector.is_over:
            raise TimeoutError
        return bytes(body)


class _Connector:
    """Connect for one request at a time, and close all its connections when the time is up."""

    def __init__(self, reach: OutboundPolicy) -> None:
        self._reach = reach
        self._open: list[socket.socket] = []
        self._refused: RequestRefused | None = None
        self.is_over = False

    def __enter__(self) -> None:
        self._refused, self.is_over = None, False
        self._ends_at = time.monotonic() + self._reach.seconds
        self._timer = threading.Timer(self._reach.seconds, self._shut_down)
        self._timer.daemon = True
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def connect(self, host: str, port: int) -> socket.socket:
        """Connect to a checked address. Raises Refused and OSError."""
        try:
            address = self._checked_address(host.strip("[]"), port)
            sock = socket.create_connection(
                address, timeout=max(self._ends_at - time.monotonic(), 0.01)
            )
        except RequestRefused as error:
            # urllib3 would wrap the error beyond recognition.
            self._refused = error
            raise
        # TLS takes over the socket object, so keep a duplicate to shut the connection down.
        self._open.append(sock.dup())
        return sock

    def why(self, error: Exception) -> Exception:
        """Return the error that explains why the request failed."""
        if self._refused or isinstance(error, RequestRefused):
            return self._refused or error
        if self.is_over:
            return RequestRefused(f"no whole answer within {self._reach.seconds:g} s")
        return (
            error
            if isinstance(error, requests.RequestException)
            else RequestRefused("no answer that can be read")
        )

    def close(self) -> None:
        for sock in self._open:
            sock.close()
        self._open.clear()

    def _checked_address(self, host: str, port: int) -> tuple[str, int]:
        try:
            found = resolve_allowed(host, port, is_trusted=self._reach.is_private)[0]
        except (OSError, UnicodeError) as error:
            raise RequestRefused(f"there is no host {host[:80]!r}") from error
        except AddressNotAllowed as error:
            raise RequestRefused(
                f"{host[:80]} is not on the open internet; an operator may allow it"
            ) from error
        return str(found[0]), int(found[1])

    def _shut_down(self) -> None:
        self.is_over = True
        for sock in self._open:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


@lru_cache(maxsize=64)
def _tls(ca: str) -> ssl.SSLContext:
    """Return a cached context that trusts the system's authorities and `ca`; loading is slow."""
    context = ssl.create_default_context()
    if ca:
        context.load_verify_locations(cadata=ca)
    return context


class _Adapter(HTTPAdapter):
    """An adapter whose pools connect only through a `_Connector`."""

    def __init__(self, reach: OutboundPolicy, connector: _Connector) -> None:
        self._reach, self._connector = reach, connector
        super().__init__(max_retries=0)

    def init_poolmanager(self, *args: Any, **given: Any) -> None:
        super().init_poolmanager(*args, ssl_context=_tls(self._reach.ca), **given)
        manager: Any = self.poolmanager
        manager.pool_classes_by_scheme = {
            "http": _pool(HTTPConnectionPool, HTTPConnection, self._connector),
            "https": _pool(HTTPSConnectionPool, HTTPSConnection, self._connector),
        }

    def send(
        self, request: requests.PreparedRequest, *args: Any, **given: Any
    ) -> requests.Response:
        if not self._reach.is_plain and not str(request.url).startswith("https://"):
            raise RequestRefused(
                "it would be asked without encryption (https), which is not allowed"
            )
        return super().send(request, *args, **given)

    def close(self) -> None:
        super().close()
        self._connector.close()


def _pool(pool: type, connection: type, connector: _Connector) -> type:
    connect = type(
        "Connection",
        (connection,),
        {"_new_conn": lambda self: connector.connect(self.host, self.port)},
    )
    return type("Pool", (pool,), {"ConnectionCls": connect})
