"""Send JSON requests to an API server over HTTPS and map all failures to our exceptions.

The generated `kubernetes` client is not used: it takes 22 MB per process, and reads certificates
and keys only from files. Complete responses use http_connection, which takes a fifth of the time;
streams (watches, logs) use urllib3.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

import orjson

from schedulers.contract import Rejected, Unavailable
from schedulers.http_connection import Answer, Connection, ConnectionPool
from schedulers.kubernetes.access import Access

if TYPE_CHECKING:
    import ssl

    from urllib3 import BaseHTTPResponse, HTTPConnectionPool

CONNECT, READ = 3.0, 10.0  # seconds
LONGEST_REST = 60.0  # longest pause in seconds that a Retry-After may demand
# ignore smaller clock differences: responses have a resolution of one second
SKEW = timedelta(seconds=5)
_BUSY = frozenset({408, 409, 429})
Object = dict[str, Any]


class ApiError(Exception):
    """An error response. `details` are the causes of its Status: (field, message)."""

    def __init__(
        self, status: int, reason: str, message: str, causes: tuple[tuple[str, str], ...] = ()
    ):
        super().__init__(message)
        self.status, self.reason, self.causes = status, reason, causes


class ApiClient:
    """A thread-safe client.

    Methods raise Refused for a 4xx response about the request, otherwise Unavailable.
    """

    def __init__(self, access: Access, connections: int = 16):
        self.access = access
        to, tls = urlsplit(access.server), access.tls()
        self._pool = _pool(access, connections, tls)
        self._links = ConnectionPool(
            lambda: Connection(to, READ, connect=CONNECT, tls=tls, name=access.server_name),
            connections,
        )
        self._root = to.path.rstrip("/")
        self._headers = {
            "Accept": "application/json",
            "User-Agent": "muster",
            **({"Authorization": f"Bearer {access.token}"} if access.token else {}),
        }
        self._rest_until = 0.0
        self._said = ""
        self.ahead = timedelta(0)  # how far the server's clock is ahead of ours

    def get(self, path: str, **query: Any) -> Object:
        return self._json("GET", path, query)

    def post(self, path: str, body: Object, **query: Any) -> Object:
        return self._json("POST", path, query, body)

    def patch(self, path: str, body: Object, **query: Any) -> Object:
        return self._json("PATCH", path, query, body, "application/merge-patch+json")

    def delete(self, path: str, body: Object | None = None, **query: Any) -> Object:
        return self._json("DELETE", path, query, body)

    def text(self, path: str) -> str:
        return self._asked("GET", path).decode(errors="replace")

    @contextmanager
    def stream(self, path: str, silence: float = 0, **query: Any) -> Iterator[BaseHTTPResponse]:
        """Stream a response body.

        `silence`: read timeout in seconds, if not the default.
        """
        import urllib3

        with self._translated():
            self._rested()
            answer = self._pool.urlopen(
                "GET",
                self._target(path, query),
                headers=self._headers,
                timeout=urllib3.Timeout(connect=CONNECT, read=silence or READ),
                preload_content=False,
                redirect=False,
                retries=False,
            )
            self._compare_clocks(answer.headers.get("date", ""))
            try:
                if answer.status >= 400:
                    self._refuse(answer.status, answer.headers, answer.read())
                yield answer
            finally:
                answer.close()

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Object | None = None,
        kind: str = "application/json",
    ) -> Object:
        return _read(self._asked(method, path, query, body, kind))

    def _asked(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] = MappingProxyType({}),
        body: Object | None = None,
        kind: str = "",
    ) -> bytes:
        with self._translated():
            answer = self._send(method, path, query, body, kind)
        if answer.status >= 400:
            self._refuse(answer.status, answer.headers, answer.data)
        return answer.data

    def _send(
        self, method: str, path: str, query: Mapping[str, Any], body: Object | None, kind: str
    ) -> Answer:
        self._rested()
        headers = {**self._headers, **({"Content-Type": kind} if body is not None else {})}
        with self._links.one() as link:
            answer = link.send(
                method,
                self._target(path, query),
                None if body is None else orjson.dumps(body),
                headers,
            )
        self._compare_clocks(answer.headers.get("date", ""))
        return answer

    def _rested(self) -> None:
        """Raise Unavailable while the server asks for a pause."""
        left = self._rest_until - time.monotonic()
        if left > 0:
            raise Unavailable(f"The API server asked for {left:.0f} s to recover.")

    def _target(self, path: str, query: Mapping[str, Any]) -> str:
        asked = urlencode({name: value for name, value in query.items() if value is not None})
        return f"{self._root}{path}{'?' if asked else ''}{asked}"

    def _compare_clocks(self, said: str) -> None:
        """Measure the clock difference: waiting times and ends follow the cluster's clock."""
        if said == self._said:  # nothing new within one second
            return
        self._said = said
        with suppress(ValueError, TypeError):
            ahead = parsedate_to_datetime(said).replace(tzinfo=UTC) - datetime.now(UTC)
            if abs(ahead - self.ahead) > SKEW:
                self.ahead = (
                    timedelta(seconds=round(ahead.total_seconds()))
                    if abs(ahead) > SKEW
                    else timedelta(0)
                )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        import urllib3

        try:
            yield
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise Unavailable(in_words(error, self.access.server)) from error

    def _refuse(self, status: int, headers: Mapping[str, str], data: bytes) -> None:
        said = _status(data)
        message = str(said.get("message") or f"HTTP {status}")[:1000]
        if status == 429 or status >= 500:
            self._rest(headers.get("retry-after", ""))
            raise Unavailable(f"The API server cannot now ({status}): {message}")
        if status == 401:
            raise Unavailable(
                "The API server rejected Muster's credentials (401): the token or certificate is invalid or has expired."
            )
        causes = (said.get("details") or {}).get("causes") or ()
        raise ApiError(
            status,
            str(said.get("reason") or ""),
            message,
            tuple(
                (str(c.get("field") or ""), str(c.get("message") or ""))
                for c in causes
                if isinstance(c, dict)
            ),
        )

    def _rest(self, asked: str) -> None:
        if asked.strip().isdigit():
            self._rest_until = time.monotonic() + min(float(asked), LONGEST_REST)


def _pool(access: Access, connections: int, tls: ssl.SSLContext | None) -> HTTPConnectionPool:
    """Return a connection pool for one server.

    A pool manager would look up the pool for each request, at a third of its total cost.
    """
    import urllib3

    at = urlsplit(access.server)
    if at.scheme != "https":
        return urllib3.HTTPConnectionPool(
            at.hostname or "", at.port, maxsize=connections, retries=False
        )
    names: dict[str, Any] = (
        {"assert_hostname": access.server_name, "server_hostname": access.server_name}
        if access.server_name
        else {}
    )
    return urllib3.HTTPSConnectionPool(
        at.hostname or "", at.port, maxsize=connections, retries=False, ssl_context=tls, **names
    )


def segment(name: str) -> str:
    """Escape a name for use as a path segment."""
    return quote(name, safe="")


def refusal(error: ApiError, fields: Mapping[str, str]) -> Rejected | Unavailable:
    """Return what a refused request means for a job.

    `fields` maps prefixes of Kubernetes' field names to ours.
    """
    if error.status == 403 and "exceeded quota" in str(error):
        return Unavailable(str(error))
    if error.status in _BUSY:
        return Unavailable(str(error))
    for path, _ in error.causes:
        for beginning, name in fields.items():
            if beginning in path:
                return Rejected(str(error), name)
    return Rejected(str(error))


def in_words(error: BaseException, server: str) -> str:
    """Describe a connection problem with the server."""
    import ssl

    import urllib3

    chain: list[BaseException] = []
    while error is not None and error not in chain:
        chain.append(error)
        # None ends the walk
        error = (
            getattr(error, "reason", None)  # type: ignore[assignment]
            if isinstance(getattr(error, "reason", None), BaseException)
            else error.__cause__ or error.__context__
        )
    for one in chain:
        if isinstance(one, ssl.SSLCertVerificationError):
            return f"The certificate of {server} is not trusted: {str(one.verify_message or one).rstrip('.')}."
        if isinstance(one, (socket.gaierror, urllib3.exceptions.NameResolutionError)):
            return f"The name in {server} is unknown to DNS."
        if isinstance(one, ConnectionRefusedError):
            return f"Nothing listens at {server}: the connection was refused."
    if any(isinstance(one, (TimeoutError, urllib3.exceptions.TimeoutError)) for one in chain):
        return f"{server} did not answer in time."
    if any(isinstance(one, (ssl.SSLError, urllib3.exceptions.SSLError)) for one in chain):
        return f"A secure connection to {server} failed: {chain[-1]}"
    if any(isinstance(one, urllib3.exceptions.ProtocolError) for one in chain):
        return f"The connection to {server} was interrupted."
    return f"The connection to {server} failed: {chain[-1]}"


def _read(data: bytes) -> Object:
    try:
        read = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Unavailable(
            "The response is not JSON: this is not a Kubernetes API server, or there is a proxy in front of it."
        ) from error
    if not isinstance(read, dict):
        raise Unavailable("The response is not a JSON object: this is not a Kubernetes API server.")
    return read


def _status(data: bytes) -> Object:
    try:
        read = json.loads(data)
    except ValueError:
        return {"message": data[:300].decode(errors="replace")}
    return read if isinstance(read, dict) else {}
