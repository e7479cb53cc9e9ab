"""HTTP to slurmrestd: a few connections that stay open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import orjson

from schedulers.contract import Rejected, Unavailable
from schedulers.http_connection import Link, Links
from schedulers.slurm.rest_body import Json

CONNECTIONS = 8
UNCHANGED: Json = {"unchanged": True}  # what was asked only if it is newer than a time, and is not


class Wire:
    """From any thread; who finds all connections in use waits for one. `url`: scheme, host and port, perhaps the beginning of all paths."""

    def __init__(self, url: str, timeout: float = 10):
        self.url, to = url, urlsplit(url)
        self._root, self._links = to.path, Links(lambda: Link(to, timeout), CONNECTIONS)

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Status and body. Raises Unavailable."""
        try:
            with self._links.one() as link:
                answer = link.send(method, self._root + path, body, headers)
                return answer.status, answer.data
        except TimeoutError as error:
            raise Unavailable(f"slurmrestd at {self.url} did not answer in time.") from error
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Unavailable(f"slurmrestd at {self.url} cannot be reached: {why}") from error


def dumped(body: Any) -> bytes:
    """A script may hold bytes that are no text, which only the slower of the two writes."""
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body).encode()


def read(status: int, data: bytes) -> Json:
    """The answer, of whichever status. Raises Rejected, Unavailable where it is none of slurmrestd's."""
    if status == HTTPStatus.NOT_MODIFIED:
        return UNCHANGED
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        found = None
    if isinstance(found, dict) and (status < 400 or found.get("errors")):
        return found
    if status == 404:
        raise Unavailable(
            "There is no slurmrestd behind that address: it does not know what was asked."
        )
    words = " ".join(data.decode(errors="replace").split())
    if status == 400:
        raise Rejected(f"slurmrestd refused the request: {words[:400]}")
    raise Unavailable(f"slurmrestd answered {status}: {words[:300]}")
