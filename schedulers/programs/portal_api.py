"""Ask the REST API of the portal from a node: HTTP with connections that stay open, and proxies.

`schedulers.programs.source_of` puts this text before that of each program that imports it.
"""

from __future__ import annotations

import http.client
import json
import threading
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, getproxies, proxy_bypass, urlopen

TIMEOUT = 60  # seconds
AGAIN = (408, 429)  # statuses beside 5xx after which a request may be sent again
Headers = dict[str, str]


class PortalRefusal(Exception):
    """The portal has answered that it does not do something; `code` is for programs."""

    def __init__(self, status: int, code: str, text: str):
        super().__init__(text)
        self.status, self.code = status, code


def redirected(address: str, headers: Headers) -> http.client.HTTPResponse:
    """Return the open answer of an object store, which has an address for each file."""
    given = {n: v for n, v in headers.items() if n == "Range"}
    request = Request(address, headers={"Accept-Encoding": "identity", **given})
    answer = urlopen(request, timeout=TIMEOUT)  # an HTTPError is an OSError
    assert isinstance(answer, http.client.HTTPResponse)
    return answer


class Portal:
    """The REST API with the token of the job; each thread has a connection of its own."""

    def __init__(self, url: str, token: str):
        self.parts = urlsplit(url)
        if self.parts.scheme not in ("http", "https") or not self.parts.hostname:
            raise PortalRefusal(
                0, "", "the portal has no address that this node knows (MUSTER_URL)"
            )
        scheme, host = self.parts.scheme, self.parts.hostname
        self.proxy = "" if proxy_bypass(host) else getproxies().get(scheme, "")
        self.root = f"{self.parts.path.rstrip('/')}/api/v1/"
        if self.proxy and scheme == "http":  # such proxies want the whole address
            self.root = f"http://{self.parts.netloc}{self.root}"
        self.token, self.local = token, threading.local()

    def open(
        self, method: str, path: str, body: bytes | None = None, headers: Headers | None = None
    ) -> http.client.HTTPResponse:
        """Return the open answer to a request, which the caller reads to its end.

        Raises PortalRefusal, and OSError or HTTPException for what may pass.
        """
        given = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "identity"}
        try:
            connection = self._connection()
            connection.request(method, self.root + path, body, {**given, **(headers or {})})
            answer = connection.getresponse()
        except BaseException:
            self.drop()
            raise
        if answer.status < 300:
            return answer
        if answer.status == 302:
            answer.read()
            return redirected(answer.headers["Location"], headers or {})
        text = answer.read(65536).decode(errors="replace")
        self.drop()
        try:
            problem = json.loads(text)
            text, code = problem.get("detail") or problem["title"], problem.get("code", "")
        except (ValueError, KeyError, TypeError, AttributeError):
            text, code = f"the portal answered {answer.status}: {text[:200]}", ""
        if answer.status in AGAIN or answer.status >= 500:
            raise OSError(text)
        raise PortalRefusal(answer.status, code, text)

    def send(
        self, method: str, path: str, body: Any = None, headers: Headers | None = None
    ) -> tuple[Any, Any]:
        """Send a request, with bytes or else JSON; return headers and JSON of the answer."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers = {"Content-Type": "application/json", **(headers or {})}
        answer = self.open(method, path, body, headers)
        text = answer.read()
        return answer.headers, json.loads(text) if text else None

    def drop(self) -> None:
        """Close the connection of this thread, after something went wrong with it."""
        connection, self.local.connection = getattr(self.local, "connection", None), None
        if connection is not None:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = self._connected()
        return connection

    def _connected(self) -> http.client.HTTPConnection:
        host, port, scheme = self.parts.hostname or "", self.parts.port, self.parts.scheme
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        if not self.proxy:
            return kind(host, port, timeout=TIMEOUT)
        proxy = urlsplit(self.proxy if "://" in self.proxy else f"http://{self.proxy}")
        connection = kind(proxy.hostname or "", proxy.port, timeout=TIMEOUT)
        if scheme == "https":
            connection.set_tunnel(host, port)
        return connection
