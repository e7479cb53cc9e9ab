"""HTTP transport with retries and idempotency keys."""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muster import __version__
from muster.errors import (
    InvalidInput,
    MusterError,
    NotAuthenticated,
    NotFound,
    Unavailable,
    error_of,
)

if TYPE_CHECKING:
    import httpx

TRIES = 6
UPLOAD_TIMEOUT = 600  # seconds without progress
LONGEST_WAIT = 60.0  # seconds; a longer Retry-After is reported as an error
_AGAIN = {408, 425, 429, 500, 502, 503, 504}


class Transport:
    """Thread-safe connection pool to one portal. A request is sent at most `tries` times."""

    def __init__(self, url: str, token: str = "", *, timeout: float = 30, tries: int = TRIES):
        import httpx

        if not url.startswith(("http://", "https://")):
            raise MusterError(
                f"Invalid URL {url!r}. It must start with http:// or https://.", code="no_url"
            )

        headers = {
            "User-Agent": f"muster/{__version__}",
            "Accept": "application/json",
            "Time-Zone": f"{datetime.now().astimezone():%z}",  # of words such as `yesterday`
        }
        if token:
            headers["Authorization"] = f"Bearer {_sendable(token)}"
        self.url, self.tries = url, tries
        self._http = httpx.Client(base_url=f"{url}/api/v1/", headers=headers, timeout=timeout)

    def close(self) -> None:
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        is_repeatable: bool = True,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        tries: int | None = None,
    ) -> httpx.Response:
        """Send a request and return a successful answer.

        The body is `content`, or `body` as JSON. With `is_repeatable=False`, only requests that
        cannot have arrived are retried. Raises MusterError for everything else, including
        connection errors.
        """
        key = {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}
        headers, tries = {**key, **(headers or {})}, tries or self.tries
        data: dict[str, Any] = {"json": body} if content is None else {"content": content}
        params = {name: value for name, value in (query or {}).items() if value not in (None, "")}
        options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        is_lost = False  # an earlier attempt may have arrived
        for attempt in range(tries):
            is_last = attempt == tries - 1
            try:
                answer = self._http.request(
                    method, path, headers=headers, params=params or None, **data, **options
                )
            except Exception as error:
                if is_last or not _is_transient(error, is_repeatable):
                    raise self._no_answer(error) from error
                is_lost = True
                time.sleep(pause(attempt))
                continue
            if answer.is_success:
                return answer
            wait = pause(attempt, answer.headers.get("Retry-After"))
            if (
                answer.status_code not in (_AGAIN if is_repeatable else {429})
                or is_last
                or wait > LONGEST_WAIT
            ):
                return self._refused(answer, is_gone=method == "DELETE" and is_lost)
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def upload(self, path: str, file: Path) -> httpx.Response:
        """PUT a file and return a successful answer. Repeats from its start. Raises MusterError."""
        headers = {"Content-Type": "application/octet-stream"}
        for attempt in range(self.tries):
            is_last = attempt == self.tries - 1
            try:
                with open(file, "rb") as body:
                    length = {"Content-Length": str(os.fstat(body.fileno()).st_size)}
                    answer = self._http.put(
                        path, content=body, headers=headers | length, timeout=UPLOAD_TIMEOUT
                    )
            except OSError as error:
                raise InvalidInput(f"Cannot read {file}: {error}") from error
            except Exception as error:
                if is_last or not _is_transient(error, is_repeatable=True):
                    raise self._no_answer(error) from error
                time.sleep(pause(attempt))
                continue
            wait = pause(attempt, answer.headers.get("Retry-After"))
            if answer.is_success:
                return answer
            if answer.status_code not in _AGAIN or is_last or wait > LONGEST_WAIT:
                return self._refused(answer, is_gone=False)
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def stream(self, path: str, query: Mapping[str, Any], *, offset: int = 0) -> Iterator[bytes]:
        """Stream an answer, from an offset on.

        Raises MusterError also if the connection breaks off.
        """
        params = {name: value for name, value in query.items() if value not in (None, "")}
        headers = {"Accept": "*/*"} | ({"Range": f"bytes={offset}-"} if offset else {})
        try:
            # The token is not sent to another host
            with self._http.stream(
                "GET", path, params=params, headers=headers, follow_redirects=True
            ) as answer:
                if not answer.is_success:
                    answer.read()
                    self._refused(answer, is_gone=False)
                left = 0 if answer.status_code == 206 else offset  # to skip
                for data in answer.iter_bytes():
                    if left < len(data):
                        yield data[left:]
                    left = max(left - len(data), 0)
        except Exception as error:
            raise error if isinstance(error, MusterError) else self._no_answer(error) from error

    def _refused(self, answer: httpx.Response, *, is_gone: bool) -> httpx.Response:
        try:
            body = answer.json()
        except ValueError:
            body = None
        error = error_of(
            answer.status_code, body, "" if body is not None else answer.text, self.url
        )
        error.request_id = error.request_id or answer.headers.get("X-Request-ID", "")
        if isinstance(error, NotFound) and is_gone:
            answer.status_code = 204
            return answer  # an earlier attempt, whose answer was lost, deleted it
        raise error

    def _no_answer(self, error: Exception) -> MusterError:
        import httpx

        if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
            return Unavailable(
                f"Cannot connect to {self.url}: {error or type(error).__name__}. "
                "Check the URL and whether the portal is running."
            )
        raise error


def pause(attempt: int, retry_after: str | None = None) -> float:
    """Return seconds until the next attempt: Retry-After, else exponential backoff with jitter."""
    own = min(0.25 * 2**attempt, 8) * random.uniform(0.75, 1.25)
    if not retry_after:
        return own
    if retry_after.strip().isdigit():
        return float(retry_after) + random.uniform(0, 0.1)
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return own
    return max((at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0)


def _is_transient(error: Exception, is_repeatable: bool) -> bool:
    import httpx

    kinds = (
        httpx.TransportError
        if is_repeatable
        else (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
    )
    return isinstance(error, kinds) and not isinstance(error, httpx.UnsupportedProtocol)


def _sendable(token: str) -> str:
    if not token.isascii() or not token.isprintable() or " " in token:
        raise NotAuthenticated(
            "The token contains invalid characters. Copy it again; it starts with mst_."
        )
    return token
