"""Send HTTP requests to slurmrestd over a few persistent connections."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import orjson
from requests import RequestException

from portal.core.messages import Message
from portal.core.outbound import (
    DeadlineExceeded,
    OutboundPolicy,
    RequestRefused,
    Session,
    causes,
)
from schedulers.contract import Rejected, Unavailable
from schedulers.slurm.rest_body import Json

CONNECTIONS = 8
LIMIT = 1 << 30  # bytes of a response: a listing has at least 3 KB per job
# result of a conditional request for something that has not changed
UNCHANGED: Json = {"unchanged": True}


class HttpClient:
    """A thread-safe pool of connections to slurmrestd.

    `url`: scheme, host and port, optionally with a path prefix. Callers wait for a free connection.
    """

    def __init__(self, url: str, timeout: float = 30):
        self.url = url
        self._session = Session(
            OutboundPolicy(
                is_private=True,
                is_plain=True,
                seconds=timeout,
                limit=LIMIT,
                connections=CONNECTIONS,
            )
        )

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """Return status and body. Raises Unavailable."""
        try:
            answer = self._session.request(
                method, self.url.rstrip("/") + path, data=body, headers=dict(headers)
            )
        except DeadlineExceeded as error:
            raise Unavailable(
                Message(
                    "slurmrestd at {url} did not answer in time. Check the address and the "
                    "firewall.",
                    url=self.url,
                ),
                "rest_url",
            ) from error
        except RequestException as error:
            raise Unavailable(
                Message(
                    "slurmrestd at {url} cannot be reached: {why}. Check the address and the port.",
                    url=self.url,
                    why=_why(error).rstrip("."),
                ),
                "rest_url",
            ) from error
        return answer.status_code, answer.content


def _why(error: RequestException) -> str:
    if isinstance(error, RequestRefused):
        return str(error)
    *_, first = causes(error)
    return getattr(first, "strerror", None) or str(first) or type(first).__name__


def dumped(body: Any) -> bytes:
    """Serialize to JSON.

    A script may contain bytes that are not UTF-8, which only the slower serializer accepts.
    """
    try:
        return orjson.dumps(body)
    except TypeError:
        return json.dumps(body).encode()


def read(status: int, data: bytes) -> Json:
    """Parse a response of any status.

    Raises Rejected or Unavailable if it did not come from slurmrestd.
    """
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
            Message(
                "There is no slurmrestd at this address: the path was not found. Check the port "
                "and the path."
            ),
            "rest_url",
        )
    words = " ".join(data.decode(errors="replace").split())
    if status == 400:
        raise Rejected(f"slurmrestd refused the request: {words[:400]}")
    raise Unavailable(f"slurmrestd answered {status}: {words[:300]}", "rest_url")
