"""Ask exporters and Prometheus, within the limits of `portal.core.outbound`."""

from __future__ import annotations

from typing import Any

import orjson
from requests import RequestException

from portal.core.messages import Message
from portal.core.outbound import OutboundPolicy, RequestRefused, Session, causes

SECONDS, LIMIT, CONNECTIONS = 10.0, 256 << 20, 8
EXPORTED = 16 << 20  # bytes of one exporter's answer: several are read at a time


UNREADABLE = Message("The answer is not that of a Prometheus.")


class SourceUnavailable(Exception):
    """A source did not answer as expected. `message` tells people why."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message


class Telemetry(Session):
    """A session for addresses that an operator named, like those of slurmrestd.

    Exporters are in private networks and mostly without TLS, so both are allowed; a token is only
    sent over TLS. Nothing is followed elsewhere, and no text of an answer is shown.
    """

    def __init__(self, token: str = "", seconds: float = SECONDS, limit: int = LIMIT) -> None:
        super().__init__(
            OutboundPolicy(
                is_private=True,
                is_plain=not token,
                seconds=seconds,
                limit=limit,
                connections=CONNECTIONS,
            )
        )
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def text(self, url: str) -> str:
        """Return the text at an address. Raises SourceUnavailable."""
        return self._asked("GET", url).decode("utf-8", "replace")

    def query(self, url: str, path: str, **form: Any) -> list[dict[str, Any]]:
        """Return the result of a query to Prometheus. Raises SourceUnavailable."""
        body = self._asked("POST", url.rstrip("/") + path, form)
        try:
            found = orjson.loads(body)["data"]["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise SourceUnavailable(UNREADABLE) from error
        if not isinstance(found, list):
            raise SourceUnavailable(UNREADABLE)
        return found

    def _asked(self, method: str, url: str, form: dict[str, Any] | None = None) -> bytes:
        try:
            answer = self.request(method, url, data=form)
        except RequestException as error:
            raise SourceUnavailable(_why(error)) from error
        if answer.status_code != 200:
            raise SourceUnavailable(Message("It answers {status}.", status=answer.status_code))
        return answer.content


def _why(error: RequestException) -> str:
    if isinstance(error, RequestRefused):
        return str(error)
    *_, first = causes(error)
    return getattr(first, "strerror", None) or type(first).__name__
