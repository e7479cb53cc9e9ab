"""HTTP to slurmrestd: a few connections that stay open. A submission is one small request, and urllib3 takes longer over it than Slurm does."""

from __future__ import annotations

import http.client
import json
import select
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import orjson

from jobs.backends.base import Rejected, Unavailable
from jobs.backends.slurm_parts.rest_body import Json

CONNECTIONS = 8
UNCHANGED: Json = {"unchanged": True}          # what was asked only if it is newer than a time, and is not


class Wire:
    """From any thread; who finds all connections in use waits for one. `url`: scheme, host and port, perhaps the beginning of all paths."""

    def __init__(self, url: str, timeout: float = 10):
        self.url, self._timeout = url, timeout
        self._idle: list[http.client.HTTPConnection] = []
        self._room = threading.BoundedSemaphore(CONNECTIONS)

    def send(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Status and body. Raises Unavailable."""
        try:
            with self._connection() as link:
                link.request(method, urlsplit(self.url).path + path, body, dict(headers))
                answer = link.getresponse()
                return answer.status, answer.read()
        except TimeoutError as error:
            raise Unavailable(f"slurmrestd at {self.url} did not answer in time.") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Unavailable(f"slurmrestd at {self.url} cannot be reached: {why}") from error

    @contextmanager
    def _connection(self) -> Iterator[http.client.HTTPConnection]:
        """One that is kept, if all goes well."""
        with self._room:
            link = self._kept() or self._made()
            try:
                yield link
            except BaseException:
                link.close()
                raise
            self._idle.append(link)

    def _kept(self) -> http.client.HTTPConnection | None:
        """One that the other end has not closed meanwhile: then there would be something to read."""
        while self._idle:
            link = self._idle.pop()
            if link.sock is not None and not _is_readable(link.sock.fileno()):
                return link
            link.close()
        return None

    def _made(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=self._timeout)


def _is_readable(file: int) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(0))


def dumped(body: Any) -> bytes:
    """A script may hold bytes that are no text, which only the slower of the two writes."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body).encode()


def read(status: int, data: bytes) -> Json:
    """The answer, of whichever status. Raises Rejected, Unavailable where it is none of slurmrestd's."""
    if status == http.client.NOT_MODIFIED:
        return UNCHANGED
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict) and (status < 400 or found.get("errors")):
        return found
    if status == 404:
        raise Unavailable("There is no slurmrestd behind that address: it does not know what was asked.")
    words = " ".join(data.decode(errors="replace").split())
    if status == 400:
        raise Rejected(f"slurmrestd refused the request: {words[:400]}")
    raise Unavailable(f"slurmrestd answered {status}: {words[:300]}")
