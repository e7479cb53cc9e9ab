"""Send requests with the official client and map all failures to our exceptions.

Objects stay plain dicts. The typed methods of the official client would parse each Job that we
create into models and back, which takes 20 MB more and three times as long.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson

from portal.core.messages import Message
from schedulers.contract import Rejected, Unavailable
from schedulers.kubernetes.access import Access

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

    from schedulers.kubernetes.transport import Response

LONGEST_REST = 60.0  # longest pause in seconds that a Retry-After may demand
# ignore smaller clock differences: responses have a resolution of one second
SKEW = timedelta(seconds=5)
_BUSY = frozenset({408, 409, 429})
_PASSING = ("exceeded quota", "being terminated")  # what ends by itself: a quota, a namespace
Object = dict[str, Any]


class ApiError(Exception):
    """An error response. `details` are the causes of its Status: (field, message)."""

    def __init__(
        self, status: int, reason: str, message: str, causes: tuple[tuple[str, str], ...] = ()
    ):
        super().__init__(message)
        self.status, self.reason, self.causes = status, reason, causes


class Client:
    """A thread-safe client.

    Methods raise ApiError for a 4xx response about the request, otherwise Unavailable.
    """

    def __init__(self, access: Access, connections: int = 16):
        # here, not above: a process that contacts no cluster does not need it
        from schedulers.kubernetes import transport

        self.access, self._transport = access, transport
        self._api = transport.api_client(access, connections)
        self._streams = transport.api_client(access, connections, is_streaming=True)
        self._rest_until = 0.0
        self._said = ""
        self.ahead = timedelta(0)  # how far the server's clock is ahead of ours

    def get(self, path: str, **query: Any) -> Object:
        return _parsed(self._read("GET", path, query))

    def post(self, path: str, body: Object, **query: Any) -> Object:
        return _parsed(self._read("POST", path, query, body))

    def patch(self, path: str, body: Object, **query: Any) -> Object:
        """Change an object by a JSON merge patch."""
        return _parsed(self._read("PATCH", path, query, body))

    def delete(self, path: str, body: Object | None = None, **query: Any) -> Object:
        return _parsed(self._read("DELETE", path, query, body))

    def text(self, path: str) -> str:
        return self._read("GET", path, {}).decode(errors="replace")

    @contextmanager
    def stream(self, path: str, silence: float = 0, **query: Any) -> Iterator[Response]:
        """Stream a response body.

        `silence`: read timeout in seconds, if not the default.
        """
        with self._translated():
            answer = self._send(self._streams, "GET", path, query, silence=silence)
            try:
                if answer.status >= 400:
                    self._refuse(answer.status, answer.headers, answer.read())
                yield answer
            finally:
                answer.close()

    def _read(
        self, method: str, path: str, query: Mapping[str, Any], body: Object | None = None
    ) -> bytes:
        with self._translated():
            answer = self._send(self._api, method, path, query, body)
            data = answer.data
        if answer.status >= 400:
            self._refuse(answer.status, answer.headers, data)
        return data

    def _send(
        self,
        api: ApiClient,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Object | None = None,
        silence: float = 0,
    ) -> Response:
        self._rested()
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = api.param_serialize(
            method,
            path,
            query_params=[(name, value) for name, value in query.items() if value is not None],
            header_params={"Accept": "application/json", "Content-Type": kind},
            body=body,
            auth_settings=["BearerToken"],
        )
        limits = (self._transport.CONNECT, silence or self._transport.READ)
        answer: Response = api.call_api(*request, _request_timeout=limits).response
        self._compare_clocks(answer.headers.get("date", ""))
        return answer

    def _rested(self) -> None:
        """Raise Unavailable while the server asks for a pause."""
        left = self._rest_until - time.monotonic()
        if left > 0:
            raise Unavailable(
                Message("The API server asked for {left} s to recover.", left=f"{left:.0f}")
            )

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
        try:
            yield
        except self._transport.ERRORS as error:
            raise self._transport.explained(error, self.access.server) from error

    def _refuse(self, status: int, headers: Mapping[str, str], data: bytes) -> None:
        body = _status(data)
        message = str(body.get("message") or f"HTTP {status}")[:1000]
        if status == 429 or status >= 500:
            self._rest(headers.get("retry-after", ""))
            raise Unavailable(f"The API server cannot now ({status}): {message}")
        if status == 401:
            raise Unavailable(
                Message(
                    "The API server rejected Muster's credentials (401): the token or "
                    "certificate is invalid or has expired. Enter a new one."
                ),
                "token",
            )
        causes = (body.get("details") or {}).get("causes") or ()
        raise ApiError(
            status,
            str(body.get("reason") or ""),
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


def segment(name: str) -> str:
    """Escape a name for use as a path segment."""
    return quote(name, safe="")


def refusal(error: ApiError, fields: Mapping[str, str]) -> Rejected | Unavailable:
    """Return what a refused request means for a job.

    `fields` maps prefixes of Kubernetes' field names to ours.
    """
    if error.status == 403 and any(words in str(error) for words in _PASSING):
        return Unavailable(str(error))
    if error.status in _BUSY:
        return Unavailable(str(error))
    for path, _ in error.causes:
        for beginning, name in fields.items():
            if beginning in path:
                return Rejected(str(error), name)
    return Rejected(str(error))


def _parsed(data: bytes) -> Object:
    try:
        read = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise Unavailable(
            Message(
                "The response is not JSON: this is not a Kubernetes API server, or there is a "
                "proxy in front of it."
            ),
            "server",
        ) from error
    if not isinstance(read, dict):
        raise Unavailable(
            Message("The response is not a JSON object: this is not a Kubernetes API server."),
            "server",
        )
    return read


def _status(data: bytes) -> Object:
    try:
        read = json.loads(data)
    except ValueError:
        return {"message": data[:300].decode(errors="replace")}
    return read if isinstance(read, dict) else {}
